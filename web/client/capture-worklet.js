// The AudioWorklet of the microphone: it cuts the sound into blocks of 16-bit mono PCM at the
// agreed rate. The tap of a reply that comes as a stream uses it too.

import { Resampler } from "./resampler.js";

const BLOCK_MS = 20;

/**
 * One block: 16-bit PCM and its RMS 0..1. `at` is when it ended, in samples of the context;
 * `wallMs` is the same time in milliseconds of Date.now.
 * @typedef {{pcm: ArrayBuffer, rms: number, at: number, wallMs: number}} CaptureBlock
 */

/** Posts a CaptureBlock every 20 ms, or every `blockMs`. The message "close" ends it. */
class CaptureProcessor extends AudioWorkletProcessor {
  #resampler;
  #block;
  #filled = 0;
  #closed = false;

  /** @param {{processorOptions: {rate: number, blockMs?: number}}} options */
  constructor({ processorOptions: { rate, blockMs = BLOCK_MS } }) {
    super();
    this.#resampler = new Resampler(sampleRate, rate);
    this.#block = new Int16Array(Math.round((sampleRate * blockMs) / 1000));
    this.port.onmessage = () => {
      this.#closed = true;
    };
  }

  /** @param {Float32Array[][]} inputs */
  process([channels]) {
    const length = channels.length === 0 ? 0 : channels[0].length;
    for (let i = 0; i < length; i++) {
      this.#block[this.#filled++] = toInt16(mix(channels, i));
      if (this.#filled === this.#block.length) this.#post(currentFrame + i + 1);
    }
    return !this.#closed;
  }

  /** @param {number} at */
  #post(at) {
    this.#filled = 0;
    const resampled = this.#resampler.process(this.#block);
    const pcm = resampled === this.#block ? this.#block.slice() : resampled;
    this.port.postMessage({ pcm: pcm.buffer, rms: rootMeanSquare(pcm), at, wallMs: Date.now() }, [pcm.buffer]);
  }
}

/**
 * @param {Float32Array[]} channels
 * @param {number} i
 */
function mix(channels, i) {
  let sum = 0;
  for (const channel of channels) sum += channel[i];
  return sum / channels.length;
}

/** @param {number} v */
function toInt16(v) {
  return Math.max(-32768, Math.min(32767, Math.round(v * 32768)));
}

/** @param {Int16Array} pcm */
function rootMeanSquare(pcm) {
  let sum = 0;
  for (const v of pcm) sum += v * v;
  return Math.sqrt(sum / pcm.length) / 32768;
}

registerProcessor("voicegw-capture", CaptureProcessor);
