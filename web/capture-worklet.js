// The microphone's AudioWorklet: blocks of 16-bit mono PCM at the agreed rate, from the context's own rate. A reply
// that comes as a stream is tapped with it too.

import { Resampler } from "./resample.js";

const BLOCK_MS = 20;

/**
 * Posts {pcm: ArrayBuffer, rms: number, at: number, wallMs: number} for every 20 ms, or the option blockMs: `at` is
 * when the block ended, in samples of the context, wallMs the same in milliseconds of Date.now. Ends at the message
 * "close".
 */
class Capture extends AudioWorkletProcessor {
  #resampler;
  #block;
  #filled = 0;
  #closed = false;

  constructor({ processorOptions: { rate, blockMs = BLOCK_MS } }) {
    super();
    this.#resampler = new Resampler(sampleRate, rate);
    this.#block = new Int16Array(Math.round((sampleRate * blockMs) / 1000));
    this.port.onmessage = () => {
      this.#closed = true;
    };
  }

  process([channels]) {
    const length = channels.length === 0 ? 0 : channels[0].length;
    for (let i = 0; i < length; i++) {
      this.#block[this.#filled++] = toInt16(mix(channels, i));
      if (this.#filled === this.#block.length) this.#post(currentFrame + i + 1);
    }
    return !this.#closed;
  }

  #post(at) {
    this.#filled = 0;
    const resampled = this.#resampler.process(this.#block);
    const pcm = resampled === this.#block ? this.#block.slice() : resampled;
    this.port.postMessage({ pcm: pcm.buffer, rms: rootMeanSquare(pcm), at, wallMs: Date.now() }, [pcm.buffer]);
  }
}

function mix(channels, i) {
  let sum = 0;
  for (const channel of channels) sum += channel[i];
  return sum / channels.length;
}

function toInt16(v) {
  return Math.max(-32768, Math.min(32767, Math.round(v * 32768)));
}

function rootMeanSquare(pcm) {
  let sum = 0;
  for (const v of pcm) sum += v * v;
  return Math.sqrt(sum / pcm.length) / 32768;
}

registerProcessor("voicegw-capture", Capture);
