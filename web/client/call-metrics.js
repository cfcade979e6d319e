// The measurements of a call: both latencies, and whether the microphone hears the loudspeaker.

import { EchoDetector } from "./echo-detector.js";
import { LatencyMeter } from "./latency-meter.js";

const KEPT_MAX = 1_000; // latencies of one kind

/**
 * Measures a call, keeps the results in its stats and emits `latency` and `warning`. Times are
 * milliseconds on the clock of the audio context.
 */
export class CallMetrics {
  #stats;
  #emit;
  #latency = new LatencyMeter();
  #echo = new EchoDetector();

  /**
   * @param {import("./call-stats.js").CallStats} stats
   * @param {import("./voice-client.js").Emit} emit
   */
  constructor(stats, emit) {
    this.#stats = stats;
    this.#emit = emit;
  }

  /**
   * A block of the microphone ended.
   * @param {number} atMs
   * @param {number} rms
   * @param {number} blockMs
   */
  callerBlock(atMs, rms, blockMs) {
    this.#latency.block(atMs, rms, blockMs);
    if (this.#echo.caller(atMs, rms)) this.#warn();
  }

  /**
   * A level of the loudspeaker was measured.
   * @param {number} atMs
   * @param {number} rms
   */
  modelLevel(atMs, rms) {
    this.#echo.model(atMs, rms);
  }

  /**
   * The gateway heard the caller start or stop to speak.
   * @param {"start" | "stop"} state
   */
  speech(state) {
    this.#latency.speech(state);
  }

  /** The caller typed text or pressed keys. */
  typed() {
    this.#latency.typed();
  }

  /** The caller was muted, or the call changed its mode: that wait is no latency. */
  forget() {
    this.#latency.forget();
  }

  /**
   * A reply began to play.
   * @param {number} generation
   * @param {number} atMs
   */
  replyStarted(generation, atMs) {
    this.#latency.started(generation);
    this.#echo.replyStarted(atMs);
  }

  /**
   * A reply became audible.
   * @param {number} generation
   * @param {number} atMs
   */
  replyAudible(generation, atMs) {
    const ms = this.#latency.audible(generation, atMs);
    this.#keep("first_audio", this.#stats.firstAudioMs, ms, generation);
  }

  /**
   * The queue was cleared while a reply played.
   * @param {number} generation
   * @param {number} lastAudibleMs
   */
  replyCleared(generation, lastAudibleMs) {
    this.#bargeIn(generation, this.#latency.cleared(generation, lastAudibleMs));
  }

  /**
   * A reply ended.
   * @param {number} generation
   * @param {string | null | undefined} reason
   * @param {number} atMs
   */
  replyEnded(generation, reason, atMs) {
    this.#bargeIn(generation, this.#latency.ended(generation, reason));
    if (this.#echo.replyEnded(atMs, reason === "interrupted")) this.#warn();
  }

  #warn() {
    this.#stats.selfHearing++;
    this.#emit("warning", { code: "hears_itself" });
  }

  /**
   * @param {number} generation
   * @param {number | null} ms
   */
  #bargeIn(generation, ms) {
    this.#keep("barge_in", this.#stats.bargeInSilenceMs, ms, generation);
  }

  /**
   * @param {"first_audio" | "barge_in"} kind
   * @param {number[]} list
   * @param {number | null} ms null when there is nothing to keep
   * @param {number} generation
   */
  #keep(kind, list, ms, generation) {
    if (ms === null) return;
    const rounded = Math.round(ms);
    if (list.length < KEPT_MAX) list.push(rounded);
    this.#emit("latency", { kind, ms: rounded, generation });
  }
}
