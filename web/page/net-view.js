// The net of a running call or session, as its messages net_graph and net show it, and what it is doing.

import { isCut, phaseOf } from "../viewer/phase.js";
import { NetViewer } from "../viewer/net-viewer.js";
import { CUT_SHOWN, Storyboard } from "../viewer/storyboard.js";

const BUSY = 2.5; // of a transition that fires in more than half of all messages

export class NetView {
  #panel;
  #size;
  #viewer;
  #board;
  /** @type {Readonly<Record<string, number>>} */ #marking = {};
  /** @type {Map<string, number>} */ #busy = new Map(); // how often transitions fired lately
  #cut = 0; // timer while the tile of a cut is lit

  /**
   * @param {object} elements
   * @param {HTMLElement} elements.panel hidden until a drawing came
   * @param {HTMLElement} elements.viewer
   * @param {HTMLElement} elements.tools
   * @param {HTMLElement} elements.size the button that enlarges the panel
   * @param {HTMLElement} [elements.board] the storyboard of a call
   */
  constructor({ panel, viewer, tools, size, board }) {
    this.#panel = panel;
    this.#size = size;
    this.#viewer = new NetViewer(viewer, tools, false);
    this.#board = board ? new Storyboard(board) : null;
    size.addEventListener("click", () => this.setLarge(!panel.classList.contains("large")));
  }

  /**
   * Shows the panel over the whole window, or in its place.
   * @param {boolean} isLarge
   */
  setLarge(isLarge) {
    this.#panel.classList.toggle("large", isLarge);
    this.#size.setAttribute("aria-pressed", String(isLarge));
    this.#size.textContent = isLarge ? "Close" : "Enlarge";
  }

  /**
   * Shows a drawing, given as the text of an SVG. A text that cannot be read hides the panel.
   * @param {string} text
   */
  show(text) {
    this.#panel.hidden = false; // the viewer measures the drawing
    this.#panel.hidden = !this.#viewer.load(text);
    this.#marking = {};
    this.#busy.clear();
    this.over();
  }

  /**
   * Shows a marking, and the transitions that fired.
   * @param {Pick<import("../client/index.js").VoiceEvents["net"], "marking" | "fired">} event
   */
  mark({ marking, fired }) {
    this.#viewer.fire(this.#firings(marking, fired));
    this.#viewer.mark(marking);
    this.#marking = marking;
    if (fired.some(isCut)) {
      clearTimeout(this.#cut);
      this.#cut = window.setTimeout(() => {
        this.#cut = 0;
        this.#light();
      }, CUT_SHOWN);
    }
    this.#light();
  }

  /** The call is over: it does nothing any more. */
  over() {
    clearTimeout(this.#cut);
    this.#cut = 0;
    this.#board?.light("", false);
  }

  #light() {
    this.#board?.light(phaseOf(this.#marking), this.#cut > 0);
  }

  /**
   * Tells from two markings which tokens moved, where only one transition of a part fired.
   * @param {Readonly<Record<string, number>>} marking @param {readonly string[]} fired
   */
  #firings(marking, fired) {
    for (const [name, n] of this.#busy) this.#busy.set(name, n * 0.7);
    for (const name of fired) this.#busy.set(name, (this.#busy.get(name) ?? 0) + 1);
    const grown = (/** @type {string} */ p) => (marking[p] ?? 0) - (this.#marking[p] ?? 0);
    const changed = [...new Set([...Object.keys(marking), ...Object.keys(this.#marking)])].filter((p) => grown(p) !== 0);
    const parts = fired.map((of) => this.#viewer.partOf(of));
    return fired.map((of, i) => {
      const part = parts[i];
      const near = part && parts.filter((p) => p === part).length === 1 ? changed.filter((p) => this.#viewer.isIn(p, part)) : [];
      const frame = (this.#busy.get(of) ?? 0) > BUSY;
      return { of, frame, from: near.filter((p) => grown(p) < 0), to: near.filter((p) => grown(p) > 0) };
    });
  }
}
