// Turns with their latency, silences, and events.

import { button, create } from "../viewer/build.js";
import { clock, clock3, span } from "./recording.js";

const ENDS = {
  complete: "played to its end",
  interrupted: "interrupted",
  model_lost: "cut short: the connection was lost",
  call_over: "the call ended",
};

const SVG = "http://www.w3.org/2000/svg";

/** Draws the stages of a turn as bars. @param {any} turn @param {number} longest */
function waterfall(turn, longest) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "waterfall");
  svg.setAttribute("viewBox", "0 0 1000 16");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "presentation");
  const zero = turn.speech_ended || turn.turn_ended;
  for (const { name, from, ms } of turn.stages ?? []) {
    const rect = document.createElementNS(SVG, "rect");
    rect.setAttribute("x", String(Math.max(0, ((from - zero) / longest) * 1000)));
    rect.setAttribute("width", String(Math.max(4, (ms / longest) * 1000)));
    rect.setAttribute("y", "2");
    rect.setAttribute("height", "12");
    rect.setAttribute("class", `stage-${name.match(/\w+/)}`);
    svg.append(rect);
  }
  return svg;
}

/** The latency of a turn: until the caller's side played the reply. @param {any} turn */
export function latency(turn) {
  const zero = turn.speech_ended || turn.turn_ended;
  const end = turn.played_first || turn.sent_first;
  return zero && end ? end - zero : 0;
}

/** @param {any} turn */
function stages(turn) {
  return (turn.stages ?? []).map((/** @type {any} */ s) => `${s.name} ${span(s.ms)}`).join(" · ");
}

/** @param {any} turn */
function heard(turn) {
  return `heard ${span(turn.heard_ms)} of ${span(turn.sent_ms)}${turn.silent_ms ? `, with ${span(turn.silent_ms)} of silence in it` : ""}`;
}

/**
 * @param {HTMLElement} panel @param {import("./recording.js").Recording} rec @param {number} t
 * @param {(t: number) => void} seek
 */
export function showTurns(panel, rec, t, seek) {
  const turns = rec.turns.slice(-200);
  const longest = Math.max(500, ...turns.map(latency));
  const rows = turns.map((turn) => {
    const begin = turn.speech_began || turn.turn_ended || turn.sent_first || 0;
    const title = button(`${turn.n + 1}. ${turn.prompt ? "Prompt" : turn.speech_began ? "Caller, then reply" : "Reply"}`, () => seek(begin), "link");
    const wait = latency(turn);
    const end = ENDS[/** @type {keyof ENDS} */ (turn.end)] ?? (turn.sent_first ? "being played" : "no reply yet");
    const row = create(
      "article",
      "turn",
      create("div", "turn-head", title, create("span", "label", clock(begin)), create("b", "turn-wait", wait ? span(wait) : "–")),
      waterfall(turn, longest),
      create("p", "label", [stages(turn), turn.tools ? `${turn.tools} function call${turn.tools > 1 ? "s" : ""}` : "", `${end}, ${heard(turn)}`].filter(Boolean).join(" · ")),
    );
    row.classList.toggle("now", begin <= t && (!turn.ended || t <= turn.ended));
    return row;
  });
  replace(panel, rows.length > 0 ? rows : [create("p", "label", "No turn yet.")]);
}

/**
 * @param {HTMLElement} list @param {import("./recording.js").Recording} rec @param {number} t
 * @param {(t: number) => void} seek
 */
export function showSilences(list, rec, t, seek) {
  const longest = rec.longestSilence();
  const items = rec.silences.filter(Boolean).slice(-100).map((s) => {
    const chip = create("span", "chip", s.key.replaceAll("_", " "));
    if (s.key !== "caller_silent") chip.dataset.phase = "thinking";
    const item = create(
      "li",
      "silence",
      create("div", "turn-head", button(`${span(s.to - s.from)} at ${clock(s.from)}`, () => seek(s.from + (s.to - s.from) / 2), "link"), ...(s === longest ? [create("b", "longest", "the longest")] : []), chip),
      create("p", "", s.text),
    );
    item.classList.toggle("now", s.from <= t && t <= s.to);
    return item;
  });
  replace(list, items.length > 0 ? items : [create("li", "label", "None: somebody could be heard all the time.")]);
}

/** Fills a list that scrolls. When another row than before is that of the moment, it comes into sight. @param {HTMLElement} list @param {HTMLElement[]} rows */
function replace(list, rows) {
  const now = rows.findLastIndex((r) => r.matches(".now"));
  const isSame = list.dataset.now === String(now);
  list.dataset.now = String(now);
  list.replaceChildren(...rows);
  if (now < 0 || isSame) return;
  const { offsetTop: top, offsetHeight: height } = rows[now];
  if (top < list.scrollTop || top + height > list.scrollTop + list.clientHeight) list.scrollTop = top - 8;
}

const ROWS_MAX = 120; // on each side of the moment
const LOOK_MAX = 200_000; // events on each side among which those that fit are looked for

/**
 * Shows the events nearest to a moment, the newest first: those that come after it dimmed, and a line between.
 * @param {HTMLElement} panel @param {import("./recording.js").Recording} rec @param {number} t @param {number} n events up to t
 * @param {{ text: string, frames: boolean }} filter
 */
export function showEvents(panel, rec, t, n, filter) {
  const wanted = filter.text.toLowerCase();
  const fits = rec.kinds.map((k) => (filter.frames || !k.frame) && `${k.kind} ${k.name ?? ""}`.toLowerCase().includes(wanted));
  const rowsOf = (/** @type {number} */ from, /** @type {1 | -1} */ by) => {
    const rows = [];
    let i = from;
    for (; rec.codes[i] !== undefined && rows.length < ROWS_MAX && Math.abs(i - from) < LOOK_MAX; i += by) {
      if (fits[rec.codes[i]]) rows.push(event(rec, i, by > 0));
    }
    if (rec.codes[i] !== undefined) rows.push(create("p", "label", `${by > 0 ? "Later" : "Earlier"} events are not listed. Go to another moment, or filter.`));
    return rows;
  };
  const later = rowsOf(n, 1).reverse();
  const earlier = rowsOf(n - 1, -1);
  const count = (/** @type {HTMLElement[]} */ rows) => rows.filter((r) => r.matches(".event")).length;
  const line = create("p", "moment", create("b", "", clock3(t)), later.length > 0 ? ` · ${count(later)} later, above` : " · none later");
  const before = /** @type {HTMLElement | null} */ (panel.querySelector(".moment"));
  const kept = before ? before.offsetTop - panel.scrollTop : 0;
  const isSame = panel.dataset.moment === `${n} ${wanted} ${filter.frames}`;
  panel.dataset.moment = `${n} ${wanted} ${filter.frames}`;
  panel.replaceChildren(...later, line, ...earlier, ...(later.length + earlier.length > 0 ? [] : [create("p", "label", "No event fits.")]));
  if (later.length > 0) panel.scrollTop = line.offsetTop - (isSame ? kept : panel.clientHeight / 3);
  else if (before?.previousElementSibling) panel.scrollTop = 0;
}

/** @param {import("./recording.js").Recording} rec @param {number} i @param {boolean} isLater */
function event(rec, i, isLater) {
  const { kind, name } = rec.kinds[rec.codes[i]];
  return create("div", `event${isLater ? " later" : ""}`, create("span", "event-time", clock3(rec.times[i])), create("span", `event-kind ${kind}`, kind), ...(name ? [create("code", "", name)] : []));
}
