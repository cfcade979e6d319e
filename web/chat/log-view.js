// The conversation on the page: messages, calls and notes in their order, what is coming, and what is not
// sent yet.

import { button, create, showText, textBox } from "../viewer/build.js";
import { CallCard } from "./call-card.js";
import { isOver, waitsFor } from "./conversation.js";
import { contentText, noteWords } from "./labels.js";

/**
 * @typedef {import("./conversation.js").Item} Item
 * @typedef {import("./conversation.js").State} State
 *
 * @typedef {object} Handlers
 * @property {import("./call-card.js").Answer} answer
 * @property {(key: string) => void} resend
 * @property {(key: string) => void} discard
 *
 * @typedef {Item | import("./conversation.js").Part | import("./conversation.js").Outgoing} Entry
 * @typedef {{ element: HTMLElement, show: (entry: Entry, state: State) => void }} Row
 */

const PINNED_PX = 64; // from the end: the view follows what is new

/** Shows a conversation in a list that scrolls. */
export class LogView {
  #scroller;
  #list;
  #handlers;
  /** @type {Map<string, Row & { entry: Entry | null, phase: string }>} */
  #rows = new Map();
  #isPinned = true;
  #box = ""; // the size of the scroller

  /**
   * @param {HTMLElement} scroller
   * @param {HTMLElement} list in it
   * @param {Handlers} handlers
   */
  constructor(scroller, list, handlers) {
    this.#scroller = scroller;
    this.#list = list;
    this.#handlers = handlers;
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    const follow = new ResizeObserver(() => {
      this.#box = this.#boxNow();
      if (this.#isPinned) this.toEnd();
    });
    follow.observe(scroller);
    follow.observe(list);
  }

  /** Empties the view, for another session. */
  clear() {
    this.#rows.clear();
    this.#list.replaceChildren();
    this.#isPinned = true;
  }

  /** Scrolls to the end and stays there. */
  toEnd() {
    this.#isPinned = true;
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
  }

  /**
   * @param {State} state
   * @param {boolean} all whether quiet events are shown, too
   */
  show(state, all) {
    const anchor = this.#isPinned ? null : this.#firstVisible();
    const top = anchor?.getBoundingClientRect().top ?? 0;
    const seen = new Set();
    /** @type {Element | null} */
    let next = this.#list.firstElementChild;
    for (const [key, entry] of entries(state, all)) {
      seen.add(key);
      let row = this.#rows.get(key);
      if (!row) this.#rows.set(key, (row = { ...this.#row(entry), entry: null, phase: "" }));
      const phase = phaseOf(entry, state);
      if (row.entry !== entry || row.phase !== phase) row.show(entry, state);
      Object.assign(row, { entry, phase });
      if (row.element === next) next = next.nextElementSibling;
      else this.#list.insertBefore(row.element, next);
    }
    for (const [key, row] of this.#rows) {
      if (seen.has(key)) continue;
      row.element.remove();
      this.#rows.delete(key);
    }
    if (this.#isPinned) this.toEnd();
    else if (anchor) this.#scroller.scrollTop += anchor.getBoundingClientRect().top - top;
  }

  /**
   * @param {Entry} entry
   * @returns {Row}
   */
  #row(entry) {
    if (!("kind" in entry)) return "error" in entry ? outgoingRow(entry.key, this.#handlers) : messageRow("agent");
    if (entry.kind === "note") return noteRow();
    if (entry.kind === "message") return messageRow(entry.who);
    const card = new CallCard(this.#handlers.answer);
    return { element: card.element, show: (call, state) => {
      if ("kind" in call && call.kind === "call") card.show(call, waitsFor(state, call), isOpen(state, call));
    } };
  }

  /** Follows what is new only at the end. A scroll that comes of another size of the window is not the person's. */
  #scrolled() {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < PINNED_PX;
    if (isAtEnd || this.#box === this.#boxNow()) this.#isPinned = isAtEnd;
  }

  #boxNow() {
    return `${this.#scroller.clientWidth} ${this.#scroller.clientHeight}`;
  }

  #firstVisible() {
    const { top } = this.#scroller.getBoundingClientRect();
    const rows = this.#list.children;
    let low = 0;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((rows[middle]?.getBoundingClientRect().bottom ?? top) <= top) low = middle + 1;
      else high = middle;
    }
    return rows[low] ?? null;
  }
}

/**
 * What is shown, in order, with a key for each. What is coming stands behind what is stored, and before
 * the messages that wait for their turn.
 * @param {State} state
 * @param {boolean} all
 * @returns {Generator<[string, Entry]>}
 */
function* entries(state, all) {
  const ahead = state.items.findIndex(isWaiting);
  const stored = ahead < 0 ? state.items : state.items.slice(0, ahead);
  for (const item of stored) {
    if (item.kind !== "note" || !item.quiet || all) yield [item.key, item];
  }
  for (const part of state.parts) {
    if (part.text) yield [part.id, part];
  }
  for (const item of state.items.slice(stored.length)) yield [item.key, item];
  for (const out of state.outbox) yield [`out-${out.key}`, out];
}

/** @param {Item} item */
function isWaiting(item) {
  return item.kind === "message" && item.who === "user" && !item.event.processed_at;
}

/**
 * Whether the turn of a call goes on.
 * @param {State} state
 * @param {import("./conversation.js").Call} call
 */
function isOpen(state, { use }) {
  return !isOver(state) && (use?.seq ?? Infinity) > state.settledSeq;
}

/**
 * What the row of an entry depends on besides the entry.
 * @param {Entry} entry
 * @param {State} state
 */
function phaseOf(entry, state) {
  return "kind" in entry && entry.kind === "call" ? `${waitsFor(state, entry)} ${isOpen(state, entry)}` : "";
}

/**
 * The row of a message, or of the part of one that has come.
 * @param {"user" | "agent"} who
 * @returns {Row}
 */
function messageRow(who) {
  const words = create("div", "words");
  words.dir = "auto";
  const state = create("span", "state");
  const element = create("li", `message ${who}`, create("b", "who", who === "user" ? "You" : "Agent"), words, state);
  return { element, show: (entry) => {
    const isPart = !("kind" in entry);
    if (isPart && "text" in entry) showText(words, entry.text);
    if (!isPart && entry.kind === "message") showText(words, contentText(entry.event.content));
    element.ariaBusy = isPart ? "true" : null;
    state.textContent = !isPart && isWaiting(entry) ? "Waits for its turn" : "";
  } };
}

/** @returns {Row} */
function noteRow() {
  const summary = create("summary", "");
  const details = create("details", "", summary);
  /** @type {Entry | null} */
  let shown = null;
  details.addEventListener("toggle", () => {
    if (!details.open || !shown || !("event" in shown) || details.children.length > 1) return;
    details.append(textBox("Event", JSON.stringify(shown.event, null, 2)));
  });
  return { element: create("li", "note", details), show: (entry) => {
    if (!("event" in entry)) return;
    shown = entry;
    const { text, tone } = noteWords(entry.event);
    summary.textContent = text;
    summary.dataset.tone = tone;
    details.open = false;
    details.replaceChildren(summary);
  } };
}

/**
 * @param {string} key
 * @param {Handlers} handlers
 * @returns {Row}
 */
function outgoingRow(key, { resend, discard }) {
  const words = create("div", "words");
  words.dir = "auto";
  const state = create("span", "state");
  const buttons = create("span", "buttons", button("Send again", () => resend(key)),
    button("Discard", () => discard(key)));
  return { element: create("li", "message user unsent", create("b", "who", "You"), words, state, buttons),
    show: (entry) => {
      if (!("error" in entry)) return;
      showText(words, entry.text);
      state.textContent = entry.error ? `Not sent. ${entry.error}` : "Sending\u2026";
      buttons.hidden = !entry.error;
    } };
}
