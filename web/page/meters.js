// The level meters of both sides, and the ring of the talk button.

import { byId } from "./elements.js";
import { loudness } from "./timeline.js";

const FALL = 0.85; // from one level to the next
const STEP_MS = 50; // from one drawing to the next

/** @typedef {import("../client/index.js").Who} Who */

/** Shows levels. Meters rise at once and fall slowly. */
export class Meters {
  #levels = { caller: 0, model: 0 };
  #bars = { caller: byId("caller-level", HTMLElement), model: byId("model-level", HTMLElement) };
  #talk = byId("talk", HTMLElement);
  #drawing = false; // it will be drawn

  /**
   * @param {Who} who
   * @param {number} rms
   */
  level(who, rms) {
    this.#levels[who] = Math.max(loudness(rms), this.#levels[who] * FALL);
    if (this.#drawing) return;
    this.#drawing = true;
    setTimeout(() => requestAnimationFrame(() => this.#draw()), STEP_MS);
  }

  reset() {
    this.#levels = { caller: 0, model: 0 };
    this.#draw();
  }

  #draw() {
    this.#drawing = false;
    const { caller, model } = this.#levels;
    this.#bars.caller.style.setProperty("--level", caller.toFixed(3));
    this.#bars.model.style.setProperty("--level", model.toFixed(3));
    const speaker = document.body.dataset.speaking === "model" ? model : caller;
    this.#talk.style.setProperty("--level", speaker.toFixed(3));
  }
}
