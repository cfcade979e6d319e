// The events of the voicegw.v1 protocol: what the client says, and what it understands.

export const SUBPROTOCOL = "voicegw.v1";
export const VERSION = 1;
export const RATE_MIN = 8_000;
export const RATE_MAX = 48_000;

const isText = (v) => typeof v === "string";
const isCount = (v) => Number.isInteger(v) && v >= 0;
const isFlag = (v) => typeof v === "boolean";
const isRate = (v) => Number.isInteger(v) && v >= RATE_MIN && v <= RATE_MAX;
const isObject = (v) => typeof v === "object" && v !== null && !Array.isArray(v);
const oneOf =
  (...values) =>
  (v) =>
    values.includes(v);
const listOf = (check) => (v) => Array.isArray(v) && v.every(check);
const counts = (v) => isObject(v) && Object.values(v).every(isCount);
const optional = (check) => (v) => v === undefined || v === null || check(v);

// Each event of the server with the fields this client relies on. Fields that are not here are let through.
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
  net: { at_ms: optional(Number.isFinite), fired: optional(listOf(isText)), marking: optional(counts) },
  net_graph: { svg: isText },
  tool_call: { id: isText, name: isText, args: optional(isObject) },
  tool_cancel: { id: isText },
  hold: { state: oneOf("start", "stop") },
  consent: { state: oneOf("start", "stop") },
  protected: { state: oneOf("start", "stop") },
  model: { state: oneOf("lost", "back") },
  transfer: { to: optional(isText) },
  error: { code: isText, message: optional(isText), fatal: optional(isFlag) },
  bye: { reason: isText, message: optional(isText) },
};

/**
 * Reads a text frame of the server. Returns the event; `{type: "unknown", name}` for an event this version does not
 * know; throws a RangeError for what is not an event at all or has a field out of range.
 * @param {string} text
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
 * The hello for a client whose audio context runs at contextRate Hz.
 * @param {number} contextRate
 * @param {import("./client.js").VoiceOptions} options
 */
export function hello(contextRate, options) {
  const rate = wireRate(contextRate);
  const event = { type: "hello", version: VERSION, input_rate: rate, output_rate: rate, client: "browser" };
  if (options.language) event.language = options.language;
  if (options.instructions) event.instructions = options.instructions;
  if (options.detection) event.detection = options.detection;
  if (options.halfDuplex) event.half_duplex = true;
  if (options.showNet) event.show_net = true;
  if (options.params && Object.keys(options.params).length > 0) event.params = options.params;
  if (options.token) event.token = options.token;
  return event;
}

/** The rate to ask for: the context's own where the protocol allows it, else the highest it divides by. */
export function wireRate(contextRate) {
  if (contextRate >= RATE_MIN && contextRate <= RATE_MAX) return Math.round(contextRate);
  return contextRate % 44_100 === 0 ? 44_100 : RATE_MAX;
}
