// The panel of the session that is open: its head, the conversation, and the composer.

import { byId } from "../page/elements.js";
import { isOver } from "./conversation.js";
import { LogView } from "./log-view.js";
import { OpenSession } from "./open-session.js";
import { contentText, noteWords, stateWords, titleOf, usageWords } from "./labels.js";

/**
 * @typedef {import("./api.js").APIError} APIError
 * @typedef {import("./api.js").SessionEvent} SessionEvent
 * @typedef {import("./api.js").SessionsAPI} SessionsAPI
 * @typedef {import("./conversation.js").State} State
 */

const EARLIER_PX = 400; // from the top: earlier events are loaded

/** @type {Record<State["connection"], string>} */
const CONNECTIONS = { connecting: "Connecting", live: "Connected", reconnecting: "Reconnecting\u2026", off: "Not connected" };

/** Shows one session at a time. */
export class SessionPanel {
  #api;
  #failed;
  #changed;
  #scroller = byId("scroller", HTMLElement);
  #earlier = byId("earlier", HTMLButtonElement);
  #all = byId("all", HTMLInputElement);
  #text = byId("text", HTMLTextAreaElement);
  #pause = byId("pause", HTMLButtonElement);
  #problem = byId("problem", HTMLElement);
  #announcer = byId("announcer", HTMLElement);
  #archive = byId("archive-dialog", HTMLDialogElement);
  #log;
  /** @type {OpenSession | null} */
  #session = null;
  #frame = 0;

  /**
   * @param {SessionsAPI} api
   * @param {(error: APIError) => void} failed the session cannot be shown
   * @param {(state: State) => void} changed
   */
  constructor(api, failed, changed) {
    this.#api = api;
    this.#failed = failed;
    this.#changed = changed;
    this.#log = new LogView(this.#scroller, byId("log", HTMLElement), {
      answer: async (event) => this.#session?.send(event),
      resend: (key) => this.#session?.resend(key),
      discard: (key) => this.#session?.discard(key),
    });
    this.#listen();
  }

  /**
   * Opens a session instead of the one that is open.
   * @param {string} id
   */
  open(id) {
    this.close();
    /** @type {OpenSession} */
    const session = new OpenSession(this.#api, id, {
      changed: () => this.#frame ||= requestAnimationFrame(() => this.#show()),
      heard: (event) => this.#announce(event),
      failed: (error) => this.#failed(error),
    });
    this.#session = session;
    this.#show();
  }

  /** Closes the session and forgets all of it. */
  close() {
    this.#session?.close();
    this.#session = null;
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#log.clear();
    this.#problem.textContent = this.#announcer.textContent = byId("title", HTMLElement).textContent = "";
    byId("connection", HTMLElement).textContent = this.#text.value = "";
    this.#archive.close();
  }

  /** Lets go of the connection while nobody looks. */
  rest() {
    this.#session?.rest();
  }

  /** Connects again now. */
  wake() {
    this.#session?.wake();
  }

  #listen() {
    byId("composer", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      this.#say();
    });
    this.#text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#say();
    });
    byId("interrupt", HTMLButtonElement).addEventListener("click", () =>
      this.#attempt(async () => this.#session?.send({ type: "user.interrupt" })));
    this.#pause.addEventListener("click", () => this.#attempt(async () =>
      this.#session?.steer(this.#session.state.session?.paused ? "resume" : "pause")));
    byId("archive", HTMLButtonElement).addEventListener("click", () => this.#archive.showModal());
    this.#archive.addEventListener("close", () => {
      if (this.#archive.returnValue === "archive") this.#attempt(async () => this.#session?.steer("archive"));
      this.#archive.returnValue = "";
    });
    this.#all.addEventListener("change", () => this.#show());
    this.#earlier.addEventListener("click", () => this.#loadEarlier());
    this.#scroller.addEventListener("scroll", () => {
      if (this.#scroller.scrollTop < EARLIER_PX) this.#loadEarlier();
    }, { passive: true });
  }

  #say() {
    const text = this.#text.value.trim();
    if (!text || !this.#session || this.#session.isOver) return;
    this.#session.say(text);
    this.#text.value = "";
    this.#log.toEnd();
  }

  #loadEarlier() {
    if (this.#session?.state.earlier) this.#attempt(async () => this.#session?.earlier());
  }

  /**
   * Does something, and shows why it failed.
   * @param {() => Promise<unknown>} act
   */
  #attempt(act) {
    const session = this.#session;
    this.#problem.textContent = "";
    act().catch((error) => {
      if (session === this.#session) this.#problem.textContent = error instanceof Error ? error.message : String(error);
    });
  }

  #show() {
    this.#frame = 0;
    const state = this.#session?.state;
    if (!state) return;
    const { session, connection, status } = state;
    const { text, tone } = stateWords(state);
    byId("title", HTMLElement).textContent = session ? titleOf(session) : "";
    byId("agent-of", HTMLElement).textContent = session ? `${session.agent.name}, ${session.agent.model.id}` : "";
    byId("usage", HTMLElement).textContent = session ? usageWords(session.usage) : "";
    const badge = byId("status", HTMLElement);
    if (badge.textContent !== text) badge.textContent = text; // a screen reader reads what changes
    badge.dataset.tone = tone;
    const link = byId("connection", HTMLElement);
    const words = state.deleted ? "" : CONNECTIONS[connection];
    if (link.textContent !== words) link.textContent = words;
    link.dataset.state = connection;
    const over = isOver(state);
    const isAtWork = status === "running" || status === "rescheduling" || state.stop?.type === "requires_action";
    byId("interrupt", HTMLButtonElement).hidden = over || !isAtWork;
    byId("archive", HTMLButtonElement).hidden = state.deleted || !session || session.archived_at !== null;
    this.#pause.hidden = over || !session;
    this.#pause.textContent = session?.paused ? "Resume" : "Pause";
    byId("composer", HTMLFormElement).hidden = over;
    byId("over", HTMLElement).hidden = !over;
    this.#earlier.hidden = !state.earlier;
    this.#log.show(state, this.#all.checked);
    this.#changed(state);
  }

  /**
   * Has a screen reader read what is new, once it is whole.
   * @param {SessionEvent} event
   */
  #announce(event) {
    const text = announcement(event);
    if (!text) return;
    const line = document.createElement("p");
    line.textContent = text;
    this.#announcer.append(line);
    while (this.#announcer.children.length > 5) this.#announcer.firstElementChild?.remove();
  }
}

/** @param {SessionEvent} event */
function announcement(event) {
  switch (event.type) {
    case "agent.message":
      return `Agent: ${contentText(event.content)}`;
    case "agent.custom_tool_use":
      return `The agent asks for your result of ${event.name}.`;
    case "agent.tool_use":
    case "agent.mcp_tool_use":
      return event.evaluated_permission === "ask" ? `The agent asks whether it may call ${event.name}.` : "";
    case "session.error":
      return noteWords(event).text;
    default:
      return "";
  }
}
