// The last ten seconds of a call as a drawing: the caller's loudness above the line, the model's
// below.

const SPAN_MS = 10_000;
const STEP_MS = 50; // one bar
const BARS = SPAN_MS / STEP_MS;
const QUIET_DB = -60;

/** @typedef {import("../client/index.js").Who} Who */

/**
 * A level 0..1 on a logarithmic scale: 0 at -60 dBFS, 1 at full scale.
 * @param {number} rms
 */
export function loudness(rms) {
  return rms <= 0 ? 0 : Math.max(0, Math.min(1, 1 - (20 * Math.log10(rms)) / QUIET_DB));
}

/**
 * Draws itself while it runs, once a bar. Times are milliseconds of the audio context, which the
 * page's clock extrapolates.
 */
export class Timeline {
  #canvas;
  #rings = { caller: new Float32Array(BARS), model: new Float32Array(BARS) };
  /** @type {number[]} */
  #cuts = [];
  #newest = 0; // bar index
  #offset = 0; // context time minus page time
  #running = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #next;

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.#canvas = canvas;
    new ResizeObserver(() => this.#draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#draw());
  }

  start() {
    this.#rings.caller.fill(0);
    this.#rings.model.fill(0);
    this.#cuts = [];
    this.#newest = 0;
    this.#offset = -performance.now();
    if (this.#running) return;
    this.#running = true;
    this.#tick();
  }

  stop() {
    this.#running = false;
    clearTimeout(this.#next);
  }

  /**
   * @param {Who} who
   * @param {number} atMs
   * @param {number} rms
   */
  level(who, atMs, rms) {
    this.#offset = Math.max(this.#offset, atMs - performance.now());
    this.#advance(atMs);
    const bar = Math.floor(atMs / STEP_MS);
    if (bar <= this.#newest - BARS) return;
    const ring = this.#rings[who];
    ring[bar % BARS] = Math.max(ring[bar % BARS], loudness(rms));
  }

  /** Marks this moment: a reply was stopped. */
  cut() {
    this.#cuts.push(this.#now());
    this.#cuts = this.#cuts.filter((at) => at > this.#now() - SPAN_MS);
  }

  #now() {
    return performance.now() + this.#offset;
  }

  /** @param {number} atMs */
  #advance(atMs) {
    const bar = Math.floor(atMs / STEP_MS);
    for (let n = 0; this.#newest < bar; this.#newest++, n++) {
      if (n >= BARS) continue;
      const next = (this.#newest + 1) % BARS;
      this.#rings.caller[next] = this.#rings.model[next] = 0;
    }
  }

  #tick() {
    if (!this.#running) return;
    this.#advance(this.#now());
    this.#draw();
    this.#next = setTimeout(() => requestAnimationFrame(() => this.#tick()), STEP_MS);
  }

  #draw() {
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    const scale = devicePixelRatio;
    const [pixelsWide, pixelsHigh] = [Math.floor(width * scale), Math.floor(height * scale)];
    if (this.#canvas.width !== pixelsWide || this.#canvas.height !== pixelsHigh) {
      this.#canvas.width = pixelsWide;
      this.#canvas.height = pixelsHigh;
    }
    const pen = this.#canvas.getContext("2d");
    if (!pen) return;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    const style = getComputedStyle(this.#canvas);
    const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    const middle = height / 2;
    pen.fillStyle = colour("--line");
    pen.fillRect(0, middle - 0.5, width, 1);
    const size = { width, height: middle - 6 };
    this.#drawBars(pen, this.#rings.caller, colour("--caller"), size, (bar) => middle - 1 - bar);
    this.#drawBars(pen, this.#rings.model, colour("--model"), size, () => middle + 1);
    this.#drawCuts(pen, colour("--bad"), width, height);
  }

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {Float32Array} ring
   * @param {string} colour
   * @param {{width: number, height: number}} size of all bars
   * @param {(bar: number) => number} top of a bar of this height
   */
  #drawBars(pen, ring, colour, { width, height }, top) {
    pen.fillStyle = colour;
    const step = width / BARS;
    for (let i = 0; i < BARS; i++) {
      const value = ring[(this.#newest + 1 + i) % BARS];
      if (value < 0.02) continue;
      pen.fillRect(i * step, top(value * height), Math.max(1, step - 1), value * height);
    }
  }

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {string} colour
   * @param {number} width
   * @param {number} height
   */
  #drawCuts(pen, colour, width, height) {
    pen.fillStyle = colour;
    for (const at of this.#cuts) {
      const x = width * (1 - (this.#now() - at) / SPAN_MS);
      pen.fillRect(Math.round(x) - 1, 4, 2, height - 8);
    }
  }
}
