// The conversation of one session: a pure reducer from events to what the page shows. It holds a window of
// the session's events without gaps, which grows at both ends: pages of earlier events, and the stream.

/**
 * @typedef {import("./api.js").SessionEvent} SessionEvent
 * @typedef {import("./api.js").Session} Session
 * @typedef {import("./api.js").StopReason} StopReason
 * @typedef {import("./event-stream.js").Connection} Connection
 *
 * @typedef {{ kind: "message", key: string, at: number, seq: number, who: "user" | "agent", event: SessionEvent }} Message
 * a message; one of the user that waits for its turn has no processed_at and stands at the end
 * @typedef {{ kind: "call", key: string, at: number, seq: number, use: SessionEvent | null,
 *   decision: SessionEvent | null, result: SessionEvent | null }} Call
 * a call of a tool, with what belongs to it; use is null as long as only later events are known
 * @typedef {{ kind: "note", key: string, at: number, seq: number, event: SessionEvent, quiet: boolean }} Note
 * any other event; a quiet one is for people who want to see all events
 * @typedef {Message | Call | Note} Item
 *
 * @typedef {{ id: string, text: string, stale: boolean }} Part the beginning of a message that is coming
 * @typedef {{ key: string, text: string, error: string }} Outgoing a message that the gateway has not confirmed; with
 * an error it is not being sent
 *
 * @typedef {object} State
 * @property {Session | null} session
 * @property {Item[]} items in the order shown
 * @property {number} firstSeq of the window
 * @property {number} lastSeq of the window
 * @property {string | null} earlier the page before the window; null: there is none
 * @property {{ seq: number, time: string }[]} runs when turns began
 * @property {number} settledSeq the last event that ended a turn: calls before it wait no longer
 * @property {string} status
 * @property {StopReason | null} stop what the newest event of a status gave as the reason
 * @property {number} stopSeq of that event
 * @property {number} statusSeq of the event, or of the session, that told the status
 * @property {Part[]} parts
 * @property {Outgoing[]} outbox
 * @property {Connection} connection
 * @property {boolean} deleted
 *
 * @typedef {{ type: "refreshed", session: Session }
 *   | { type: "page", events: SessionEvent[], next: string | null }
 *   | { type: "event", event: SessionEvent }
 *   | { type: "accepted", events: SessionEvent[], key: string }
 *   | { type: "sending", key: string, text: string }
 *   | { type: "unsent", key: string, text: string, error: string }
 *   | { type: "discarded", key: string }
 *   | { type: "connection", connection: Connection }} Action
 */

const WAITING = Number.MAX_SAFE_INTEGER; // the place of messages that wait for their turn

/** @type {Record<string, string>} */
const STATUSES = {
  "session.status_running": "running",
  "session.status_idle": "idle",
  "session.status_rescheduled": "rescheduling",
  "session.status_terminated": "terminated",
};

const QUIET = new Set(["session.status_running", "session.usage", "session.updated", "span.model_request_start",
  "span.model_request_end", "agent.thinking"]);

/** @returns {State} a session of which nothing is known */
export function nothing() {
  return { session: null, items: [], firstSeq: Infinity, lastSeq: 0, earlier: null, runs: [], settledSeq: 0, status: "",
    stop: null, stopSeq: 0, statusSeq: 0, parts: [], outbox: [], connection: "connecting", deleted: false };
}

/**
 * @param {State} state
 * @param {Action} action
 * @returns {State}
 */
export function reduce(state, action) {
  switch (action.type) {
    case "refreshed":
      return refreshed(state, action.session);
    case "page":
      return paged(state, action.events, action.next);
    case "event":
      return heard(state, action.event);
    case "accepted":
      return stored({ ...state, outbox: state.outbox.filter((o) => o.key !== action.key) },
        action.events.filter((e) => e.id && e.seq));
    case "sending":
      return { ...state, outbox: [...state.outbox.filter((o) => o.key !== action.key),
        { key: action.key, text: action.text, error: "" }] };
    case "unsent": {
      const { key, text, error } = action;
      return { ...state, outbox: [...state.outbox.filter((o) => o.key !== key), { key, text, error }] };
    }
    case "discarded":
      return { ...state, outbox: state.outbox.filter((o) => o.key !== action.key) };
    case "connection":
      return { ...state, connection: action.connection,
        parts: action.connection === "reconnecting" ? state.parts.map((p) => ({ ...p, stale: true })) : state.parts };
  }
}

/**
 * Tells how an event of the stream stands to the window: it is the next one, an old one, or others are
 * missing before it. One that is not stored is always the next.
 * @param {State} state
 * @param {SessionEvent} event
 * @returns {"next" | "old" | "gap"}
 */
export function order({ lastSeq }, { seq }) {
  if (!seq || seq === lastSeq + 1) return "next";
  return seq <= lastSeq ? "old" : "gap";
}

/**
 * What a call waits for from the person; "" for nothing.
 * @param {State} state
 * @param {Call} call
 * @returns {"result" | "decision" | ""}
 */
export function waitsFor(state, { use, decision, result }) {
  if (!use || decision || result || (use.seq ?? 0) < state.settledSeq || isOver(state)) return "";
  if (use.type === "agent.custom_tool_use") return "result";
  return use.evaluated_permission === "ask" ? "decision" : "";
}

/**
 * Whether the session takes nothing more.
 * @param {State} state
 */
export function isOver(state) {
  return state.deleted || state.status === "terminated";
}

/**
 * Takes the session as the gateway has it, unless events have told more since.
 * @param {State} state
 * @param {Session} session
 * @returns {State}
 */
function refreshed(state, session) {
  if (session.last_seq < state.statusSeq) {
    const { status, usage } = state.session ?? session;
    return { ...state, session: { ...session, status, usage } };
  }
  return { ...state, session, status: session.status, statusSeq: session.last_seq };
}

/**
 * Adds a page of events, the newest first: the first page, or the one before the window.
 * @param {State} state
 * @param {SessionEvent[]} events
 * @param {string | null} next
 * @returns {State}
 */
function paged(state, events, next) {
  const earlier = events.filter((e) => (e.seq ?? 0) < state.firstSeq).reverse();
  const first = earlier[0]?.seq ?? state.firstSeq;
  const last = Math.max(state.lastSeq, earlier.at(-1)?.seq ?? 0);
  return stored({ ...state, earlier: next, firstSeq: first, lastSeq: last }, earlier);
}

/**
 * Takes an event of the stream. What is not the next one changes nothing.
 * @param {State} state
 * @param {SessionEvent} event
 * @returns {State}
 */
function heard(state, event) {
  if (order(state, event) !== "next") return state;
  if (event.seq) {
    const outbox = event.type === "user.message" ? arrived(state.outbox, event) : state.outbox;
    return stored({ ...state, outbox, lastSeq: event.seq, firstSeq: Math.min(state.firstSeq, event.seq) }, [event]);
  }
  switch (event.type) {
    case "event_start":
      return begun(state, event.event?.id ?? "");
    case "event_delta":
      return { ...state, parts: state.parts.map((p) =>
        p.id === event.event_id ? { ...p, text: p.text + (event.delta?.content?.text ?? "") } : p) };
    case "session.deleted":
      return { ...state, deleted: true, parts: [] };
    default: {
      const at = state.lastSeq + 0.25;
      const next = { ...state, items: [...state.items] };
      put(next, { kind: "note", key: `live-${at}-${state.items.length}`, at, seq: at, event, quiet: false });
      return next;
    }
  }
}

/**
 * The outbox without the message that has come by the stream, before the answer to the request.
 * @param {Outgoing[]} outbox
 * @param {SessionEvent} event
 */
function arrived(outbox, { content }) {
  const text = content?.length === 1 ? content[0]?.text : undefined;
  const one = outbox.find((o) => !o.error && o.text === text);
  return outbox.filter((o) => o !== one);
}

/**
 * A message is coming. It takes the place of what a connection that broke had shown.
 * @param {State} state
 * @param {string} id
 * @returns {State}
 */
function begun(state, id) {
  if (state.items.some((i) => i.key === id)) return state;
  return { ...state, parts: [...state.parts.filter((p) => !p.stale && p.id !== id), { id, text: "", stale: false }] };
}

/**
 * Adds stored events, the oldest first.
 * @param {State} state
 * @param {SessionEvent[]} events
 * @returns {State}
 */
function stored(state, events) {
  const next = { ...state, runs: [...state.runs], items: [...state.items] };
  for (const { type, seq, processed_at: time } of events) {
    if (type === "session.status_running" && seq && time) next.runs.push({ seq, time });
  }
  next.runs.sort((a, b) => a.seq - b.seq);
  for (const event of events) add(next, event);
  return next;
}

/**
 * Adds a stored event to a state of which the items belong to the caller.
 * @param {State} state
 * @param {SessionEvent} event
 */
function add(state, event) {
  const { type, seq = 0, id = `seq-${seq}` } = event;
  switch (type) {
    case "user.message":
    case "agent.message":
      state.parts = state.parts.filter((p) => p.id !== id);
      return addMessage(state, event, id);
    case "agent.tool_use":
    case "agent.mcp_tool_use":
    case "agent.custom_tool_use":
      return addToCall(state, id, seq, { use: event });
    case "agent.tool_result":
    case "user.tool_result":
      return addToCall(state, event.tool_use_id ?? id, seq, { result: event });
    case "agent.mcp_tool_result":
      return addToCall(state, event.mcp_tool_use_id ?? id, seq, { result: event });
    case "user.custom_tool_result":
      return addToCall(state, event.custom_tool_use_id ?? id, seq, { result: event });
    case "user.tool_confirmation":
      return addToCall(state, event.tool_use_id ?? id, seq, { decision: event });
    default:
      follow(state, event);
      return addNote(state, event, id);
  }
}

/**
 * Follows what an event says of the session.
 * @param {State} state
 * @param {SessionEvent} event
 */
function follow(state, event) {
  const { type, seq = 0 } = event;
  if (type === "session.usage" && event.usage && state.session && seq > state.statusSeq) {
    state.session = { ...state.session, usage: event.usage };
  }
  const isNewest = seq > state.stopSeq;
  if (type === "span.model_request_end" && event.is_error && isNewest) state.parts = [];
  const status = STATUSES[type];
  if (!status) return;
  const ends = status === "terminated" || (status === "idle" && event.stop_reason?.type !== "requires_action");
  if (ends) state.settledSeq = Math.max(state.settledSeq, seq);
  if (isNewest) {
    state.stopSeq = seq;
    state.stop = event.stop_reason ?? null;
    if (status !== "running") state.parts = [];
  }
  if (seq > state.statusSeq) {
    state.status = status;
    state.statusSeq = seq;
  }
}

/**
 * @param {State} state
 * @param {SessionEvent} event
 * @param {string} key
 */
function addMessage(state, event, key) {
  const known = state.items.find((i) => i.key === key);
  const seq = Math.min(event.seq ?? Infinity, known?.seq ?? Infinity);
  const time = timeOf(event, known);
  const who = event.type === "user.message" ? "user" : "agent";
  const at = who === "user" ? placeOf(state, key, seq, time) : seq;
  put(state, { kind: "message", key, at, seq, who, event: { ...event, seq, processed_at: time } });
}

/**
 * The place of a message of the user: before the turn that it began, at the end while it waits. A turn
 * begins with one message.
 * @param {State} state
 * @param {string} key
 * @param {number} seq
 * @param {string | null} time when it was taken up
 */
function placeOf({ runs, items }, key, seq, time) {
  if (time === null) return WAITING;
  const from = Date.parse(time);
  const run = runs.find((r) => r.seq > seq && Date.parse(r.time) >= from &&
    !items.some((i) => i.at === r.seq - 0.5 && i.key !== key));
  return run ? run.seq - 0.5 : seq;
}

/**
 * Adds to a call: its use gives it its place.
 * @param {State} state
 * @param {string} key
 * @param {number} seq
 * @param {{ use: SessionEvent } | { decision: SessionEvent } | { result: SessionEvent }} more
 */
function addToCall(state, key, seq, more) {
  const known = state.items.find((i) => i.key === key);
  /** @type {Call} */
  const before = known?.kind === "call" ? known : { kind: "call", key, at: seq, seq, use: null, decision: null,
    result: null };
  const at = Math.min(before.seq, seq);
  put(state, { ...before, ...more, at, seq: at });
}

/**
 * @param {State} state
 * @param {SessionEvent} event
 * @param {string} key
 */
function addNote(state, event, key) {
  const known = state.items.find((i) => i.key === key);
  const seq = Math.min(event.seq ?? 0, known?.seq ?? Infinity);
  put(state, { kind: "note", key, at: seq, seq, event: { ...event, seq, processed_at: timeOf(event, known) },
    quiet: isQuiet(event) });
}

/**
 * When an event was taken up. One that is told twice may be told in any order.
 * @param {SessionEvent} event
 * @param {Item | undefined} known
 */
function timeOf({ processed_at: time }, known) {
  return time ?? (known && "event" in known ? known.event.processed_at : null) ?? null;
}

/**
 * Whether an event says nothing that a person who chats must know.
 * @param {SessionEvent} event
 */
function isQuiet({ type, stop_reason: stop }) {
  if (type === "session.status_idle") {
    return stop?.type === "requires_action" || (stop?.type === "end_turn" && !stop.detail);
  }
  return QUIET.has(type);
}

/**
 * Puts an item in its place, instead of the one with the same key.
 * @param {State} state
 * @param {Item} item
 */
function put(state, item) {
  const { items } = state;
  const old = items.findIndex((i) => i.key === item.key);
  if (old >= 0 && items[old]?.at === item.at) {
    items[old] = item;
    return;
  }
  if (old >= 0) items.splice(old, 1);
  let low = 0;
  let high = items.length;
  while (low < high) { // the first item behind it
    const middle = (low + high) >> 1;
    const other = /** @type {Item} */ (items[middle]);
    if (other.at < item.at || (other.at === item.at && other.seq <= item.seq)) low = middle + 1;
    else high = middle;
  }
  items.splice(low, 0, item);
}
