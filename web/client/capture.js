// The microphone's side of a call: it sends the blocks that the audio graph captures, and tells the
// gateway while there are none.

const BLOCK_MS = 20;
const MUTED_EVERY_MS = 20_000; // mute is repeated: the gateway ends a call that sends nothing for 60 s

/** Sends the microphone of one call. It sends nothing before start and after stop. */
export class Capture {
  #audio;
  #metrics;
  #stats;
  #send;
  #emit;
  #onStalled;
  #muted;
  #microphoneLost = false;
  /** @type {import("./index.js").Connection | null} */
  #connection = null; // from start to stop
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {object} parts
   * @param {import("./audio-graph.js").AudioGraph} parts.audio
   * @param {import("./call-metrics.js").CallMetrics} parts.metrics
   * @param {import("./call-stats.js").CallStats} parts.stats
   * @param {boolean} parts.muted
   * @param {(event: {type: "mute", on: boolean}) => void} parts.send
   * @param {import("./voice-client.js").Emit} parts.emit
   * @param {() => void} parts.onStalled the connection takes no audio any more
   */
  constructor({ audio, metrics, stats, muted, send, emit, onStalled }) {
    this.#audio = audio;
    this.#metrics = metrics;
    this.#stats = stats;
    this.#muted = muted;
    this.#send = send;
    this.#emit = emit;
    this.#onStalled = onStalled;
  }

  /**
   * The call is ready: blocks go out over this connection.
   * @param {import("./index.js").Connection} connection
   */
  start(connection) {
    this.#connection = connection;
    if (this.#muted) this.reportMute();
  }

  stop() {
    this.#connection = null;
    clearTimeout(this.#timer);
  }

  /** @param {boolean} on */
  mute(on) {
    this.#muted = on;
    if (on) this.#metrics.forget();
    this.#audio.mute(on);
    this.reportMute();
    if (on) this.#emit("level", { who: "caller", rms: 0, atMs: this.#audio.nowMs });
  }

  /** Tells the gateway whether the microphone sends anything, and repeats it while it does not. */
  reportMute() {
    clearTimeout(this.#timer);
    if (!this.#connection) return;
    const on = this.#muted || this.#microphoneLost;
    this.#send({ type: "mute", on });
    if (on) this.#timer = setTimeout(() => this.reportMute(), MUTED_EVERY_MS);
  }

  /** @param {{label: string, deviceId: string}} detail */
  onMicrophone(detail) {
    this.#microphoneLost = false;
    this.#emit("microphone", detail);
  }

  onMicrophoneLost() {
    this.#microphoneLost = true;
    this.reportMute();
  }

  /** @param {Parameters<import("./audio-graph.js").AudioHandlers["block"]>[0]} block */
  onBlock({ pcm, rms, at, wallMs }) {
    if (this.#muted || !this.#connection?.open) return;
    const atMs = this.#audio.ms(at);
    this.#metrics.callerBlock(atMs, rms, BLOCK_MS);
    this.#emit("level", { who: "caller", rms, atMs });
    if (!pcm) return; // the microphone goes out as a stream
    const { sent, dropped, stalled } = this.#connection.sendAudio(pcm, wallMs, Date.now());
    this.#stats.framesSent = sent;
    this.#stats.micDropped = dropped;
    if (stalled) this.#onStalled();
  }
}
