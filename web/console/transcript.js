// What was said in a call, where the operator keeps it.

import { button, create } from "../viewer/build.js";
import { ask } from "./feed.js";
import { clock } from "./recording.js";

const EVERY_MS = 2000; // between two questions about a running call

const ENDS = { interrupted: "interrupted", model_lost: "cut short", unanswered: "no reply" };

export class Transcript {
  #panel;
  #note;
  #seek;
  /** @type {{ at: number, who: string, text: string, end?: string }[]} */ #said = [];
  #shown = "";
  #timer = 0;
  #path = "";

  /** @param {{ panel: HTMLElement, note: HTMLElement }} elements @param {(t: number) => void} seek */
  constructor({ panel, note }, seek) {
    this.#panel = panel;
    this.#note = note;
    this.#seek = seek;
  }

  /** Shows the transcript of a call; "" shows none. @param {string} path */
  open(path) {
    clearTimeout(this.#timer);
    this.#path = path;
    this.#said = [];
    this.#shown = "";
    this.#note.textContent = "";
    this.#panel.replaceChildren();
    if (path) this.#ask();
  }

  /** A running call is followed no more: what is known of it stays. */
  end() {
    clearTimeout(this.#timer);
    if (this.#path.startsWith("calls/")) this.#path = "";
  }

  async #ask() {
    const path = this.#path;
    let why = "";
    try {
      const answer = await ask(`${path}/transcript`);
      if (path !== this.#path) return;
      this.#said = answer.said;
      why = answer.why ?? "";
    } catch (error) {
      if (!path.startsWith("calls/")) why = error instanceof Error ? error.message : String(error); // the feed of a running call says it
    }
    if (path !== this.#path) return;
    this.#note.textContent = why;
    this.#shown = "";
    if (path.startsWith("calls/") && !why) this.#timer = window.setTimeout(() => this.#ask(), EVERY_MS);
  }

  /** @param {number} t */
  show(t) {
    const now = this.#said.findLastIndex((s) => s.at <= t);
    const key = `${now} ${this.#said.length}`;
    if (key === this.#shown) return;
    this.#shown = key;
    const rows = this.#said.map(({ at, who, text, end }, i) => {
      const title = create("div", "turn-head", button(`${who === "caller" ? "Caller" : "Model"} at ${clock(at)}`, () => this.#seek(at), "link"));
      const why = ENDS[/** @type {keyof ENDS} */ (end)];
      if (why) title.append(create("span", "chip", why));
      const words = create("p", "", text);
      words.dir = "auto";
      const row = create("li", `line ${who}`, title, words);
      row.classList.toggle("now", i === now);
      return row;
    });
    if (rows.length === 0 && !this.#note.textContent) rows.push(create("li", "label", "Nothing yet. A turn appears when it has ended."));
    this.#panel.replaceChildren(...rows);
  }
}
