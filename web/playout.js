// The playout queue and its accounting, exactly as the voicegw.v1 protocol counts. Pure: no clock, no audio API; time
// is the number of samples pulled.

export const FRAME_MS = 20;
const PREBUFFER_MS = 40; // queued before playing starts, and again after the queue ran dry
const ACK_MS = 100;
const FADE_MS = 4; // a clear ends in a ramp, not in a click
const LEVEL_MS = 20;
const LIMIT_MS = 600_000; // of audio in the queue: far beyond any budget, a peer that sends more is broken
const GENERATIONS_MAX = 16; // the newest are remembered
const LOUD = 0.01; // -40 dBFS: what counts as audible

/**
 * One thing the queue has to say. `at` is a time in samples since the first pull.
 * - ack: send it to the server
 * - start: generation begins to play at `at`; audible: its first loud sample
 * - stop: nothing is playing any more, `cause` "dry" or "clear"; the last loud sample was at `lastAudible`
 * - level: RMS 0..1 of the 20 ms that ended at `at`
 * @typedef {{kind: "ack", generation: number, played_ms: number, mark?: string, cleared?: true}
 *   | {kind: "start" | "audible", generation: number, at: number}
 *   | {kind: "stop", generation: number, cause: "dry" | "clear", at: number, lastAudible: number, dropped: number}
 *   | {kind: "level", rms: number, at: number}} Report
 */

/** Plays 16-bit frames of numbered generations in order, never drops one unless told to, and counts what was played. */
export class Playout {
  /** Times the queue ran dry in the middle of a generation. */
  underruns = 0;

  #frame; // samples of 20 ms
  #rate;
  #queue = []; // {generation, pcm, used} or {generation, mark}
  #queued = 0; // samples in the queue
  #counts = new Map(); // generation -> {played, received, acked, audible}, played and received in samples
  #reports = [];
  #clock = 0; // samples pulled
  #playing = 0; // the generation being played, meaningful while not waiting
  #waiting = true; // for the prebuffer
  #waited = 0; // samples pulled since the queue was empty
  #ranDry = null; // the generation that was last when the queue ran dry
  #tail = new Float32Array(0); // the ramp after a clear
  #lastAudible = 0;
  #energy = 0;
  #energySamples = 0;
  #wasQuiet = true;

  /** @param {number} rate Hz of everything pushed and pulled */
  constructor(rate) {
    this.#rate = rate;
    this.#frame = Math.round((rate * FRAME_MS) / 1000);
  }

  /** Milliseconds of audio waiting to be played. */
  get queuedMs() {
    return (this.#queued * 1000) / this.#rate;
  }

  /**
   * Queues audio of a generation. The array belongs to the queue from now on. Returns false, and queues nothing, when
   * ten minutes are queued already.
   * @param {number} generation
   * @param {Int16Array} pcm
   */
  push(generation, pcm) {
    if (this.queuedMs > LIMIT_MS) return false;
    if (pcm.length === 0) return true;
    const count = this.#count(generation);
    count.received += pcm.length;
    if (this.#ranDry === generation) this.underruns++;
    this.#ranDry = null;
    this.#queue.push({ generation, pcm, used: 0 });
    this.#queued += pcm.length;
    return true;
  }

  /** Queues a mark: it is acknowledged once everything queued before it has been played. */
  mark(generation, id) {
    if (this.#queued === 0) this.#reach({ generation, mark: id });
    else this.#queue.push({ generation, mark: id });
  }

  /** Drops everything not yet played and acknowledges what was, in whole frames. Counting goes on from there. */
  clear(generation) {
    const wasPlaying = !this.#waiting;
    const before = this.#queued;
    this.#tail = this.#ramp();
    this.#queue.length = 0;
    this.#queued = 0;
    for (const [number, count] of this.#counts) this.#settle(number, count);
    const count = this.#count(generation);
    count.acked = this.#heardMs(count);
    this.#report({ kind: "ack", generation, played_ms: count.acked, cleared: true });
    if (wasPlaying || before > 0) this.#stop(generation, "clear", before);
    this.#ranDry = null;
  }

  /**
   * Fills out with the next samples, silence where there are none.
   * @param {Float32Array} out
   */
  pull(out) {
    let filled = this.#pullTail(out);
    if (this.#mayPlay(out.length - filled)) filled = this.#pullQueue(out, filled);
    out.fill(0, filled);
    this.#measure(out);
    this.#clock += out.length;
    this.#reportLevel();
  }

  /** The reports since the last call, oldest first. */
  takeReports() {
    if (this.#reports.length === 0) return NONE;
    const list = this.#reports;
    this.#reports = [];
    return list;
  }

  #mayPlay(samples) {
    if (!this.#waiting) return true;
    if (this.#queued === 0) return false;
    const enough = this.queuedMs >= PREBUFFER_MS || this.#waited * 1000 >= PREBUFFER_MS * this.#rate;
    if (!enough && !this.#queue.some((item) => item.mark !== undefined)) {
      this.#waited += samples;
      return false;
    }
    this.#waiting = false;
    this.#begin(this.#queue[0].generation, 0);
    return true;
  }

  #pullQueue(out, filled) {
    while (this.#queue.length > 0) {
      const item = this.#queue[0];
      if (item.mark !== undefined) {
        this.#queue.shift();
        this.#reach(item);
        continue;
      }
      if (filled === out.length) break;
      if (item.generation !== this.#playing) this.#change(item.generation, filled);
      filled = this.#copy(item, out, filled);
    }
    if (this.#queue.length === 0 && !this.#waiting) this.#dry(filled);
    return filled;
  }

  #copy(item, out, filled) {
    const n = Math.min(out.length - filled, item.pcm.length - item.used);
    for (let i = 0; i < n; i++) out[filled + i] = item.pcm[item.used + i] / 32768;
    item.used += n;
    this.#queued -= n;
    if (item.used === item.pcm.length) this.#queue.shift();
    const count = this.#count(item.generation);
    if (!count.audible) this.#findAudible(item.generation, count, out.subarray(filled, filled + n), filled);
    count.played += n;
    if (this.#wholeMs(count) >= count.acked + ACK_MS) this.#ack(item.generation, this.#wholeMs(count));
    return filled + n;
  }

  #findAudible(generation, count, played, filled) {
    const i = played.findIndex((v) => v > LOUD || v < -LOUD);
    if (i < 0) return;
    count.audible = true;
    this.#report({ kind: "audible", generation, at: this.#clock + filled + i });
  }

  #begin(generation, offset) {
    this.#playing = generation;
    this.#report({ kind: "start", generation, at: this.#clock + offset });
  }

  #change(generation, offset) {
    const count = this.#count(this.#playing);
    if (this.#heardMs(count) > count.acked) this.#ack(this.#playing, this.#heardMs(count));
    this.#begin(generation, offset);
  }

  #reach({ generation, mark }) {
    this.#ack(generation, this.#heardMs(this.#count(generation)), mark);
  }

  #dry(filled) {
    const generation = this.#playing;
    const count = this.#count(generation);
    if (this.#heardMs(count) > count.acked) this.#ack(generation, this.#heardMs(count));
    this.#ranDry = generation;
    this.#stop(generation, "dry", 0, filled);
  }

  #stop(generation, cause, dropped, offset = 0) {
    this.#waiting = true;
    this.#waited = 0;
    const at = this.#clock + offset;
    this.#report({ kind: "stop", generation, cause, at, lastAudible: this.#lastAudible, dropped });
  }

  #ack(generation, played, mark) {
    const count = this.#count(generation);
    count.acked = Math.max(count.acked, played);
    const report = { kind: "ack", generation, played_ms: count.acked };
    if (mark !== undefined) report.mark = mark;
    this.#report(report);
  }

  // After a clear a generation has received and played what was acknowledged of it, so that counting goes on there.
  #settle(number, count) {
    if (count.played === count.received) return;
    const ms = Math.max(this.#wholeMs(count), count.acked);
    count.played = count.received = Math.round((ms * this.#rate) / 1000);
  }

  #wholeMs(count) {
    return Math.floor(count.played / this.#frame) * FRAME_MS;
  }

  // A generation played to the end of what came may end within a frame; one being played counts whole frames only.
  #heardMs(count) {
    if (count.played < count.received) return Math.max(this.#wholeMs(count), count.acked);
    return Math.max(Math.floor((count.played * 1000) / this.#rate), count.acked);
  }

  #count(generation) {
    let count = this.#counts.get(generation);
    if (count) return count;
    count = { played: 0, received: 0, acked: 0, audible: false };
    this.#counts.set(generation, count);
    if (this.#counts.size > GENERATIONS_MAX) this.#counts.delete(this.#counts.keys().next().value);
    return count;
  }

  #ramp() {
    const head = this.#queue.find((item) => item.pcm);
    if (this.#waiting || !head) return new Float32Array(0);
    const n = Math.min(Math.round((this.#rate * FADE_MS) / 1000), head.pcm.length - head.used);
    return Float32Array.from({ length: n }, (_, i) => (head.pcm[head.used + i] / 32768) * (1 - i / n));
  }

  #pullTail(out) {
    if (this.#tail.length === 0) return 0;
    const n = Math.min(this.#tail.length, out.length);
    out.set(this.#tail.subarray(0, n));
    this.#tail = this.#tail.subarray(n);
    return n;
  }

  #measure(out) {
    for (let i = 0; i < out.length; i++) {
      const v = out[i];
      if (v > LOUD || v < -LOUD) this.#lastAudible = this.#clock + i;
      this.#energy += v * v;
    }
    this.#energySamples += out.length;
  }

  #reportLevel() {
    if (this.#energySamples * 1000 < LEVEL_MS * this.#rate) return;
    const rms = Math.sqrt(this.#energy / this.#energySamples);
    this.#energy = this.#energySamples = 0;
    const quiet = this.#waiting && rms === 0;
    if (!quiet || !this.#wasQuiet) this.#report({ kind: "level", rms, at: this.#clock });
    this.#wasQuiet = quiet;
  }

  #report(report) {
    this.#reports.push(report);
  }
}

const NONE = Object.freeze([]);
