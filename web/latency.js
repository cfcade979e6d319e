// The two waits a caller feels. Pure: every time is in milliseconds on the one clock of the audio context.

const LOUD_RMS_MIN = 0.004; // -48 dBFS: never louder than that in a quiet room
const LOUD_OVER_FLOOR = 4; // 12 dB above the noise of the room
const FLOOR_RISE = 1.005; // per block: the floor follows a rising noise within seconds, and speech hardly lifts it
const RUN_GAP_MS = 400; // a pause that does not end a run of speech

/**
 * Measures, from the loudness of microphone blocks and the reports of the playout queue,
 * - first audio: from the caller's last loud block to the first audible sample of the reply;
 * - barge-in: from the first loud block spoken over a reply to the last audible sample of that reply.
 */
export class Latency {
  #floor = 1;
  #runStart = null;
  #lastLoud = null;
  #speechEnd = null; // of a caller's turn that waits for its reply
  #speaking = false;
  #replyStart = null; // of the reply being played
  #cut = null; // {generation, ms} of a reply stopped and neither resumed nor ended

  /** A microphone block that ended at endMs. */
  block(endMs, rms, blockMs) {
    this.#floor = Math.max(1e-5, Math.min(rms, this.#floor * FLOOR_RISE));
    if (rms < Math.max(LOUD_RMS_MIN, this.#floor * LOUD_OVER_FLOOR)) return;
    if (this.#lastLoud === null || endMs - this.#lastLoud > RUN_GAP_MS) this.#runStart = endMs - blockMs;
    this.#lastLoud = endMs;
  }

  /** The server heard the caller start or stop. */
  speech(state) {
    this.#speaking = state === "start";
    this.#speechEnd = state === "stop" ? this.#lastLoud : null;
  }

  /** The reply became audible. Returns the milliseconds since the caller's last loud block, or null for a greeting. */
  audible(atMs) {
    this.#replyStart = atMs;
    const end = this.#speaking ? this.#lastLoud : this.#speechEnd;
    this.#speechEnd = null;
    this.#speaking = false;
    return end === null || atMs < end ? null : atMs - end;
  }

  /** Playout went on: what was cut is being played again. */
  started(generation) {
    if (this.#cut?.generation === generation) this.#cut = null;
  }

  /** The queue was cleared in the middle of generation; its last audible sample was at lastAudibleMs. */
  cleared(generation, lastAudibleMs) {
    if (this.#replyStart === null || this.#runStart === null || this.#lastLoud < this.#replyStart) return;
    const from = Math.max(this.#runStart, this.#replyStart);
    this.#cut = { generation, ms: Math.max(0, lastAudibleMs - from) };
  }

  /** The reply is over. Returns the barge-in wait when the caller interrupted it, else null. */
  ended(generation, reason) {
    this.#replyStart = null;
    const cut = this.#cut;
    this.#cut = null;
    return reason === "interrupted" && cut?.generation === generation ? cut.ms : null;
  }
}
