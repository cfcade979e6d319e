// The playout of a call: it passes the audio of the gateway to the audio graph, and the reports of
// the graph to the gateway, the metrics and the page.

const FRAME_MS = 20;
const DROP_TIMEOUT_MS = 500; // a suspended audio context does not answer

/** @typedef {import("./playout-worklet.js").PlayoutReport} PlayoutReport */

/** Plays the replies of one call and acknowledges what was played. */
export class Playout {
  #audio;
  #metrics;
  #stats;
  #send;
  #emit;
  #onOverrun;
  #generation = 0; // of the audio that arrives now
  #playing = false;
  /** @type {((playedMs: number) => void) | null} */
  #dropped = null; // waits for the queue to be dropped

  /**
   * @param {object} parts
   * @param {import("./audio-graph.js").AudioGraph} parts.audio
   * @param {import("./call-metrics.js").CallMetrics} parts.metrics
   * @param {import("./call-stats.js").CallStats} parts.stats
   * @param {(event: {type: "ack", generation: number, played_ms: number, mark?: string, cleared?:
   *   true}) => void} parts.send
   * @param {import("./voice-client.js").Emit} parts.emit
   * @param {() => void} parts.onOverrun the gateway sent far more audio than the queue holds
   */
  constructor({ audio, metrics, stats, send, emit, onOverrun }) {
    this.#audio = audio;
    this.#metrics = metrics;
    this.#stats = stats;
    this.#send = send;
    this.#emit = emit;
    this.#onOverrun = onOverrun;
  }

  /**
   * Audio that arrives from now on is of this generation.
   * @param {number} generation
   */
  expect(generation) {
    this.#generation = generation;
    this.#audio.expect(generation);
  }

  /** @param {ArrayBuffer} pcm */
  play(pcm) {
    this.#stats.framesReceived++;
    this.#audio.play({ audio: pcm, generation: this.#generation }, [pcm]);
  }

  /**
   * @param {string} id
   * @param {number} generation
   */
  mark(id, generation) {
    this.#audio.play({ mark: id, generation });
  }

  /** @param {number} generation */
  clear(generation) {
    this.#audio.clear(generation);
  }

  /**
   * Drops what was not played, because the connection broke. Resolves with what was played of the
   * last reply, in whole frames.
   * @returns {Promise<{generation: number, played_ms: number}>}
   */
  async drop() {
    const generation = this.#generation;
    if (generation === 0) return { generation, played_ms: 0 };
    /** @type {Promise<number>} */
    const played = new Promise((resolve) => {
      this.#dropped = resolve;
      setTimeout(() => resolve(this.#stats.playedMs - (this.#stats.playedMs % FRAME_MS)), DROP_TIMEOUT_MS);
    });
    this.#audio.clear(generation);
    return { generation, played_ms: await played };
  }

  /** The call is over: nothing plays any more. */
  stop() {
    this.#setPlaying(false, this.#generation);
  }

  /** @param {PlayoutReport} report */
  report(report) {
    switch (report.kind) {
      case "ack":
        return this.#onAck(report);
      case "start":
        return this.#onStart(report);
      case "audible":
        return this.#metrics.replyAudible(report.generation, this.#audio.ms(report.at));
      case "stop":
        return this.#onStop(report);
      case "level":
        return this.#onLevel(report);
      case "tap":
        return this.#emit("tap", { pcm: report.pcm, at: report.at, rate: this.#audio.rate });
      case "overrun":
        return this.#onOverrun();
    }
  }

  /** @param {import("./playout-queue.js").AckReport} report */
  #onAck({ generation, played_ms, mark, cleared }) {
    this.#send({ type: "ack", generation, played_ms, ...(mark !== undefined && { mark }), ...(cleared && { cleared }) });
    if (cleared && generation === this.#generation) this.#dropped?.(played_ms);
    this.#stats.acks++;
    this.#stats.playedMs = played_ms;
    this.#emit("ack", { generation, playedMs: played_ms, mark: mark ?? null, cleared: Boolean(cleared) });
  }

  /** @param {import("./playout-queue.js").StartReport} report */
  #onStart({ generation, at }) {
    this.#metrics.replyStarted(generation, this.#audio.ms(at));
    this.#setPlaying(true, generation);
  }

  /** @param {import("./playout-worklet.js").StopReport} report */
  #onStop({ generation, cause, lastAudible, dropped, underruns }) {
    this.#stats.underruns = underruns;
    if (cause === "clear") {
      this.#stats.clears++;
      this.#stats.framesCleared += Math.ceil(this.#audio.ms(dropped) / FRAME_MS);
      this.#metrics.replyCleared(generation, this.#audio.ms(lastAudible));
    }
    this.#setPlaying(false, generation);
  }

  /** @param {import("./playout-queue.js").LevelReport} report */
  #onLevel({ rms, at }) {
    const atMs = this.#audio.ms(at);
    this.#metrics.modelLevel(atMs, rms);
    this.#emit("level", { who: "model", rms, atMs });
  }

  /**
   * @param {boolean} playing
   * @param {number} generation
   */
  #setPlaying(playing, generation) {
    if (this.#playing === playing) return;
    this.#playing = playing;
    this.#emit("playout", { playing, generation });
  }
}
