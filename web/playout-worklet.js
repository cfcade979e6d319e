// The loudspeaker's AudioWorklet: the playout queue of playout.js on the audio thread.

import { Playout } from "./playout.js";
import { Resampler } from "./resample.js";

const TAP_MS = 100; // of output in one tap message

/**
 * Takes {audio: ArrayBuffer, generation}, {mark, generation}, {clear: generation} and "close"; posts lists of what
 * Playout reports, with times in samples of the context, of {kind: "overrun"} when the queue refused audio, and with the
 * option `tap` of {kind: "tap", pcm: Int16Array, at}, everything that was played.
 */
class PlayoutProcessor extends AudioWorkletProcessor {
  #playout = new Playout(sampleRate);
  #resampler;
  #offset = null; // the context's time of the first pull
  #tap;
  #tapped = 0;
  #closed = false;

  constructor({ processorOptions: { rate, tap } }) {
    super();
    this.#resampler = new Resampler(rate, sampleRate);
    this.#tap = tap ? new Int16Array(Math.round((sampleRate * TAP_MS) / 1000)) : null;
    this.port.onmessage = ({ data }) => this.#take(data);
  }

  process(_, [[out]]) {
    this.#offset ??= currentFrame;
    this.#playout.pull(out);
    this.#post();
    if (this.#tap) this.#record(out);
    return !this.#closed;
  }

  #take(message) {
    if (message === "close") this.#closed = true;
    else if (message.audio) this.#push(message);
    else if (message.mark !== undefined) this.#playout.mark(message.generation, message.mark);
    else this.#clear(message.clear);
    this.#post();
  }

  // The platform of every browser is little-endian, as the wire is.
  #push({ audio, generation }) {
    const pcm = this.#resampler.process(new Int16Array(audio));
    if (!this.#playout.push(generation, pcm)) this.port.postMessage([{ kind: "overrun" }]);
  }

  #clear(generation) {
    this.#resampler.reset();
    this.#playout.clear(generation);
  }

  #post() {
    const reports = this.#playout.takeReports();
    if (reports.length === 0) return;
    for (const report of reports) {
      if (report.at !== undefined) report.at += this.#offset ?? currentFrame;
      if (report.lastAudible !== undefined) report.lastAudible += this.#offset ?? currentFrame;
      if (report.kind === "stop") report.underruns = this.#playout.underruns;
    }
    this.port.postMessage(reports);
  }

  #record(out) {
    for (let i = 0; i < out.length; i++) {
      this.#tap[this.#tapped++] = Math.max(-32768, Math.min(32767, Math.round(out[i] * 32768)));
      if (this.#tapped < this.#tap.length) continue;
      this.#tapped = 0;
      this.port.postMessage([{ kind: "tap", pcm: this.#tap.slice(), at: currentFrame + i + 1 }]);
    }
  }
}

registerProcessor("voicegw-playout", PlayoutProcessor);
