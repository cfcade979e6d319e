// The two waits a caller feels. Pure: every time is in milliseconds on the one clock of the audio context.

const LOUD_RMS_MIN = 0.004; // -48 dBFS: never louder than that in a quiet room
const LOUD_OVER_FLOOR = 4; // 12 dB above the noise of the room
const FLOOR_RISE = 1.005; // per block: the floor follows a rising noise within seconds, and speech hardly lifts it
const RUN_GAP_MS = 400; // a pause that does not end a run of speech
const SILENCE_MIN_MS = 200; // from the end of words to the quickest answer

/**
 * Measures, from the loudness of microphone blocks and the reports of the playout queue,
 * - first audio: from the caller's last loud block to the first audible sample of the reply;
 * - barge-in: from the first loud block spoken over a reply to the last audible sample of that reply.
 * A reply to typed words has no first audio, nor has one that a hold put off. A muted caller has no barge-in.
 */
export class Latency {
  #floor = 1;
  #runStart = null;
  #lastLoud = null;
  #speechEnd = null; // of a caller's turn that waits for its reply
  #speaking = false;
  #typed = false; // the next reply answers typed words
  #heard = null; // the generation that was audible last
  #replyStart = null; // of the reply being played
  #cut = null; // {generation, ms} of a reply stopped and neither resumed nor ended
  #interrupted = null; // the generation of a reply that has ended before its sound

  /** A microphone block that ended at endMs. */
  block(endMs, rms, blockMs) {
    this.#floor = Math.max(1e-5, Math.min(rms, this.#floor * FLOOR_RISE));
    if (rms < Math.max(LOUD_RMS_MIN, this.#floor * LOUD_OVER_FLOOR)) return;
    if (this.#lastLoud === null || endMs - this.#lastLoud > RUN_GAP_MS) this.#runStart = endMs - blockMs;
    this.#lastLoud = endMs;
  }

  /** The server heard the caller start or stop. */
  speech(state) {
    this.#speechEnd = state === "stop" && this.#speaking ? this.#lastLoud : null;
    this.#speaking = state === "start";
  }

  /** The caller typed words, or pressed keys: what is heard next answers those. */
  typed() {
    this.#typed = true;
    this.forget();
  }

  /** The caller is muted, or the call is on hold: what was said before is no longer measured. */
  forget() {
    this.#speaking = false;
    this.#speechEnd = null;
  }

  /**
   * A reply became audible, perhaps again. Returns the milliseconds since the caller's last loud block; null when no words
   * of the caller's came before it.
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

  // When the caller's words ended that a reply at atMs answers, or null. The server may answer before it says that speech
  // has stopped; but one who is heard even now has not ended.
  #answered(atMs) {
    if (this.#typed) return null;
    if (!this.#speaking) return this.#speechEnd;
    return this.#lastLoud !== null && atMs - this.#lastLoud >= SILENCE_MIN_MS ? this.#lastLoud : null;
  }

  /** Playout went on: what was cut is being played again. */
  started(generation) {
    if (this.#cut?.generation === generation) this.#cut = null;
  }

  /**
   * The queue was cleared in the middle of generation; its last audible sample was at lastAudibleMs. Returns the barge-in
   * wait when the caller is known to have interrupted that reply, else null.
   */
  cleared(generation, lastAudibleMs) {
    if (!this.#speaking || this.#replyStart === null || this.#runStart === null) return null;
    if (this.#lastLoud < this.#replyStart) return null;
    const from = Math.max(this.#runStart, this.#replyStart);
    this.#cut = { generation, ms: Math.max(0, lastAudibleMs - from) };
    return this.#interrupted === generation ? this.ended(generation, "interrupted") : null;
  }

  /** The reply is over. Returns the barge-in wait when the caller interrupted it and its sound has ended, else null. */
  ended(generation, reason) {
    const cut = this.#cut;
    this.#cut = null;
    this.#interrupted = null;
    if (reason === "interrupted" && cut?.generation !== generation) {
      this.#interrupted = generation;
      return null;
    }
    this.#replyStart = null;
    return reason === "interrupted" ? cut.ms : null;
  }
}
