// The AudioWorklet of the loudspeaker: it runs the playout queue on the audio thread.

import { PlayoutQueue } from "./playout-queue.js";
import { Resampler } from "./resampler.js";

const TAP_MS = 100; // of output in one tap message

/**
 * What the processor takes: 16-bit PCM of a generation, a mark, a clear of a generation, or its
 * end.
 * @typedef {{audio: ArrayBuffer, generation: number} | {mark: string, generation: number} | {clear:
 *   number} | "close"} PlayoutMessage
 */

/**
 * What the processor posts, in lists: the reports of the queue with times in samples of the
 * context; the overrun of a queue that refused audio; with the option `tap` all that was played.
 * @typedef {import("./playout-queue.js").AckReport | import("./playout-queue.js").StartReport |
 *   import("./playout-queue.js").LevelReport} QueueReport
 * @typedef {import("./playout-queue.js").StopReport & {underruns: number}} StopReport
 * @typedef {{kind: "tap", pcm: Int16Array, at: number}} TapReport
 * @typedef {QueueReport | StopReport | TapReport | {kind: "overrun"}} PlayoutReport
 */

/** Takes PlayoutMessages and posts lists of PlayoutReports. */
class PlayoutProcessor extends AudioWorkletProcessor {
  #queue = new PlayoutQueue(sampleRate);
  #resampler;
  /** @type {number | null} */
  #offset = null; // the context's time of the first pull
  /** @type {Int16Array | null} */
  #tap;
  #tapped = 0;
  #closed = false;

  /** @param {{processorOptions: {rate: number, tap: boolean}}} options */
  constructor({ processorOptions: { rate, tap } }) {
    super();
    this.#resampler = new Resampler(rate, sampleRate);
    this.#tap = tap ? new Int16Array(Math.round((sampleRate * TAP_MS) / 1000)) : null;
    this.port.onmessage = ({ data }) => this.#take(data);
  }

  /**
   * @param {Float32Array[][]} _
   * @param {Float32Array[][]} outputs
   */
  process(_, [[out]]) {
    this.#offset ??= currentFrame;
    this.#queue.pull(out);
    this.#post();
    if (this.#tap) this.#record(this.#tap, out);
    return !this.#closed;
  }

  /** @param {PlayoutMessage} message */
  #take(message) {
    if (message === "close") this.#closed = true;
    else if ("audio" in message) this.#push(message.audio, message.generation);
    else if ("mark" in message) this.#queue.mark(message.generation, message.mark);
    else this.#clear(message.clear);
    this.#post();
  }

  /**
   * Every browser runs on a little-endian platform, and the wire is little-endian too.
   * @param {ArrayBuffer} audio
   * @param {number} generation
   */
  #push(audio, generation) {
    const pcm = this.#resampler.process(new Int16Array(audio));
    if (!this.#queue.push(generation, pcm)) this.port.postMessage([{ kind: "overrun" }]);
  }

  /** @param {number} generation */
  #clear(generation) {
    this.#resampler.reset();
    this.#queue.clear(generation);
  }

  #post() {
    const reports = this.#queue.takeReports();
    if (reports.length > 0) this.port.postMessage(reports.map((report) => this.#onContextClock(report)));
  }

  /**
   * @param {import("./playout-queue.js").Report} report
   * @returns {QueueReport | StopReport}
   */
  #onContextClock(report) {
    const offset = this.#offset ?? currentFrame;
    if (report.kind === "ack") return report;
    const at = report.at + offset;
    if (report.kind !== "stop") return { ...report, at };
    return { ...report, at, lastAudible: report.lastAudible + offset, underruns: this.#queue.underruns };
  }

  /**
   * @param {Int16Array} tap
   * @param {Float32Array} out
   */
  #record(tap, out) {
    for (let i = 0; i < out.length; i++) {
      tap[this.#tapped++] = Math.max(-32768, Math.min(32767, Math.round(out[i] * 32768)));
      if (this.#tapped < tap.length) continue;
      this.#tapped = 0;
      this.port.postMessage([{ kind: "tap", pcm: tap.slice(), at: currentFrame + i + 1 }]);
    }
  }
}

registerProcessor("voicegw-playout", PlayoutProcessor);
