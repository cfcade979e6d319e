// The storyboard: what the call is doing at a moment, for somebody who never saw one.

import { create } from "./build.js";

export const CUT_SHOWN = 1200; // milliseconds that a cut stays lit

/** Tiles: name, words, and the phases that light them. */
const TILES = [
  ["Listening", "Nobody speaks. The gateway listens.", ["listening", "connecting", "consent", "protected"]],
  ["Caller speaks", "What the caller says goes to the model.", ["caller"]],
  ["Thinking", "The model has the turn.", ["thinking", "tool"]],
  ["Speaking", "The caller hears a reply.", ["speaking", "stalled", "ending"]],
  ["Paused", "The caller made a sound over the reply.", ["paused"]],
  ["Cut", "The caller interrupted the reply.", []],
  ["On hold", "Nothing is heard or sent.", ["held"]],
  ["No model", "The connection to the model is being replaced.", ["offline"]],
];

const NOTES = {
  connecting: "The model is being dialled.",
  consent: "The caller has not agreed to be heard.",
  protected: "Protected input: nothing goes to the model.",
  tool: "The model waits for a function.",
  stalled: "The model stopped sending. Nothing is heard.",
  ending: "The farewell is played; then the call ends.",
};

export class Storyboard {
  /** @type {{ tile: HTMLLIElement, note: HTMLElement, words: string, phases: string[] }[]} */
  #tiles = [];

  /** @param {HTMLElement} board a list */
  constructor(board) {
    for (const [title, words, phases] of TILES) {
      const note = create("p", "tile-note", String(words));
      const tile = create("li", "tile", create("p", "tile-title", String(title)), note);
      tile.dataset.tile = String(title).toLowerCase().replace(" ", "-");
      board.append(tile);
      this.#tiles.push({ tile, note, words: String(words), phases: /** @type {string[]} */ (phases) });
    }
  }

  /** Lights the tiles of a phase; "" lights none. @param {string} phase @param {boolean} isCut */
  light(phase, isCut) {
    for (const { tile, note, words, phases } of this.#tiles) {
      const isLit = phases.includes(phase) || (phases.length === 0 && isCut);
      tile.classList.toggle("lit", isLit);
      if (isLit) tile.setAttribute("aria-current", "true");
      else tile.removeAttribute("aria-current");
      const text = isLit && phase in NOTES ? NOTES[/** @type {keyof NOTES} */ (phase)] : words;
      if (note.textContent !== text) note.textContent = text;
    }
  }
}
