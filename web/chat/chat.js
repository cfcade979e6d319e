// The page for chats with managed agents. The address names the session: #SESSION_ID, or #new.

import { byId, metaURL } from "../page/elements.js";
import { SessionsAPI } from "./api.js";
import { SessionList } from "./session-list.js";
import { SessionPanel } from "./session-panel.js";
import { StartForm } from "./start-form.js";

/**
 * @typedef {import("./api.js").APIError} APIError
 * @typedef {import("./api.js").Session} Session
 * @typedef {import("./conversation.js").State} State
 */

const TOKEN_KEY = "voicegw.sessions.token"; // in sessionStorage: it ends with the tab
const LISTED = 20; // sessions, at first and for each "more"
const REST_MS = 30_000; // a hidden tab gives its connection back: a browser has six for one gateway

const api = new SessionsAPI(metaURL("voicegw-api"));
const list = new SessionList(byId("sessions", HTMLElement), byId("no-session", HTMLElement));
const panel = new SessionPanel(api, failed, changed);
const start = new StartForm(api, (session) => {
  sessions = [session, ...sessions];
  location.hash = session.id;
});

/** @type {import("./session-list.js").Listed[]} */
let sessions = [];
let shown = LISTED;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let rest;
let isLocked = false;

/** The id of the session that the address names; "" for none. */
function openID() {
  const name = location.hash.slice(1);
  return name === "new" ? "" : name;
}

/** Shows what the address names. */
function route() {
  if (isLocked) return;
  const id = openID();
  document.body.dataset.view = id ? "session" : location.hash === "#new" ? "start" : "list";
  byId("session", HTMLElement).hidden = !id;
  byId("start", HTMLElement).hidden = Boolean(id);
  byId("lost", HTMLElement).hidden = true;
  list.show(sessions, id);
  if (id) {
    panel.open(id);
    return;
  }
  panel.close();
  void attempt(() => start.load());
}

/** Reads the list of sessions. */
async function load() {
  const { data, next_page: next } = await api.sessions(shown, byId("archived", HTMLInputElement).checked);
  sessions = data;
  byId("more", HTMLButtonElement).hidden = next === null;
  list.show(sessions, openID());
}

/**
 * Does something for the list or the form, and shows why it failed.
 * @param {() => Promise<void>} act
 */
async function attempt(act) {
  const problem = byId("list-problem", HTMLElement);
  try {
    await act();
    problem.textContent = "";
  } catch (error) {
    if (!isLocked) problem.textContent = error instanceof Error ? error.message : String(error);
  }
}

/**
 * Shows why the session that is open cannot be shown.
 * @param {APIError} error
 */
function failed(error) {
  if (isLocked) return;
  byId("lost", HTMLElement).hidden = false;
  byId("lost-why", HTMLElement).textContent = error.message;
}

/**
 * Keeps the list in step with the session that is open.
 * @param {State} state
 */
function changed({ session, status, stop }) {
  if (!session) return;
  const now = { ...session, status, stop };
  const known = sessions.find((s) => s.id === session.id);
  if (!known) return;
  const isSame = known.status === status && known.paused === now.paused && known.title === now.title
    && known.archived_at === now.archived_at && known.stop?.type === stop?.type;
  if (isSame) return;
  sessions = sessions.map((s) => (s.id === session.id ? now : s));
  list.show(sessions, openID());
}

/** Asks for a token. Nothing of before can be read any more. */
function lock() {
  if (isLocked) return;
  const hadToken = api.token !== "";
  api.token = "";
  sessionStorage.removeItem(TOKEN_KEY);
  isLocked = true;
  document.body.dataset.view = "token";
  panel.close();
  sessions = [];
  list.show([], "");
  byId("agent", HTMLSelectElement).replaceChildren();
  byId("token-panel", HTMLElement).hidden = false;
  byId("app", HTMLElement).hidden = true;
  byId("token-problem", HTMLElement).textContent = hadToken ? "The gateway refuses this token, or it has run out." : "";
  byId("token", HTMLInputElement).focus();
}

/** Begins with the token that is there. */
function begin() {
  isLocked = false;
  api.token = sessionStorage.getItem(TOKEN_KEY) ?? "";
  byId("token-panel", HTMLElement).hidden = true;
  byId("app", HTMLElement).hidden = false;
  void attempt(load);
  route();
}

api.onUnauthorized = lock;
byId("token-form", HTMLFormElement).addEventListener("submit", (event) => {
  event.preventDefault();
  const input = byId("token", HTMLInputElement);
  sessionStorage.setItem(TOKEN_KEY, input.value.trim());
  input.value = "";
  begin();
});
byId("more", HTMLButtonElement).addEventListener("click", () => {
  shown = Math.min(shown + LISTED, 1000);
  void attempt(load);
});
byId("archived", HTMLInputElement).addEventListener("change", () => void attempt(load));
byId("again", HTMLButtonElement).addEventListener("click", route);
addEventListener("hashchange", () => {
  route();
  (document.body.dataset.view === "session" ? byId("title", HTMLElement) : byId("start-title", HTMLElement)).focus();
});
addEventListener("online", () => panel.wake());
document.addEventListener("visibilitychange", () => {
  clearTimeout(rest);
  if (document.visibilityState === "hidden") {
    rest = setTimeout(() => panel.rest(), REST_MS);
    return;
  }
  if (isLocked) return;
  panel.wake();
  void attempt(load);
});
begin();
