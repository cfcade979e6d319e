// The timeline: a row for each lane, drawn on a canvas.

import { create } from "../viewer/build.js";
import { clock } from "./recording.js";

const dark = matchMedia("(prefers-color-scheme: dark)");
const ROW = 22;
const TOP = 20;

/** Rows: title, and the lanes in it with their colours. */
const ROWS = [
  ["State", [["phase", ""]]],
  ["Caller speaks", [["speech", "--caller"]]],
  ["Caller's turn", [["turn", "--caller-soft"]]],
  ["Model audio", [["received", "--model-soft"]]],
  ["Sent to caller", [["sent", "--model"]]],
  ["Played", [["played", "--good"], ["cleared", "--bad"]]],
  ["Functions", [["tool", "--warn"]]],
  ["Hold, mute", [["held", "--warn"], ["muted", "--edge"], ["protected", "--bad"], ["unconsented", "--edge"]]],
  ["Model online", [["online", "--good"]]],
  ["Silences", [["silence", "--bad"]]],
];

const PHASES = {
  listening: "--sunk-strong", connecting: "--warn", consent: "--edge", caller: "--caller", thinking: "--warn", tool: "--warn",
  speaking: "--model", paused: "--bad", held: "--edge", protected: "--edge", offline: "--bad", ending: "--edge", over: "--edge",
};

export class Timeline {
  #canvas;
  #width = 0;
  from = 0;
  to = 20_000;

  /**
   * @param {{ canvas: HTMLCanvasElement, names: HTMLElement }} elements
   * @param {(t: number) => void} seek
   */
  constructor({ canvas, names }, seek) {
    this.#canvas = canvas;
    for (const [title] of ROWS) names.append(create("li", "", String(title)));
    new ResizeObserver(() => this.#measure()).observe(canvas);
    const at = (/** @type {PointerEvent} */ e) => {
      const box = canvas.getBoundingClientRect();
      seek(this.from + ((e.clientX - box.left) / box.width) * (this.to - this.from));
    };
    canvas.addEventListener("pointerdown", (e) => {
      canvas.setPointerCapture(e.pointerId);
      at(e);
    });
    canvas.addEventListener("pointermove", (e) => canvas.hasPointerCapture(e.pointerId) && at(e));
  }

  /** Shows more time, or less, around a moment; if it is out of sight, around the middle. @param {number} factor @param {number} around @param {number} end */
  zoom(factor, around, end) {
    const length = Math.min(Math.max((this.to - this.from) * factor, 2000), Math.max(end, 2000) * 1.02);
    const isSeen = around >= this.from && around <= this.to;
    const centre = isSeen ? around : (this.from + this.to) / 2;
    const share = (centre - this.from) / (this.to - this.from);
    this.from = Math.max(0, Math.min(centre - length * share, Math.max(end, 2000) * 1.02 - length));
    this.to = this.from + length;
  }

  /** @param {number} start @param {number} end */
  whole(start, end) {
    this.from = start;
    this.to = Math.max(end, start + 2000);
  }

  /** Says what is in sight, and in which colours. */
  key() {
    return `${this.from} ${this.to} ${this.#width} ${dark.matches}`;
  }

  /** Keeps a moment in sight. @param {number} t */
  reach(t) {
    const length = this.to - this.from;
    if (t > this.to - length * 0.03) this.from = t - length * 0.9;
    if (t < this.from) this.from = Math.max(0, t - length * 0.1);
    this.to = this.from + length;
  }

  #measure() {
    const scale = devicePixelRatio || 1;
    this.#width = this.#canvas.clientWidth;
    this.#canvas.width = Math.round(this.#width * scale);
    this.#canvas.height = Math.round((TOP + ROWS.length * ROW) * scale);
  }

  /** @param {import("./recording.js").Recording} rec @param {number} t @param {number} now */
  draw(rec, t, now) {
    const ctx = this.#canvas.getContext("2d");
    if (!ctx || this.#width === 0) return;
    const style = getComputedStyle(this.#canvas);
    const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim() || "#888";
    const x = (/** @type {number} */ ms) => ((ms - this.from) / (this.to - this.from)) * this.#width;
    const scale = devicePixelRatio || 1;
    ctx.setTransform(scale, 0, 0, scale, 0, 0);
    ctx.clearRect(0, 0, this.#width, TOP + ROWS.length * ROW);
    this.#axis(ctx, x, colour);
    ROWS.forEach(([, lanes], row) => {
      const y = TOP + row * ROW;
      ctx.fillStyle = colour("--line");
      ctx.fillRect(0, y + ROW - 1, this.#width, 1);
      for (const [lane, fill] of /** @type {string[][]} */ (lanes)) {
        for (const [name, spans] of rec.lanes) {
          if (name === lane || (lane === "tool" && name.startsWith("tool"))) this.#spans(ctx, spans, y, x, now, fill, colour);
        }
      }
    });
    ctx.fillStyle = colour("--ink");
    ctx.fillRect(Math.round(x(t)) - 1, 0, 2, TOP + ROWS.length * ROW);
  }

  /**
   * @param {CanvasRenderingContext2D} ctx @param {any[]} spans @param {number} y @param {(ms: number) => number} x
   * @param {number} now @param {string} fill @param {(name: string) => string} colour
   */
  #spans(ctx, spans, y, x, now, fill, colour) {
    for (const s of spans) {
      const to = s?.open && (s.lane === "phase" || !["received", "sent", "played"].includes(s.lane)) ? now : s?.to;
      if (!s || to < this.from || s.from > this.to || (s.lane === "silence" && to - s.from < 1000)) continue;
      const left = Math.max(x(s.from), -2);
      const width = Math.max(Math.min(x(to), this.#width + 2) - left, s.lane === "cleared" ? 2 : 1);
      ctx.fillStyle = colour(fill || PHASES[/** @type {keyof PHASES} */ (s.note)] || "--edge");
      ctx.globalAlpha = s.lane === "online" ? 0.45 : 1;
      ctx.beginPath();
      ctx.roundRect(left, y + 4, width, ROW - 9, Math.min(3, width / 2));
      ctx.fill();
      ctx.globalAlpha = 1;
    }
  }

  /** @param {CanvasRenderingContext2D} ctx @param {(ms: number) => number} x @param {(name: string) => string} colour */
  #axis(ctx, x, colour) {
    const length = this.to - this.from;
    const step = [500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 300_000].find((s) => (s / length) * this.#width > 70) ?? 600_000;
    ctx.font = "11px system-ui, sans-serif";
    for (let ms = Math.ceil(this.from / step) * step; ms <= this.to; ms += step) {
      ctx.fillStyle = colour("--line");
      ctx.fillRect(Math.round(x(ms)), TOP - 5, 1, ROWS.length * ROW + 5);
      ctx.fillStyle = colour("--soft");
      const text = clock(ms).replace(/\.0$/, "");
      const isLast = x(ms) + 3 + ctx.measureText(text).width > this.#width;
      ctx.textAlign = isLast ? "right" : "left";
      ctx.fillText(text, Math.round(x(ms)) + (isLast ? -3 : 3), 12);
    }
  }
}
