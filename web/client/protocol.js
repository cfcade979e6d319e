// The events of the voicegw.v1 protocol: what the client sends, and what it understands.

export const SUBPROTOCOL = "voicegw.v1";
export const RESUME_SUBPROTOCOL = "resume"; // offered beside it to go on with a call
export const VERSION = 1;
export const RATE_MIN = 8_000;
export const RATE_MAX = 48_000;

/**
 * An event of the gateway that decode has checked. Fields that decode does not know are kept.
 * @typedef {import("./index.js").Ready & {type: "ready"}} ReadyEvent
 * @typedef {{type: "speech", state: "start" | "stop"}} SpeechEvent
 * @typedef {{type: "turn", state: "start" | "pause" | "resume" | "end", generation: number,
 *   reason?: import("./index.js").VoiceEvents["turn"]["reason"], heard_ms?: number | null}}
 *   TurnEvent
 * @typedef {{type: "transcript", who: import("./index.js").Who, text: string, final?: boolean |
 *   null, generation?: number | null}} TranscriptEvent
 * @typedef {{type: "clear", generation: number}} ClearEvent
 * @typedef {{type: "mark", id: string, generation: number}} MarkEvent
 * @typedef {{type: "net", at_ms?: number | null, fired?: string[] | null,
 *   marking?: Record<string, number> | null}} NetEvent
 * @typedef {{type: "net_graph", svg: string}} NetGraphEvent
 * @typedef {{type: "tool_call", id: string, name: string, args?: Record<string, unknown> | null}}
 *   ToolCallEvent
 * @typedef {{type: "tool_cancel", id: string}} ToolCancelEvent
 * @typedef {{type: "hold" | "consent" | "protected", state: "start" | "stop"}} ModeEvent
 * @typedef {{type: "model", state: "lost" | "back"}} ModelEvent
 * @typedef {{type: "transfer", to?: string | null}} TransferEvent
 * @typedef {{type: "message", name: string, data?: unknown}} MessageEvent
 * @typedef {{type: "error", code: string, message?: string, fatal?: boolean | null}} ErrorEvent
 * @typedef {{type: "bye", reason: string, message?: string}} ByeEvent
 * @typedef {{type: "unknown", name: string}} UnknownEvent
 * @typedef {ReadyEvent | SpeechEvent | TurnEvent | TranscriptEvent | ClearEvent | MarkEvent |
 *   NetEvent | NetGraphEvent | ToolCallEvent | ToolCancelEvent | ModeEvent | ModelEvent |
 *   TransferEvent | MessageEvent | ErrorEvent | ByeEvent | UnknownEvent} ServerEvent
 */

/**
 * An event that a page sends in a live call.
 * @typedef {{type: "text", text: string} | {type: "dtmf", digits: string} |
 *   {type: "talk" | "hold" | "consent", on: boolean} | {type: "message", name: string, data:
 *   unknown}} CallerEvent
 */

/** @typedef {(value: unknown) => boolean} Check */

/** @type {Check} */
const isText = (v) => typeof v === "string";
/** @type {Check} */
const isCount = (v) => Number.isInteger(v) && Number(v) >= 0;
/** @type {Check} */
const isFlag = (v) => typeof v === "boolean";
/** @type {Check} */
const isRate = (v) => Number.isInteger(v) && Number(v) >= RATE_MIN && Number(v) <= RATE_MAX;
/** @type {Check} */
const isObject = (v) => typeof v === "object" && v !== null && !Array.isArray(v);
/** @type {(...values: unknown[]) => Check} */
const oneOf =
  (...values) =>
  (v) =>
    values.includes(v);
/** @type {(check: Check) => Check} */
const listOf = (check) => (v) => Array.isArray(v) && v.every(check);
/** @type {Check} */
const isCounts = (v) => isObject(v) && Object.values(Object(v)).every(isCount);
/** @type {(check: Check) => Check} */
const optional = (check) => (v) => v === undefined || v === null || check(v);

/** @type {Check} */
const isResume = (v) => isObject(v) && isText(Object(v).handle) && isCount(Object(v).within_ms);

// The events of the gateway, each with the fields that this client relies on. Other fields are not
// checked.
/** @type {Record<string, Record<string, Check>>} */
const EVENTS = {
  ready: {
    call: isText,
    version: oneOf(VERSION),
    input_rate: isRate,
    output_rate: isRate,
    frame_ms: optional(isCount),
    ack_ms: optional(isCount),
    budget_ms: optional(isCount),
    detection: optional(isText),
    model: optional(isObject),
    greeting: optional(isFlag),
    limits: optional(isObject),
    resume: optional(isResume),
  },
  speech: { state: oneOf("start", "stop") },
  turn: {
    state: oneOf("start", "pause", "resume", "end"),
    generation: isCount,
    reason: optional(isText),
    heard_ms: optional(isCount),
  },
  transcript: {
    who: oneOf("caller", "model"),
    text: isText,
    final: optional(isFlag),
    generation: optional(isCount),
  },
  clear: { generation: isCount },
  mark: { id: isText, generation: isCount },
  net: { at_ms: optional(Number.isFinite), fired: optional(listOf(isText)), marking: optional(isCounts) },
  net_graph: { svg: isText },
  tool_call: { id: isText, name: isText, args: optional(isObject) },
  tool_cancel: { id: isText },
  hold: { state: oneOf("start", "stop") },
  consent: { state: oneOf("start", "stop") },
  protected: { state: oneOf("start", "stop") },
  model: { state: oneOf("lost", "back") },
  transfer: { to: optional(isText) },
  message: { name: isText },
  error: { code: isText, message: optional(isText), fatal: optional(isFlag) },
  bye: { reason: isText, message: optional(isText) },
};

/**
 * Reads a text frame of the gateway. Returns the event, or `{type: "unknown", name}` for an event
 * that this version does not know. Throws a RangeError for text that is no event and for a field
 * that is out of range.
 * @param {string} text
 * @returns {ServerEvent}
 */
export function decode(text) {
  let event;
  try {
    event = JSON.parse(text);
  } catch {
    throw new RangeError("voicegw: read event: not JSON");
  }
  if (!isObject(event) || !isText(event.type)) throw new RangeError("voicegw: read event: no type");
  const fields = Object.hasOwn(EVENTS, event.type) ? EVENTS[event.type] : null;
  if (!fields) return { type: "unknown", name: event.type };
  for (const [name, check] of Object.entries(fields)) {
    if (!check(event[name])) throw new RangeError(`voicegw: read event: ${event.type}.${name} is out of range`);
  }
  return event;
}

/**
 * The first event of a call.
 * @typedef {{type: "hello", version: number, input_rate: number, output_rate: number, client:
 *   string, language?: string, instructions?: string, detection?: string, half_duplex?: true,
 *   show_net?: true, params?: Record<string, string>, token?: string, resume?: ResumeHello}}
 *   HelloEvent
 */

/**
 * What a hello says about a call whose connection breaks: nothing when the call begins; to go on
 * with it, its handle, what was played of the last reply, and how many events came since ready.
 * @typedef {{} | {handle: string, generation: number, played_ms: number, received: number}}
 *   ResumeHello
 */

/**
 * The hello of a client whose audio context runs at contextRate Hz.
 * @param {number} contextRate
 * @param {Omit<import("./index.js").VoiceOptions, "token"> & {token?: string | undefined, resume?:
 *   ResumeHello | undefined}} options
 */
export function hello(contextRate, options) {
  const rate = wireRate(contextRate);
  /** @type {HelloEvent} */
  const event = { type: "hello", version: VERSION, input_rate: rate, output_rate: rate, client: "browser" };
  if (options.language) event.language = options.language;
  if (options.instructions) event.instructions = options.instructions;
  if (options.detection) event.detection = options.detection;
  if (options.halfDuplex) event.half_duplex = true;
  if (options.showNet) event.show_net = true;
  if (options.params && Object.keys(options.params).length > 0) event.params = options.params;
  if (options.token) event.token = options.token;
  if (options.resume) event.resume = options.resume;
  return event;
}

/**
 * The rate to ask for: the rate of the audio context where the protocol allows it, else the highest
 * rate that divides it.
 * @param {number} contextRate
 */
export function wireRate(contextRate) {
  if (contextRate >= RATE_MIN && contextRate <= RATE_MAX) return Math.round(contextRate);
  return contextRate % 44_100 === 0 ? 44_100 : RATE_MAX;
}
