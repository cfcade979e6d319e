// One session on the page: it loads the newest events, follows the stream, loads earlier events on demand,
// and sends what the person says.

import { APIError, newKey } from "./api.js";
import { isOver, nothing, order, reduce } from "./conversation.js";
import { EventStream } from "./event-stream.js";

/**
 * @typedef {import("./api.js").SessionEvent} SessionEvent
 * @typedef {import("./api.js").SessionsAPI} SessionsAPI
 * @typedef {import("./conversation.js").Action} Action
 * @typedef {import("./conversation.js").State} State
 *
 * @typedef {object} Watcher
 * @property {(state: State) => void} changed
 * @property {(event: SessionEvent) => void} heard a stored event that is new
 * @property {(error: APIError) => void} failed the session cannot be shown, or no longer
 */

const NEWEST = 200; // events of the first page
const EARLIER = 1000; // events of each page before it
const REFRESH_MS = 15_000; // how often a visible session is looked at: no event tells of a pause

/** Keeps one session in step with the gateway until it is closed. */
export class OpenSession {
  /** What is known of the session. */
  state = nothing();
  #api;
  #id;
  #watcher;
  #closed = new AbortController();
  /** @type {EventStream | null} */
  #stream = null;
  #isLoaded = false;
  #isLoading = false;
  #sending = Promise.resolve();
  /** @type {ReturnType<typeof setInterval>} */
  #timer;

  /**
   * @param {SessionsAPI} api
   * @param {string} id
   * @param {Watcher} watcher
   */
  constructor(api, id, watcher) {
    this.#api = api;
    this.#id = id;
    this.#watcher = watcher;
    this.#timer = setInterval(() => document.visibilityState === "visible" && void this.refresh(), REFRESH_MS);
    void this.#load();
  }

  /** Ends it. Nothing is told after that. */
  close() {
    this.#closed.abort();
    this.#stream?.stop();
    clearInterval(this.#timer);
  }

  /** Lets go of the connection while nobody looks. */
  rest() {
    this.#stream?.stop();
    this.#stream = null;
  }

  /** Connects again, or hurries a connection that waits for its next attempt. */
  wake() {
    if (this.#stream) this.#stream.hurry();
    else if (this.#isLoaded && !this.state.deleted) this.#follow();
    if (this.#isLoaded) void this.refresh();
  }

  /** Asks for the session itself. A failure is left to the stream. */
  async refresh() {
    if (this.state.deleted) return;
    const { signal } = this.#closed;
    const session = await this.#api.session(this.#id, signal, 1).catch(() => null);
    if (session) this.#dispatch({ type: "refreshed", session });
  }

  /** Loads the page before the window. */
  async earlier() {
    if (this.#isLoading || !this.state.earlier) return;
    this.#isLoading = true;
    const { signal } = this.#closed;
    try {
      const { data, next_page: next } = await this.#api.events(this.#id, EARLIER, this.state.earlier, signal);
      this.#dispatch({ type: "page", events: data, next });
    } finally {
      this.#isLoading = false;
    }
  }

  /**
   * Sends a message, behind those before it. It stands in the outbox until it is accepted.
   * @param {string} text
   */
  say(text) {
    this.#say(newKey(), text);
  }

  /**
   * Sends a message of the outbox again. The key is the same: it counts once.
   * @param {string} key
   */
  resend(key) {
    const text = this.state.outbox.find((o) => o.key === key)?.text;
    if (text !== undefined) this.#say(key, text);
  }

  /**
   * Removes a message from the outbox.
   * @param {string} key
   */
  discard(key) {
    this.#dispatch({ type: "discarded", key });
  }

  /**
   * Sends an event of another kind. Rejects with an APIError.
   * @param {SessionEvent} event
   */
  async send(event) {
    const key = newKey();
    this.#dispatch({ type: "accepted", events: await this.#api.send(this.#id, [event], key), key });
  }

  /**
   * Pauses, resumes or archives the session. Rejects with an APIError.
   * @param {"pause" | "resume" | "archive"} verb
   */
  async steer(verb) {
    this.#dispatch({ type: "refreshed", session: await this.#api.steer(this.#id, verb) });
  }

  /**
   * @param {string} key
   * @param {string} text
   */
  #say(key, text) {
    this.#dispatch({ type: "sending", key, text });
    const event = { type: "user.message", content: [{ type: "text", text }] };
    this.#sending = this.#sending.then(() => this.#api.send(this.#id, [event], key)).then(
      (events) => this.#dispatch({ type: "accepted", events, key }),
      (error) => this.#dispatch({ type: "unsent", key, text, error: error.message }));
  }

  async #load() {
    const { signal } = this.#closed;
    try {
      const session = await this.#api.session(this.#id, signal);
      this.#dispatch({ type: "refreshed", session });
      const { data, next_page: next } = await this.#api.events(this.#id, NEWEST, null, signal);
      this.#isLoaded = true;
      this.#dispatch({ type: "page", events: data, next });
      if (!signal.aborted) this.#follow();
    } catch (error) {
      if (!signal.aborted && error instanceof APIError) this.#watcher.failed(error);
    }
  }

  #follow() {
    this.#stream = new EventStream({
      open: (signal) => this.#api.stream(this.#id, this.state.lastSeq, signal),
      take: (event) => this.#take(event),
      changed: (connection) => this.#dispatch({ type: "connection", connection }),
      failed: (error) => {
        if (!this.#closed.signal.aborted) this.#watcher.failed(error);
      },
    });
  }

  /** @param {SessionEvent} event */
  #take(event) {
    const place = order(this.state, event);
    if (place !== "next") return place === "old";
    this.#dispatch({ type: "event", event });
    if (this.#closed.signal.aborted) return true;
    if (event.seq) this.#watcher.heard(event);
    if (event.type === "session.updated" || event.type === "session.status_terminated") void this.refresh();
    return true;
  }

  /** @param {Action} action */
  #dispatch(action) {
    if (this.#closed.signal.aborted) return;
    this.state = reduce(this.state, action);
    this.#watcher.changed(this.state);
  }

  /** Whether the session takes nothing more. */
  get isOver() {
    return isOver(this.state);
  }
}
