// Resampling of a stream of 16-bit PCM: a polyphase FIR filter with a rational ratio. Pure: no
// clock, no audio API.

const TAPS = 24; // per phase; more when decimating, so that the transition band keeps its width
const BETA = 7; // of the Kaiser window: images and aliases below -70 dB

/**
 * Converts a stream from one rate to another, in chunks of any size. 20 ms in give exactly 20 ms
 * out.
 */
export class Resampler {
  #up;
  #down;
  #taps;
  /** @type {Float32Array | null} */
  #bank; // the filter phase by phase, each reversed: an output is one dot product. null for equal rates
  #past; // the last taps-1 samples of the stream
  #phase = 0;

  /**
   * @param {number} inRate Hz
   * @param {number} outRate Hz
   */
  constructor(inRate, outRate) {
    const common = gcd(inRate, outRate);
    this.#up = outRate / common;
    this.#down = inRate / common;
    this.#taps = Math.ceil(TAPS * Math.max(1, this.#down / this.#up));
    this.#bank = this.#up === this.#down ? null : makeBank(this.#up, this.#down, this.#taps);
    this.#past = new Float32Array(this.#taps - 1);
  }

  /** Forgets the stream so far: the next chunk starts a new one. */
  reset() {
    this.#past.fill(0);
    this.#phase = 0;
  }

  /**
   * The next samples of the stream at the new rate. Equal rates return pcm itself.
   * @param {Int16Array} pcm
   * @returns {Int16Array}
   */
  process(pcm) {
    const bank = this.#bank;
    if (!bank) return pcm;
    const kept = this.#past.length;
    const source = new Float32Array(kept + pcm.length);
    source.set(this.#past);
    source.set(pcm, kept);
    const span = pcm.length * this.#up - this.#phase;
    const out = new Int16Array(Math.max(0, Math.ceil(span / this.#down)));
    let at = this.#phase; // in units of one input sample / up
    for (let i = 0; i < out.length; i++, at += this.#down) {
      out[i] = this.#sample(bank, source, Math.floor(at / this.#up), at % this.#up);
    }
    this.#phase = at - pcm.length * this.#up;
    this.#past.set(source.subarray(source.length - kept));
    return out;
  }

  /**
   * One sample of the output, clipped to 16 bits.
   * @param {Float32Array} bank
   * @param {Float32Array} source
   * @param {number} base the index of the first sample of source under the filter
   * @param {number} phase
   */
  #sample(bank, source, base, phase) {
    const taps = this.#taps;
    let sum = 0;
    for (let i = 0, k = phase * taps; i < taps; i++, k++) sum += source[base + i] * bank[k];
    return sum > 32767 ? 32767 : sum < -32768 ? -32768 : Math.round(sum);
  }
}

/**
 * The filter: a low-pass sinc under a Kaiser window.
 * @param {number} up
 * @param {number} down
 * @param {number} taps
 */
function makeBank(up, down, taps) {
  const length = taps * up;
  const cutoff = (0.92 * 0.5) / Math.max(up, down);
  const bank = new Float32Array(length);
  for (let i = 0; i < length; i++) {
    const x = i - (length - 1) / 2;
    const value = up * 2 * cutoff * sinc(2 * cutoff * x) * kaiser((2 * x) / (length - 1));
    const phase = i % up;
    bank[phase * taps + (taps - 1 - Math.floor(i / up))] = value;
  }
  return bank;
}

/** @param {number} x */
function sinc(x) {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

/** @param {number} x -1..1 */
function kaiser(x) {
  return bessel(BETA * Math.sqrt(Math.max(0, 1 - x * x))) / bessel(BETA);
}

/**
 * The modified Bessel function of the first kind, order 0, by its power series.
 * @param {number} x
 */
function bessel(x) {
  let sum = 1;
  for (let k = 1, term = 1; k < 40; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

/**
 * @param {number} a
 * @param {number} b
 * @returns {number}
 */
function gcd(a, b) {
  return b === 0 ? a : gcd(b, a % b);
}
