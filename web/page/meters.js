// The level meters of both sides, and the ring of the talk button.

import { byId } from "./elements.js";
import { loudness } from "./timeline.js";

const FALL = 0.85; // from one level to the next

/** @typedef {import("../client/index.js").Who} Who */

/** Shows levels. Meters rise at once and fall slowly. */
export class Meters {
  #levels = { caller: 0, model: 0 };
  #bars = { caller: byId("caller-level", HTMLElement), model: byId("model-level", HTMLElement) };
  #talk = byId("talk", HTMLElement);

  /**
   * @param {Who} who
   * @param {number} rms
   */
  level(who, rms) {
    this.#set(who, Math.max(loudness(rms), this.#levels[who] * FALL));
    const speaker = document.body.dataset.speaking === "model" ? "model" : "caller";
    this.#talk.style.setProperty("--level", this.#levels[speaker].toFixed(3));
  }

  reset() {
    this.#set("caller", 0);
    this.#set("model", 0);
  }

  /**
   * @param {Who} who
   * @param {number} value
   */
  #set(who, value) {
    this.#levels[who] = value;
    this.#bars[who].style.setProperty("--level", value.toFixed(3));
  }
}
