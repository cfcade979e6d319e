// The storyboard: what the call is doing at a moment, for somebody who never saw one.

import { create } from "../chat/build.js";
import { clock, span } from "./recording.js";

const CUT_SHOWN = 1200; // milliseconds that a cut stays lit

/** Tiles: name, words, and the phases that light them. */
const TILES = [
  ["Listening", "Nobody speaks. The gateway listens.", ["listening", "connecting", "consent", "protected"]],
  ["Caller speaks", "What the caller says goes to the model.", ["caller"]],
  ["Thinking", "The model has the turn.", ["thinking", "tool"]],
  ["Speaking", "The caller hears a reply.", ["speaking", "ending"]],
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
  ending: "The farewell is played; then the call ends.",
};

export class Storyboard {
  /** @type {{ tile: HTMLLIElement, note: HTMLElement, words: string, phases: string[] }[]} */
  #tiles = [];
  #text;
  #lists;
  #shown = "";

  /** @param {{ board: HTMLElement, text: HTMLElement, lists: HTMLElement }} elements */
  constructor({ board, text, lists }) {
    this.#text = text;
    this.#lists = lists;
    for (const [title, words, phases] of TILES) {
      const note = create("p", "tile-note", String(words));
      const tile = create("li", "tile", create("p", "tile-title", String(title)), note);
      tile.dataset.tile = String(title).toLowerCase().replace(" ", "-");
      board.append(tile);
      this.#tiles.push({ tile, note, words: String(words), phases: /** @type {string[]} */ (phases) });
    }
  }

  /** @param {import("./recording.js").Recording} rec @param {number} t */
  show(rec, t) {
    const phase = rec.spanAt("phase", t)?.note ?? "";
    const cut = rec.lastIn("cut", t);
    for (const { tile, note, words, phases } of this.#tiles) {
      const isLit = phases.includes(phase) || (phases.length === 0 && cut !== null && t - cut.to < CUT_SHOWN);
      tile.classList.toggle("lit", isLit);
      if (isLit) tile.setAttribute("aria-current", "true");
      else tile.removeAttribute("aria-current");
      const text = isLit && phase in NOTES ? NOTES[/** @type {keyof NOTES} */ (phase)] : words;
      if (note.textContent !== text) note.textContent = text;
    }
    this.#explain(rec, t);
  }

  /** @param {import("./recording.js").Recording} rec @param {number} t */
  #explain(rec, t) {
    const cause = rec.causeAt(t);
    /** @type {any[]} */
    const running = cause?.timers ?? [];
    const rows = running.map((timer) => ({ timer, left: span(Math.max(0, timer.due - t)) }));
    const key = JSON.stringify([cause, rows.map(({ left }) => left)]);
    if (key === this.#shown) return;
    this.#shown = key;
    this.#text.textContent = cause?.text ?? "Nothing is known of this moment yet.";
    const timers = rows.map(({ timer, left }) =>
      create("li", "", create("b", "", `in ${left}`), ` at ${clock(timer.due)} the net ${timer.does} `, create("code", "", timer.name)),
    );
    /** @type {any[]} */
    const held = cause?.blocked ?? [];
    const blocked = held.map((b) =>
      create("li", "", `${b.does} `, create("code", "", b.name), " is held back by ", create("b", "", b.inhibitors.join(", "))),
    );
    this.#lists.replaceChildren(...list("Timers that run", timers), ...list("What is held back", blocked));
  }
}

/** @param {string} title @param {HTMLElement[]} items */
function list(title, items) {
  return items.length > 0 ? [create("div", "", create("p", "label", title), create("ul", "plain", ...items))] : [];
}
