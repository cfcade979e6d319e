// The two latencies that a caller feels. Pure: every time is in milliseconds on the clock of the
// audio context.

const LOUD_RMS_MIN = 0.004; // -48 dBFS: never louder than that in a quiet room
const LOUD_OVER_FLOOR = 4; // 12 dB above the noise of the room
const FLOOR_RISE = 1.005; // per block: the floor follows a rising noise within seconds, and speech hardly lifts it
const RUN_GAP_MS = 400; // a pause that does not end a run of speech
const SILENCE_MIN_MS = 200; // from the end of speech to the quickest reply

/**
 * Measures, from the loudness of microphone blocks and the reports of the playout queue,
 * - first audio: from the caller's last loud block to the first audible sample of the reply;
 * - barge-in: from the first loud block spoken over a reply to the last audible sample of that
 *   reply.
 * A reply to typed text has no first audio, and neither has one that was delayed by a hold. A muted
 * caller has no barge-in.
 */
export class LatencyMeter {
  #floor = 1;
  /** @type {number | null} */
  #runStart = null; // of loud blocks
  /** @type {number | null} */
  #lastLoud = null;
  /** @type {number | null} */
  #speechEnd = null; // of a caller's turn that waits for its reply
  #speaking = false;
  #typed = false; // the next reply answers typed text
  /** @type {number | null} */
  #heard = null; // the generation that was audible last
  /** @type {number | null} */
  #replyStart = null; // of the reply that plays
  /** @type {{generation: number, ms: number} | null} */
  #cut = null; // a reply that was stopped and has neither resumed nor ended
  /** @type {number | null} */
  #interrupted = null; // the generation of a reply that ended before its sound did

  /**
   * A microphone block that ended at endMs.
   * @param {number} endMs
   * @param {number} rms
   * @param {number} blockMs
   */
  block(endMs, rms, blockMs) {
    this.#floor = Math.max(1e-5, Math.min(rms, this.#floor * FLOOR_RISE));
    if (rms < Math.max(LOUD_RMS_MIN, this.#floor * LOUD_OVER_FLOOR)) return;
    if (this.#lastLoud === null || endMs - this.#lastLoud > RUN_GAP_MS) this.#runStart = endMs - blockMs;
    this.#lastLoud = endMs;
  }

  /**
   * The gateway heard the caller start or stop to speak.
   * @param {"start" | "stop"} state
   */
  speech(state) {
    this.#speechEnd = state === "stop" && this.#speaking ? this.#lastLoud : null;
    this.#speaking = state === "start";
  }

  /** The caller typed text or pressed keys: the next reply answers that. */
  typed() {
    this.#typed = true;
    this.forget();
  }

  /** The caller was muted, or the call was put on hold: what was said before is not measured. */
  forget() {
    this.#speaking = false;
    this.#speechEnd = null;
  }

  /**
   * A reply became audible, for the first time or again. Returns the milliseconds since the
   * caller's last loud block; null when the caller said nothing before it.
   * @param {number} generation
   * @param {number} atMs
   */
  audible(generation, atMs) {
    if (generation === this.#heard) return null;
    this.#heard = generation;
    this.#replyStart = atMs;
    const end = this.#answered(atMs);
    this.#speechEnd = null;
    this.#typed = false;
    return end === null || atMs < end ? null : atMs - end;
  }

  /**
   * When the speech ended that a reply at atMs answers, or null. The gateway may send a reply
   * before it sends that speech has stopped; a caller who is still loud has not ended.
   * @param {number} atMs
   */
  #answered(atMs) {
    if (this.#typed) return null;
    if (!this.#speaking) return this.#speechEnd;
    return this.#lastLoud !== null && atMs - this.#lastLoud >= SILENCE_MIN_MS ? this.#lastLoud : null;
  }

  /**
   * A generation began to play. If it was cut before, it has resumed.
   * @param {number} generation
   */
  started(generation) {
    if (this.#cut?.generation === generation) this.#cut = null;
  }

  /**
   * The queue was cleared while generation played; its last audible sample was at lastAudibleMs.
   * Returns the barge-in latency if that reply is known to have been interrupted, else null.
   * @param {number} generation
   * @param {number} lastAudibleMs
   */
  cleared(generation, lastAudibleMs) {
    if (!this.#speaking || this.#replyStart === null || this.#runStart === null) return null;
    if (this.#lastLoud === null || this.#lastLoud < this.#replyStart) return null;
    const from = Math.max(this.#runStart, this.#replyStart);
    this.#cut = { generation, ms: Math.max(0, lastAudibleMs - from) };
    return this.#interrupted === generation ? this.ended(generation, "interrupted") : null;
  }

  /**
   * The reply ended. Returns the barge-in latency if the caller interrupted it and its sound has
   * ended, else null.
   * @param {number} generation
   * @param {string | null} [reason]
   */
  ended(generation, reason) {
    const cut = this.#cut;
    this.#cut = null;
    this.#interrupted = null;
    const interrupted = reason === "interrupted";
    if (interrupted && cut?.generation !== generation) {
      this.#interrupted = generation;
      return null;
    }
    this.#replyStart = null;
    return interrupted && cut ? cut.ms : null;
  }
}
