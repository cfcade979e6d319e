// Why the call is as it is at a moment, in words: the cause, the timers that run, and what is held back.

import { create } from "../viewer/build.js";
import { clock, span } from "./recording.js";

export class Explanation {
  #at;
  #text;
  #lists;
  #shown = "";

  /** @param {{ at: HTMLElement, text: HTMLElement, lists: HTMLElement }} elements */
  constructor({ at, text, lists }) {
    this.#at = at;
    this.#text = text;
    this.#lists = lists;
  }

  /** @param {import("./recording.js").Recording} rec @param {number} t @param {boolean} isNow whether the call runs, and t is now */
  show(rec, t, isNow) {
    const cause = rec.causeAt(t);
    const at = clock(t);
    if (this.#at.textContent !== `At ${at}:`) this.#at.textContent = `At ${at}:`;
    /** @type {any[]} */
    const running = cause?.timers ?? [];
    const rows = running.map((timer) => ({ timer, left: span(Math.max(0, timer.due - t)) }));
    const key = JSON.stringify([cause, rows.map(({ left }) => left), isNow || at]);
    if (key === this.#shown) return;
    this.#shown = key;
    this.#text.textContent = cause?.text ?? "Nothing is known of this moment yet.";
    const timers = rows.map(({ timer, left }) =>
      create("li", "", create("b", "", `in ${left}`), ` at ${clock(timer.due)} the gateway ${timer.does} `, create("code", "", timer.name)),
    );
    /** @type {any[]} */
    const held = cause?.blocked ?? [];
    const blocked = held.map((b) =>
      create("li", "", create("code", "", b.name), ` (${b.does}) waits because of `, create("b", "", b.inhibitors.join(", "))),
    );
    this.#lists.replaceChildren(
      ...list(isNow ? "Timers that run" : `Timers that ran at ${at}`, timers),
      ...list(isNow ? "What is held back" : `What was held back at ${at}`, blocked),
    );
  }
}

/** @param {string} title @param {HTMLElement[]} items */
function list(title, items) {
  return items.length > 0 ? [create("div", "", create("p", "label", title), create("ul", "plain", ...items))] : [];
}
