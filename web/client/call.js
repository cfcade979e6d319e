// One call, from the press of the button until the microphone is released.

import { AudioGraph } from "./audio-graph.js";
import { CallMetrics } from "./call-metrics.js";
import { Capture } from "./capture.js";
import { VoiceError, explain, isNormal } from "./errors.js";
import { Playout } from "./playout.js";
import { hello } from "./protocol.js";
import { Reconnector } from "./reconnector.js";
import { SentLog } from "./sent-log.js";
import { ServerEvents } from "./server-events.js";
import { ToolCalls } from "./tool-calls.js";
import { connectWebSocket } from "./websocket-connection.js";

const READY_TIMEOUT_MS = 30_000; // the gateway connects to the model before it is ready
const BYE_TIMEOUT_MS = 2_000; // for the gateway to close after a bye

/**
 * @typedef {import("./index.js").Ready} Ready
 * @typedef {import("./index.js").VoiceEvents["end"]} End
 * @typedef {{reason: string, message?: string | undefined}} Ending why a call ends, with the
 *   gateway's message
 */

/** Owns the audio and the connection of one call, and emits its events. */
export class Call {
  /** Resolves with the gateway's ready; rejects with a VoiceError when the call ends before it. */
  ready;
  /** Resolves when everything is released. */
  over;

  #options;
  #stats;
  #emit;
  #audio;
  #capture;
  #playout;
  #toolCalls;
  #metrics;
  #events;
  /** @type {import("./index.js").Connection | null} */
  #connection = null;
  #connecting = new AbortController();
  #isReady = false;
  #sent = new SentLog();
  /** @type {string | undefined} */
  #token;
  /** @type {Reconnector | null} */
  #reconnector = null; // of a call that can go on over another connection
  #canResume;
  #hungUp = false;
  #ended = false;
  /** @type {Ending | null} */
  #ending = null; // as the bye says, ours or the gateway's
  /** @type {Set<ReturnType<typeof setTimeout>>} */
  #timers = new Set();
  /** @type {(end: End) => void} */
  #resolveOver = () => {};
  /** @type {((ready: Ready) => void) | null} */
  #resolveReady = null; // from hello on
  /** @type {(error: VoiceError) => void} */
  #rejectReady = () => {};

  /**
   * Starts at once.
   * @param {import("./index.js").VoiceOptions & {url: string}} options with an absolute url
   * @param {boolean} muted
   * @param {import("./call-stats.js").CallStats} stats which the call keeps up to date
   * @param {import("./voice-client.js").Emit} emit
   */
  constructor(options, muted, stats, emit) {
    this.#options = options;
    this.#stats = stats;
    this.#emit = emit;
    this.#canResume = !options.connect;
    const send = (/** @type {object} */ event) => this.#send(event);
    const audio = (this.#audio = new AudioGraph(options, muted, {
      block: (block) => this.#capture.onBlock(block),
      report: (report) => this.#playout.report(report),
      microphone: (detail) => this.#capture.onMicrophone(detail),
      microphoneLost: () => this.#onMicrophoneLost(),
      outputFailed: (error) => this.#onOutputFailed(error),
    }));
    const metrics = (this.#metrics = new CallMetrics(stats, emit));
    const toolCalls = (this.#toolCalls = new ToolCalls(options, send, emit));
    const onStalled = () => this.#onClosed("server_lost");
    const onOverrun = () => this.#close({ reason: "overrun" });
    this.#capture = new Capture({ audio, metrics, stats, muted, send, emit, onStalled });
    const playout = (this.#playout = new Playout({ audio, metrics, stats, send, emit, onOverrun }));
    const nowMs = () => audio.nowMs;
    this.#events = new ServerEvents({ playout, toolCalls, metrics, stats, emit, nowMs }, {
      ready: (ready) => this.#onReady(ready),
      fatal: (code, message) => (this.#ending ??= { reason: code, message }),
      bye: (reason, message) => this.#onBye(reason, message),
    });
    /** @type {Promise<End>} */
    this.over = new Promise((resolve) => (this.#resolveOver = resolve));
    /** @type {Promise<never>} */
    const ended = new Promise((_, reject) => (this.#rejectReady = reject));
    this.ready = Promise.race([this.#start(), ended]);
    this.ready.catch((error) => this.#fail(error));
  }

  /**
   * Sends bye, releases the microphone at once, and ends when the gateway has closed, or after two
   * seconds.
   */
  hangUp() {
    if (this.#ended || this.#hungUp) return;
    this.#hungUp = true;
    const ending = (this.#ending = { reason: "caller_hung_up" });
    this.#send({ type: "bye", reason: "caller_hung_up" });
    this.#toolCalls.stop();
    this.#audio.close();
    if (this.#connection?.open) this.#after(BYE_TIMEOUT_MS, () => this.#close(ending));
    else this.#close(ending);
  }

  /** @param {boolean} on */
  mute(on) {
    this.#capture.mute(on);
  }

  /**
   * Sends an event of the protocol; false when the call is not live.
   * @param {import("./protocol.js").CallerEvent} event
   */
  send(event) {
    if (!this.#isReady || this.#ended || this.#hungUp || !this.#connection?.open) return false;
    if (event.type === "text" || event.type === "dtmf") this.#metrics.typed();
    this.#send(event);
    return true;
  }

  /**
   * Changes the microphone. Rejects with a VoiceError and keeps the old one when the new one cannot
   * be opened.
   * @param {string | MediaStream} microphone the id of a device, or a stream of the page
   */
  async setMicrophone(microphone) {
    if (!(await this.#audio.setMicrophone(microphone))) return;
    await this.#connection?.setStream(this.#audio.stream);
    this.#capture.reportMute();
  }

  /**
   * Changes the loudspeaker. Rejects with a VoiceError and keeps the old one when it cannot.
   * @param {string} deviceId
   */
  setOutput(deviceId) {
    return this.#audio.setOutput(deviceId);
  }

  /** @param {number} volume 0 to 1 */
  setVolume(volume) {
    this.#audio.setVolume(volume);
  }

  // --- the start ---

  async #start() {
    try {
      if (!(await this.#audio.open())) throw new VoiceError("caller_hung_up");
      this.#stats.contextRate = this.#audio.rate;
      this.#token = await tokenOf(this.#options);
      this.#connection = await this.#connect(this.#connecting.signal);
      if (this.#ended) throw new VoiceError("caller_hung_up");
      return await this.#sayHello(this.#canResume ? {} : undefined);
    } catch (cause) {
      throw cause instanceof VoiceError ? cause : new VoiceError("audio_failed", undefined, { cause });
    }
  }

  /**
   * The only place that chooses a protocol.
   * @param {AbortSignal} signal
   * @param {{resume?: boolean}} [more]
   */
  async #connect(signal, more = {}) {
    const { connect = connectWebSocket, url } = this.#options;
    if (signal.aborted) throw new VoiceError("caller_hung_up");
    const connection = await connect(
      { url, token: this.#token, signal, stream: this.#audio.stream, ...more },
      {
        text: (text) => this.#ended || this.#events.receive(text),
        audio: (pcm) => this.#ended || this.#onAudio(pcm),
        closed: (reason) => this.#onClosed(reason),
      },
    );
    if (signal.aborted) connection.close();
    return connection;
  }

  /**
   * Resolves with the gateway's ready.
   * @param {import("./protocol.js").ResumeHello | undefined} resume
   * @returns {Promise<Ready>}
   */
  #sayHello(resume) {
    return new Promise((resolve, reject) => {
      const timer = this.#after(READY_TIMEOUT_MS, () => reject(new VoiceError("no_ready")));
      this.#resolveReady = (ready) => {
        clearTimeout(timer);
        this.#resolveReady = null;
        resolve(ready);
      };
      const rate = this.#connection?.rate ?? this.#audio.rate;
      this.#connection?.send(JSON.stringify(hello(rate, { ...this.#options, token: this.#token, resume })));
    });
  }

  /** @param {Ready} ready */
  #onReady(ready) {
    const connection = this.#connection;
    const resolve = this.#resolveReady;
    if (!resolve || !connection) return; // a second ready, or one before hello
    connection.accept(ready);
    resolve(ready);
    if (this.#isReady) {
      for (const event of this.#sent.after(ready.resume?.received ?? 0)) connection.send(event);
    } else {
      this.#isReady = true;
      Object.assign(this.#stats, { call: ready.call, inputRate: ready.input_rate, outputRate: ready.output_rate });
      if (connection.remote) this.#audio.startRemote(connection.remote);
      else this.#audio.startPCM(ready.input_rate, ready.output_rate);
      if (this.#canResume && ready.resume) this.#reconnector = this.#newReconnector(ready.resume);
    }
    this.#capture.start(connection);
    if (!this.#reconnector?.running) this.#emit("ready", ready);
  }

  // --- the call ---

  /** @param {ArrayBuffer} pcm */
  #onAudio(pcm) {
    if (this.#hungUp) return;
    if (this.#isReady && pcm.byteLength % 2 === 0) this.#playout.play(pcm);
    else this.#stats.badEvents++;
  }

  #onMicrophoneLost() {
    this.#capture.onMicrophoneLost();
    this.#emit("error", { code: "mic_lost", fatal: false, ...explain("mic_lost") });
  }

  /** @param {unknown} error */
  #onOutputFailed(error) {
    const code = error instanceof VoiceError ? error.code : "output_failed";
    this.#emit("error", { code, fatal: false, ...explain(code) });
  }

  /**
   * The connection closed by itself. The call is over, unless it can go on over another connection.
   * @param {string} reason
   */
  #onClosed(reason) {
    if (this.#ended) return;
    if (this.#ending || this.#hungUp || reason !== "server_lost" || !this.#reconnector) {
      return this.#close(this.#ending ?? { reason });
    }
    this.#capture.stop();
    this.#connection?.close();
    this.#connection = null;
    this.#reconnector.lost();
  }

  /** @param {{handle: string, within_ms: number}} resume */
  #newReconnector({ handle, within_ms }) {
    return new Reconnector(within_ms, {
      attempt: (signal) => this.#resume(handle, signal),
      began: () => this.#emit("reconnecting", { withinMs: within_ms }),
      succeeded: (awayMs) => this.#emit("reconnected", { awayMs }),
      failed: () => this.#close(this.#ending ?? { reason: "server_lost" }),
    });
  }

  /**
   * Goes on with the call over another connection. Rejects when that cannot be, for now.
   * @param {string} handle
   * @param {AbortSignal} signal
   */
  async #resume(handle, signal) {
    const connection = await this.#connect(signal, { resume: true });
    signal.addEventListener("abort", () => connection.close(), { once: true });
    const played = await this.#playout.drop();
    if (signal.aborted) return;
    this.#connection = connection;
    await this.#sayHello({ handle, ...played, received: this.#events.received });
  }

  /**
   * @param {string} reason
   * @param {string} [message]
   */
  #onBye(reason, message) {
    const ending = this.#hungUp && this.#ending ? this.#ending : { reason, message: message ?? this.#ending?.message };
    this.#ending = ending;
    this.#after(BYE_TIMEOUT_MS, () => this.#close(ending));
  }

  // --- the end ---

  /** @param {VoiceError} error */
  #fail({ code, message, advice }) {
    if (this.#ended) return;
    this.#emit("error", { code, message, advice, fatal: true });
    this.#close({ reason: code, message });
  }

  /**
   * Releases everything, once.
   * @param {Ending} ending
   */
  #close({ reason, message }) {
    if (this.#ended) return;
    this.#ended = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#connecting.abort();
    this.#reconnector?.stop();
    this.#toolCalls.stop();
    this.#audio.close();
    this.#capture.stop();
    this.#playout.stop();
    this.#connection?.close();
    this.#rejectReady(new VoiceError(reason, message));
    this.#resolveOver({ reason, ...explain(reason, message), normal: isNormal(reason) });
  }

  /** @param {object} event */
  #send(event) {
    const text = JSON.stringify(event);
    if (this.#canResume) this.#sent.add(text);
    if (this.#isReady && this.#resolveReady) return; // before the ready of another connection, which asks for it
    this.#connection?.send(text);
  }

  /**
   * @param {number} ms
   * @param {() => void} act
   */
  #after(ms, act) {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, ms);
    this.#timers.add(timer);
    return timer;
  }
}

/**
 * The token of a call: the option, or what the function that is the option returns, which is called
 * for each call.
 * @param {import("./index.js").VoiceOptions} options
 */
async function tokenOf({ token }) {
  try {
    return (typeof token === "function" ? await token() : token) || undefined;
  } catch (cause) {
    throw new VoiceError("no_token", undefined, { cause });
  }
}
