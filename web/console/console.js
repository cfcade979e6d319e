// The console: a list of calls, and one call. The address says which: #calls/ID, #archives/NAME.

import { create } from "../viewer/build.js";
import { CallView } from "./call-view.js";
import { ask } from "./feed.js";

const LIST_MS = 2000;
const element = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));

const PHASES = {
  listening: "Listening", caller: "Caller speaks", thinking: "Thinking", reply: "Speaking", paused: "Paused", ending: "Ending",
};

/** @param {string} state @param {string} [trouble] */
function say(state, trouble = "") {
  if (state) element("state").textContent = state;
  document.body.dataset.state = { Live: "live", Loading: "connecting", "Not available": "failed" }[state] ?? document.body.dataset.state ?? "";
  element("trouble").hidden = trouble === "";
  element("trouble").textContent = trouble;
}

const view = new CallView(say);
/** @type {any} */ (window).voicegwConsole = view;
let timer = 0;

async function list() {
  clearTimeout(timer);
  try {
    const { calls, archives, more_archives: isMore, archives_trouble: trouble, now } = await ask("calls");
    if (location.hash.length > 1) return;
    showCalls(calls, Date.parse(now));
    element("archive-count").textContent = isMore ? `the newest ${archives.length}` : String(archives.length);
    element("archives").replaceChildren(...(archives.length > 0 ? archives.map(archived) : [create("li", "label", "None. With the setting archive, each call leaves one.")]));
    say("Connected", trouble);
  } catch (error) {
    say("Not available", error instanceof Error ? error.message : String(error));
  }
  timer = window.setTimeout(list, LIST_MS);
}

/** @param {any[]} calls @param {number} now */
function showCalls(calls, now) {
  element("running-count").textContent = String(calls.length);
  const items = calls.map((c) => {
    const state = !c.state ? "No answer" : c.state.on_hold ? "On hold" : !c.state.model_online ? "No model" : PHASES[/** @type {keyof PHASES} */ (c.state.phase)] ?? c.state.phase;
    const chip = create("span", "chip", state);
    chip.dataset.phase = c.state?.on_hold ? "held" : c.state?.phase ?? "unknown";
    const seconds = Math.max(0, Math.round((now - Date.parse(c.began)) / 1000));
    const facts = [c.endpoint, c.from && `from ${c.from}`, c.to && `to ${c.to}`, c.client].filter(Boolean).join(" · ");
    return item(`#calls/${c.id}`, c.id, facts, `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`, chip);
  });
  element("running").replaceChildren(...(items.length > 0 ? items : [create("li", "label", "No call is up.")]));
}

/** @param {any} a */
function archived(a) {
  return item(`#archives/${encodeURIComponent(a.name)}`, a.name, new Date(a.written).toLocaleString(), `${Math.ceil(a.bytes / 1024).toLocaleString()} KB`);
}

/** @param {string} href @param {string} title @param {string} facts @param {string} right @param {HTMLElement[]} chips */
function item(href, title, facts, right, ...chips) {
  const link = create("a", "call-link", create("b", "", title), create("span", "label", facts), ...chips, create("span", "right", right));
  link.href = href;
  return create("li", "", link);
}

function route() {
  const [kind, name] = location.hash.slice(1).split("/");
  const isCall = (kind === "calls" || kind === "archives") && Boolean(name);
  element("lists").hidden = isCall;
  element("call").hidden = !isCall;
  say("Loading");
  clearTimeout(timer);
  view.close();
  if (isCall) view.open(/** @type {any} */ (kind), decodeURIComponent(name));
  else list();
  document.title = isCall ? `${decodeURIComponent(name)} · Console` : "Console";
}

addEventListener("hashchange", route);
route();
