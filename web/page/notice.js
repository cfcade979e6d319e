// The notice: one message for the person, with advice.

import { byId } from "./elements.js";

/** @typedef {"info" | "warning" | "error"} Kind */

/** Shows one notice at a time. */
export class Notice {
  #box = byId("notice", HTMLElement);
  #message = byId("notice-message", HTMLElement);
  #advice = byId("notice-advice", HTMLElement);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  constructor() {
    byId("notice-close", HTMLElement).addEventListener("click", () => this.hide());
  }

  /**
   * @param {Kind} kind
   * @param {string} message
   * @param {string} advice
   */
  show(kind, message, advice) {
    clearTimeout(this.#timer);
    this.#box.dataset.kind = kind;
    this.#message.textContent = message;
    this.#advice.textContent = advice;
    this.#box.hidden = false;
  }

  /**
   * Shows a warning that hides itself.
   * @param {string} message
   * @param {string} advice
   * @param {number} ms
   */
  warnFor(message, advice, ms) {
    this.show("warning", message, advice);
    this.#timer = setTimeout(() => this.hide(), ms);
  }

  hide() {
    clearTimeout(this.#timer);
    this.#box.hidden = true;
  }
}
