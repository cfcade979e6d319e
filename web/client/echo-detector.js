// Whether the microphone hears the loudspeaker. Pure: levels are parameters, and so are times, in
// milliseconds on one clock.

const SLOT_MS = 20;
const WINDOW = 100; // slots compared: 2 s
const LAG_MAX = 25; // slots: half a second from loudspeaker to microphone, as over Bluetooth
const HISTORY = WINDOW + LAG_MAX;
const EVERY = 25; // slots between two comparisons
const FLOOR_DB = -60;
const AUDIBLE_DB = -50; // a microphone that never reaches it hears nothing
const PLAYING_MIN = 0.5; // of the window, with sound in it
const SWING_DB = 3; // a flatter envelope correlates with anything
const FOLLOWS = 0.8; // correlation of the two envelopes
const EARLY_MS = 1_500; // an interruption this soon after a reply began is suspicious
const EARLY_COUNT = 2; // in a row

/**
 * Watches both levels and the interruptions of one call. Its methods return true when the
 * microphone hears the loudspeaker.
 */
export class EchoDetector {
  #caller = new Float32Array(HISTORY).fill(FLOOR_DB);
  #model = new Float32Array(HISTORY).fill(FLOOR_DB);
  #slot = -1; // the newest slot written
  #checked = 0;
  #early = 0;
  /** @type {number | null} */
  #replyStart = null;

  /**
   * The level 0..1 of the 20 ms of loudspeaker sound that ended at atMs.
   * @param {number} atMs
   * @param {number} rms
   */
  model(atMs, rms) {
    this.#write(this.#model, atMs, rms);
    return false;
  }

  /**
   * The level 0..1 of the 20 ms of microphone sound that ended at atMs.
   * @param {number} atMs
   * @param {number} rms
   */
  caller(atMs, rms) {
    this.#write(this.#caller, atMs, rms);
    if (this.#slot - this.#checked < EVERY) return false;
    this.#checked = this.#slot;
    return this.#follows();
  }

  /**
   * A reply began to play.
   * @param {number} atMs
   */
  replyStarted(atMs) {
    this.#replyStart = atMs;
  }

  /**
   * A reply ended.
   * @param {number} atMs
   * @param {boolean} interrupted by the caller
   */
  replyEnded(atMs, interrupted) {
    const early = interrupted && this.#replyStart !== null && atMs - this.#replyStart < EARLY_MS;
    this.#replyStart = null;
    this.#early = early ? this.#early + 1 : 0;
    return this.#early >= EARLY_COUNT;
  }

  /**
   * @param {Float32Array} ring
   * @param {number} atMs
   * @param {number} rms
   */
  #write(ring, atMs, rms) {
    const slot = Math.floor(atMs / SLOT_MS);
    if (slot <= this.#slot - HISTORY) return;
    for (; this.#slot < slot; this.#slot++) {
      const next = (this.#slot + 1) % HISTORY;
      this.#caller[next] = this.#model[next] = FLOOR_DB;
    }
    ring[slot % HISTORY] = Math.max(FLOOR_DB, 20 * Math.log10(rms + 1e-9));
  }

  // Whether the microphone's level follows the loudspeaker's, at some lag.
  #follows() {
    if (this.#slot < HISTORY) return false;
    const heard = this.#tail(this.#caller, 0);
    if (Math.max(...heard) < AUDIBLE_DB) return false;
    for (let lag = 1; lag <= LAG_MAX; lag++) {
      const said = this.#tail(this.#model, lag);
      if (said.filter((db) => db > FLOOR_DB).length < WINDOW * PLAYING_MIN) continue;
      if (correlation(heard, said) > FOLLOWS) return true;
    }
    return false;
  }

  /**
   * The last slots of a ring, lag slots ago.
   * @param {Float32Array} ring
   * @param {number} lag
   */
  #tail(ring, lag) {
    const first = this.#slot - lag - WINDOW + 1;
    return Array.from({ length: WINDOW }, (_, i) => ring[(first + i) % HISTORY]);
  }
}

/**
 * The correlation of two envelopes in dB; 0 when one of them is flat.
 * @param {number[]} a
 * @param {number[]} b
 */
function correlation(a, b) {
  const meanA = mean(a);
  const meanB = mean(b);
  let ab = 0;
  let aa = 0;
  let bb = 0;
  for (let i = 0; i < a.length; i++) {
    ab += (a[i] - meanA) * (b[i] - meanB);
    aa += (a[i] - meanA) ** 2;
    bb += (b[i] - meanB) ** 2;
  }
  const flat = Math.min(aa, bb) < a.length * SWING_DB ** 2;
  return flat ? 0 : ab / Math.sqrt(aa * bb);
}

/** @param {number[]} list */
function mean(list) {
  return list.reduce((sum, v) => sum + v, 0) / list.length;
}
