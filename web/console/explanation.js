// Why the call is as it is at a moment, in words: the cause, the timers that run, and what is held back.

import { create } from "../viewer/build.js";
import { clock, span } from "./recording.js";

export class Explanation {
  #text;
  #lists;
  #shown = "";

  /** @param {{ text: HTMLElement, lists: HTMLElement }} elements */
  constructor({ text, lists }) {
    this.#text = text;
    this.#lists = lists;
  }

  /** @param {import("./recording.js").Recording} rec @param {number} t */
  show(rec, t) {
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
