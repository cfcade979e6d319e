// The list of sessions.

import { create } from "../viewer/build.js";
import { shortTime, statusWords, titleOf } from "./labels.js";

/**
 * @typedef {import("./api.js").Session & { stop?: import("./api.js").StopReason | null }} Listed a session; stop is
 * known of the one that is open
 */

/** Shows the sessions, each a link to itself. */
export class SessionList {
  #list;
  #empty;

  /**
   * @param {HTMLElement} list
   * @param {HTMLElement} empty shown when there is no session
   */
  constructor(list, empty) {
    this.#list = list;
    this.#empty = empty;
  }

  /**
   * Shows sessions in this order.
   * @param {Listed[]} sessions
   * @param {string} open the id of the one that is open
   */
  show(sessions, open) {
    this.#empty.hidden = sessions.length > 0;
    const focused = this.#list.contains(document.activeElement) ? document.activeElement?.getAttribute("href") : null;
    const now = new Date();
    this.#list.replaceChildren(...sessions.map((s) => create("li", "", link(s, s.id === open, now))));
    if (focused) [...this.#list.querySelectorAll("a")].find((a) => a.getAttribute("href") === focused)?.focus();
  }
}

/**
 * @param {Listed} session
 * @param {boolean} isOpen
 * @param {Date} now
 */
function link(session, isOpen, now) {
  const title = create("b", "title", titleOf(session));
  title.dir = "auto";
  const { text, tone } = statusWords(session);
  const state = create("span", "state", text);
  state.dataset.tone = tone;
  const time = create("time", "", shortTime(session.created_at, now));
  time.dateTime = session.created_at;
  const element = create("a", "session", title, create("span", "line", state, " \u00b7 ", time));
  element.href = `#${session.id}`;
  if (isOpen) element.setAttribute("aria-current", "true");
  return element;
}
