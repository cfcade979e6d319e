// Turns with their latency, silences, and events.

import { button, create } from "../viewer/build.js";
import { clock, span } from "./recording.js";

/** The stages between the end of the caller's speech and the reply in the caller's ear. */
const STAGES = [
  ["end of turn", "speech_ended", "turn_ended", "endpoint"],
  ["model", "turn_ended", "model_first", "model"],
  ["gateway", "model_first", "sent_first", "gateway"],
  ["caller's side", "sent_first", "played_first", "played"],
];

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
  for (const [, from, to, kind] of STAGES) {
    const begin = turn[from] || (from === "speech_ended" ? turn.turn_ended : 0);
    if (!turn[to] || !begin) continue;
    const rect = document.createElementNS(SVG, "rect");
    const x = ((begin - zero) / longest) * 1000;
    rect.setAttribute("x", String(Math.max(0, x)));
    rect.setAttribute("width", String(Math.max(4, ((turn[to] - begin) / longest) * 1000)));
    rect.setAttribute("y", "2");
    rect.setAttribute("height", "12");
    rect.setAttribute("class", `stage-${kind}`);
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
  return STAGES.filter(([, from, to]) => turn[from] && turn[to])
    .map(([title, from, to]) => `${title} ${span(turn[to] - turn[from])}`)
    .join(" · ");
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
      create("p", "label", [stages(turn), turn.tools ? `${turn.tools} function call${turn.tools > 1 ? "s" : ""}` : "", `${end}, heard ${span(turn.heard_ms)} of ${span(turn.sent_ms)}`].filter(Boolean).join(" · ")),
    );
    row.classList.toggle("now", begin <= t && (!turn.ended || t <= turn.ended));
    return row;
  });
  panel.replaceChildren(...(rows.length > 0 ? rows.reverse() : [create("p", "label", "No turn yet.")]));
}

/**
 * @param {HTMLElement} list @param {import("./recording.js").Recording} rec @param {number} t
 * @param {(t: number) => void} seek
 */
export function showSilences(list, rec, t, seek) {
  const items = rec.silences.filter(Boolean).slice(-100).map((s) => {
    const chip = create("span", "chip", s.key.replaceAll("_", " "));
    if (s.key !== "caller_silent") chip.dataset.phase = "thinking";
    const item = create(
      "li",
      "silence",
      create("div", "turn-head", button(`${span(s.to - s.from)} at ${clock(s.from)}`, () => seek(s.from + (s.to - s.from) / 2), "link"), chip),
      create("p", "", s.text),
    );
    item.classList.toggle("now", s.from <= t && t <= s.to);
    return item;
  });
  list.replaceChildren(...(items.length > 0 ? items.reverse() : [create("li", "label", "None: somebody could be heard all the time.")]));
}

const ROWS_MAX = 120;

/**
 * Shows the newest events up to a moment.
 * @param {HTMLElement} panel @param {import("./recording.js").Recording} rec @param {number} n events so far
 * @param {{ text: string, frames: boolean }} filter
 */
export function showEvents(panel, rec, n, filter) {
  const rows = [];
  const wanted = filter.text.toLowerCase();
  for (let i = n - 1, looked = 0; i >= 0 && rows.length < ROWS_MAX && looked < 20_000; i--, looked++) {
    const kind = rec.kinds[rec.codes[i]];
    if (kind.frame && !filter.frames) continue;
    if (wanted && !`${kind.kind} ${kind.name ?? ""}`.toLowerCase().includes(wanted)) continue;
    const row = create("div", "event", create("span", "event-time", clock3(rec.times[i])), create("span", `event-kind ${kind.kind}`, kind.kind), ...(kind.name ? [create("code", "", kind.name)] : []));
    rows.push(row);
  }
  panel.replaceChildren(...(rows.length > 0 ? rows : [create("p", "label", "No event fits.")]));
}

/** A time to the millisecond. @param {number} ms */
function clock3(ms) {
  const whole = Math.floor(ms);
  const seconds = Math.floor(whole / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}.${String(whole % 1000).padStart(3, "0")}`;
}
