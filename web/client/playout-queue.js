// The playout queue. It counts what was played exactly as the voicegw.v1 protocol asks. Pure: no
// clock, no audio API; time is the number of samples pulled.

export const FRAME_MS = 20;
const PREBUFFER_MS = 40; // must be queued before playing starts, and again after the queue ran dry
const ACK_MS = 100;
const FADE_MS = 4; // a clear ends in a ramp, not in a click
const LEVEL_MS = 20;
const LIMIT_MS = 600_000; // of audio in the queue: a gateway that sends more is broken
const GENERATIONS_MAX = 16; // the newest are remembered
const LOUD = 0.01; // -40 dBFS: what counts as audible

/**
 * A report of the queue. `at` is a time in samples since the first pull.
 * - ack: to be sent to the gateway
 * - start: a generation began to play at `at`; audible: its first loud sample
 * - stop: nothing plays any more. The queue ran dry or was cleared; the last loud sample was at
 *   `lastAudible`. Of a cleared queue `dropped` samples were not played
 * - level: RMS 0..1 of the 20 ms that ended at `at`
 * @typedef {{kind: "ack", generation: number, played_ms: number, mark?: string, cleared?: true}}
 *   AckReport
 * @typedef {{kind: "start" | "audible", generation: number, at: number}} StartReport
 * @typedef {{kind: "stop", generation: number, cause: "dry" | "clear", at: number, lastAudible:
 *   number, dropped: number}} StopReport
 * @typedef {{kind: "level", rms: number, at: number}} LevelReport
 * @typedef {AckReport | StartReport | StopReport | LevelReport} Report
 */

/**
 * Audio of a generation, of which `used` samples were played, or a mark behind it.
 * @typedef {{generation: number, pcm: Int16Array, used: number}} Chunk
 * @typedef {{generation: number, mark: string}} Mark
 */

/**
 * What came and what was played of a generation: samples, milliseconds acknowledged, whether it was
 * loud.
 * @typedef {{played: number, received: number, acked: number, audible: boolean}} Count
 */

/**
 * Plays the audio of numbered generations in order and counts what was played. Only clear drops
 * audio.
 */
export class PlayoutQueue {
  /** How often the queue ran dry in the middle of a generation. */
  underruns = 0;

  #frame; // samples of 20 ms
  #rate;
  /** @type {(Chunk | Mark)[]} */
  #queue = [];
  #queued = 0; // samples in the queue
  /** @type {Map<number, Count>} */
  #counts = new Map(); // by generation
  /** @type {Report[]} */
  #reports = [];
  #clock = 0; // samples pulled
  #playing = 0; // the generation that plays, meaningful while not waiting
  #waiting = true; // for the prebuffer
  #waited = 0; // samples pulled since the queue was empty
  /** @type {number | null} */
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
   * Queues audio of a generation and keeps the array. Returns false, and queues nothing, when ten
   * minutes are queued already.
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

  /**
   * Queues a mark. It is acknowledged when all audio before it was played.
   * @param {number} generation
   * @param {string} id
   */
  mark(generation, id) {
    if (this.#queued === 0) this.#reach({ generation, mark: id });
    else this.#queue.push({ generation, mark: id });
  }

  /**
   * Drops all audio that was not played, and acknowledges what was played, in whole frames.
   * Counting continues from there.
   * @param {number} generation
   */
  clear(generation) {
    const wasPlaying = !this.#waiting;
    const before = this.#queued;
    this.#tail = this.#ramp();
    this.#queue.length = 0;
    this.#queued = 0;
    for (const count of this.#counts.values()) this.#settle(count);
    const count = this.#count(generation);
    count.acked = this.#heardMs(count);
    this.#report({ kind: "ack", generation, played_ms: count.acked, cleared: true });
    if (wasPlaying || before > 0) this.#stop(generation, "clear", before);
    this.#ranDry = null;
  }

  /**
   * Fills out with the next samples, and with silence when the queue is empty.
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

  /**
   * The reports since the last call, oldest first.
   * @returns {readonly Report[]}
   */
  takeReports() {
    if (this.#reports.length === 0) return NONE;
    const list = this.#reports;
    this.#reports = [];
    return list;
  }

  /**
   * Whether audio of the queue may be played now; if not, another so many samples of silence are.
   * @param {number} samples
   */
  #mayPlay(samples) {
    if (!this.#waiting) return true;
    if (this.#queued === 0) return false;
    const enough = this.queuedMs >= PREBUFFER_MS || this.#waited * 1000 >= PREBUFFER_MS * this.#rate;
    if (!enough && !this.#queue.some(isMark)) {
      this.#waited += samples;
      return false;
    }
    this.#waiting = false;
    this.#begin(this.#queue[0].generation, 0);
    return true;
  }

  /**
   * @param {Float32Array} out
   * @param {number} filled samples of out
   * @returns {number} samples of out that are filled now
   */
  #pullQueue(out, filled) {
    while (this.#queue.length > 0) {
      const item = this.#queue[0];
      if (isMark(item)) {
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

  /**
   * @param {Chunk} item the first of the queue
   * @param {Float32Array} out
   * @param {number} filled
   */
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

  /**
   * @param {number} generation
   * @param {Count} count
   * @param {Float32Array} played
   * @param {number} filled samples of this pull before them
   */
  #findAudible(generation, count, played, filled) {
    const i = played.findIndex((v) => v > LOUD || v < -LOUD);
    if (i < 0) return;
    count.audible = true;
    this.#report({ kind: "audible", generation, at: this.#clock + filled + i });
  }

  /**
   * @param {number} generation
   * @param {number} offset in samples of this pull
   */
  #begin(generation, offset) {
    this.#playing = generation;
    this.#report({ kind: "start", generation, at: this.#clock + offset });
  }

  /**
   * Another generation follows the one that plays.
   * @param {number} generation
   * @param {number} offset in samples of this pull
   */
  #change(generation, offset) {
    const count = this.#count(this.#playing);
    if (this.#heardMs(count) > count.acked) this.#ack(this.#playing, this.#heardMs(count));
    this.#begin(generation, offset);
  }

  /** @param {Mark} mark */
  #reach({ generation, mark }) {
    this.#ack(generation, this.#heardMs(this.#count(generation)), mark);
  }

  /** @param {number} filled samples of this pull */
  #dry(filled) {
    const generation = this.#playing;
    const count = this.#count(generation);
    if (this.#heardMs(count) > count.acked) this.#ack(generation, this.#heardMs(count));
    this.#ranDry = generation;
    this.#stop(generation, "dry", 0, filled);
  }

  /**
   * @param {number} generation
   * @param {"dry" | "clear"} cause
   * @param {number} dropped samples
   * @param {number} offset in samples of this pull
   */
  #stop(generation, cause, dropped, offset = 0) {
    this.#waiting = true;
    this.#waited = 0;
    const at = this.#clock + offset;
    this.#report({ kind: "stop", generation, cause, at, lastAudible: this.#lastAudible, dropped });
  }

  /**
   * @param {number} generation
   * @param {number} played ms
   * @param {string} [mark]
   */
  #ack(generation, played, mark) {
    const count = this.#count(generation);
    count.acked = Math.max(count.acked, played);
    /** @type {AckReport} */
    const report = { kind: "ack", generation, played_ms: count.acked };
    if (mark !== undefined) report.mark = mark;
    this.#report(report);
  }

  /**
   * After a clear a generation has received and played what was acknowledged of it: counting
   * continues from there.
   * @param {Count} count
   */
  #settle(count) {
    if (count.played === count.received) return;
    const ms = Math.max(this.#wholeMs(count), count.acked);
    count.played = count.received = Math.round((ms * this.#rate) / 1000);
  }

  /** @param {Count} count */
  #wholeMs(count) {
    return Math.floor(count.played / this.#frame) * FRAME_MS;
  }

  /**
   * Whole frames only while more of a generation is queued. All of it, when all that came was
   * played.
   * @param {Count} count
   */
  #heardMs(count) {
    if (count.played < count.received) return Math.max(this.#wholeMs(count), count.acked);
    return Math.max(Math.floor((count.played * 1000) / this.#rate), count.acked);
  }

  /** @param {number} generation */
  #count(generation) {
    let count = this.#counts.get(generation);
    if (count) return count;
    count = { played: 0, received: 0, acked: 0, audible: false };
    this.#counts.set(generation, count);
    const [oldest] = this.#counts.keys();
    if (this.#counts.size > GENERATIONS_MAX) this.#counts.delete(oldest);
    return count;
  }

  // The next samples of the queue, faded out.
  #ramp() {
    const head = this.#queue.find(isChunk);
    if (this.#waiting || !head) return new Float32Array(0);
    const n = Math.min(Math.round((this.#rate * FADE_MS) / 1000), head.pcm.length - head.used);
    return Float32Array.from({ length: n }, (_, i) => (head.pcm[head.used + i] / 32768) * (1 - i / n));
  }

  /** @param {Float32Array} out */
  #pullTail(out) {
    if (this.#tail.length === 0) return 0;
    const n = Math.min(this.#tail.length, out.length);
    out.set(this.#tail.subarray(0, n));
    this.#tail = this.#tail.subarray(n);
    return n;
  }

  /** @param {Float32Array} out */
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

  /** @param {Report} report */
  #report(report) {
    this.#reports.push(report);
  }
}

/** @type {readonly Report[]} */
const NONE = Object.freeze([]);

/**
 * @param {Chunk | Mark} item
 * @returns {item is Mark}
 */
function isMark(item) {
  return "mark" in item;
}

/**
 * @param {Chunk | Mark} item
 * @returns {item is Chunk}
 */
function isChunk(item) {
  return "pcm" in item;
}
