// The transcript of both sides, turn by turn.

const KEPT_MAX = 200; // turns and notes
const PINNED_PX = 48; // from the end: the log follows new turns
const NAMES = { caller: "You", model: "Model" };

// Why a reply was cut.
/** @type {Record<string, string>} */
const CUTS = {
  interrupted: "You interrupted here",
  model_lost: "The model was lost here",
};

/** @typedef {import("../client/index.js").Turn} Turn */

/** Shows the last turns. It stays at the end unless the person has scrolled away. */
export class TranscriptView {
  #log;
  #newest = 0; // the id of the newest turn that was shown

  /** @param {HTMLElement} log */
  constructor(log) {
    this.#log = log;
  }

  /**
   * Shows a turn that began or changed; with null a call begins, and the log is empty again.
   * @param {Turn | null} turn
   */
  show(turn) {
    if (!turn) return this.#clear();
    if (turn.text === "") return;
    const isPinned = this.#log.scrollHeight - this.#log.scrollTop - this.#log.clientHeight < PINNED_PX;
    const element = turn.id > this.#newest ? this.#begin(turn) : this.#find(turn.id);
    if (!element) return; // it is too old
    showText(element, turn);
    showCut(element, turn);
    if (isPinned) this.#log.scrollTop = this.#log.scrollHeight;
  }

  /**
   * Adds a note between the turns.
   * @param {string} text
   */
  note(text) {
    this.#append(create("p", "aside", text));
  }

  #clear() {
    this.#log.replaceChildren();
    this.#newest = 0;
  }

  /** @param {Turn} turn */
  #begin({ id, who }) {
    const element = create("p", `said ${who}`, "");
    element.dataset.turn = String(id);
    element.append(create("b", "", NAMES[who]), create("span", "words", ""));
    this.#append(element);
    this.#newest = id;
    return element;
  }

  /**
   * @param {number} id
   * @returns {HTMLElement | null}
   */
  #find(id) {
    return this.#log.querySelector(`[data-turn="${id}"]`);
  }

  /** @param {HTMLElement} child */
  #append(child) {
    this.#log.querySelector(".empty")?.remove();
    this.#log.append(child);
    while (this.#log.children.length > KEPT_MAX) this.#log.firstElementChild?.remove();
  }
}

/**
 * Shows the text of a turn, and struck through what was not played. It adds only what is new: a
 * screen reader reads all that is added.
 * @param {HTMLElement} element
 * @param {Turn} turn
 */
function showText(element, { text, cutAt }) {
  const words = element.querySelector(".words");
  if (!words) return;
  const shown = words.textContent ?? "";
  if (cutAt === null && text.startsWith(shown) && !words.querySelector("s")) {
    if (text !== shown) words.append(text.slice(shown.length));
    return;
  }
  words.replaceChildren(text.slice(0, cutAt ?? text.length));
  if (cutAt !== null) words.append(create("s", "", text.slice(cutAt)));
}

/**
 * Says under a reply why it was cut, and how much of it was played.
 * @param {HTMLElement} element
 * @param {Turn} turn
 */
function showCut(element, { end, playedMs }) {
  const why = CUTS[end ?? ""];
  if (!why || element.querySelector(".cut")) return;
  const played = playedMs ? `, after ${(playedMs / 1000).toFixed(1)} s` : "";
  element.append(create("span", "cut", `${why}${played}.`));
}

/**
 * @param {"p" | "b" | "s" | "span"} name
 * @param {string} className
 * @param {string} text
 */
function create(name, className, text) {
  const element = document.createElement(name);
  element.className = className;
  element.textContent = text;
  return element;
}
