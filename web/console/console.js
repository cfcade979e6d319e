// The console: a list of calls, and one call. The address says which: #calls/ID, #archives/NAME.

import { create } from "../viewer/build.js";
import { CallView } from "./call-view.js";
import { ask } from "./feed.js";

const LIST_MS = 2000;
const element = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));

const PHASES = {
  listening: "Listening", caller: "Caller speaks", thinking: "Thinking", reply: "Speaking", paused: "Paused", ending: "Ending",
};

const STATES = { Live: "live", Connected: "live", Loading: "connecting", "Not available": "failed", Disconnected: "failed" };

/** @param {string} state @param {string} [trouble] */
function say(state, trouble = "") {
  if (state) element("state").textContent = state;
  if (state) document.body.dataset.state = STATES[/** @type {keyof STATES} */ (state)] ?? "over";
  element("trouble").hidden = trouble === "";
  element("trouble").textContent = trouble;
}

const view = new CallView(say);
/** @type {any} */ (window).voicegwConsole = view;
let timer = 0;
let older = ""; // where the archives that are not shown begin
let search = ""; // the query of the search whose calls are shown, "" if that is the list

async function list() {
  clearTimeout(timer);
  try {
    const { calls, archives: page, now } = document.hidden ? await shown() : await ask("calls");
    if (location.hash.length > 1) return;
    showCalls(calls, Date.parse(now));
    element("archive-count").textContent = String(page.all);
    if (!search && element("older-archives").childElementCount === 0) { // else what was paged to stays as it is
      element("archives").replaceChildren(...(page.archives.length > 0 ? page.archives.map(archived) : [create("li", "label", "None. With the setting archive, each call leaves one.")]));
      setOlder(page.older);
    }
    say("Connected", page.trouble);
  } catch (error) {
    say("Not available", error instanceof Error ? error.message : String(error));
  }
  timer = window.setTimeout(list, LIST_MS);
}

/** Waits until somebody looks at the page, and asks then. */
async function shown() {
  await new Promise((seen) => document.addEventListener("visibilitychange", seen, { once: true }));
  return ask("calls");
}

/** @param {string} [place] */
function setOlder(place = "") {
  older = place;
  element("older").hidden = place === "";
}

/** Shows the next page of archives, or of calls that were found, below those that are shown. */
async function showOlder() {
  try {
    if (search) return await showFound(`&after=${encodeURIComponent(older)}`);
    const page = await ask(`archives?after=${encodeURIComponent(older)}`);
    element("older-archives").append(...page.archives.map(archived));
    setOlder(page.older);
  } catch (error) {
    say("", error instanceof Error ? error.message : String(error));
  }
}

/** Searches for what the fields say. Without anything in them it shows the list. @param {Event} [event] */
async function find(event) {
  event?.preventDefault();
  const query = new URLSearchParams();
  if (element("find").value.trim()) query.set("text", element("find").value.trim());
  for (const bound of ["since", "until"]) {
    const { value } = element(`find-${bound}`);
    if (value) query.set(bound, new Date(value).toISOString());
  }
  search = query.toString();
  element("older-archives").replaceChildren();
  element("found").textContent = "";
  setOlder();
  if (!search) return list();
  element("archives").replaceChildren();
  try {
    await showFound();
  } catch (error) {
    element("found").textContent = error instanceof Error ? error.message : String(error);
  }
}

/** Shows a page of calls that were found below those that are shown. @param {string} [after] */
async function showFound(after = "") {
  const query = search;
  const page = await ask(`search?${query}${after}`);
  if (query !== search) return;
  element(after ? "older-archives" : "archives").append(...page.calls.map(foundCall));
  setOlder(page.older);
  const n = element("archives").childElementCount + element("older-archives").childElementCount;
  const back = page.until ? `, back to ${new Date(page.until).toLocaleString()}` : "";
  element("found").textContent = `${n || "No"} call${n > 1 ? "s" : ""} found${back}. ${page.trouble ?? ""}`.trim();
}

/** @param {any} c */
function foundCall(c) {
  const seconds = Math.round(c.duration_ms / 1000);
  const facts = [`began ${new Date(c.began).toLocaleString()}`, c.endpoint, c.from && `from ${c.from}`, c.to && `to ${c.to}`, c.client, (c.reason ?? "").replaceAll("_", " "), c.archived ? "" : "no archive"].filter(Boolean).join(" · ");
  return item(c.archived ? `#archives/${encodeURIComponent(c.call)}` : "", c.call, facts, `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`);
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
  if (a.record) return foundCall({ ...a.record, archived: true });
  return item(`#archives/${encodeURIComponent(a.name)}`, a.name, `ended ${new Date(a.written).toLocaleString()}`, "");
}

/** An item that leads to href, "" being nowhere. @param {string} href @param {string} title @param {string} facts @param {string} right @param {HTMLElement[]} chips */
function item(href, title, facts, right, ...chips) {
  const link = create(href ? "a" : "div", "call-link", create("b", "", title), create("span", "label", facts), ...chips, create("span", "right", right));
  if (link instanceof HTMLAnchorElement) link.href = href;
  return create("li", "", link);
}

function route() {
  const [kind, name] = location.hash.slice(1).split("/");
  const isCall = (kind === "calls" || kind === "archives") && Boolean(name);
  element("lists").hidden = isCall;
  element("call").hidden = !isCall;
  element("back").hidden = !isCall;
  say("Loading");
  clearTimeout(timer);
  view.close();
  if (isCall) {
    view.open(`${kind}/${name}`);
  } else if (search) { // as it was, with its pages
    list();
  } else {
    element("older-archives").replaceChildren();
    setOlder();
    list();
  }
  document.title = isCall ? `${decodeURIComponent(name)} · Console` : "Console";
}

element("older").addEventListener("click", showOlder);
element("search").addEventListener("submit", find);
element("search").addEventListener("reset", () => setTimeout(find));
if ("shared" in document.body.dataset) { // one call, for somebody who has a link to it
  element("lists").hidden = true;
  element("call").hidden = false;
  view.open("call");
} else {
  addEventListener("hashchange", route);
  route();
}
