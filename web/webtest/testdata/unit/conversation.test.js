import { nothing, order, reduce, waitsFor } from "/chat/chat/conversation.js";
import { callWords, contentText, laidOut, noteWords, stateWords } from "/chat/chat/labels.js";
import { equal, ok, test } from "./check.js";

/**
 * @typedef {import("/chat/chat/api.js").SessionEvent} SessionEvent
 * @typedef {import("/chat/chat/api.js").Session} Session
 * @typedef {import("/chat/chat/conversation.js").Action} Action
 * @typedef {import("/chat/chat/conversation.js").State} State
 */

/** @param {number} seq */
const time = (seq) => new Date(seq * 1000).toISOString();

/**
 * A stored event.
 * @param {number} seq
 * @param {string} type
 * @param {Partial<SessionEvent>} [more]
 * @returns {SessionEvent}
 */
const stored = (seq, type, more) => ({ seq, type, id: `e${seq}`, processed_at: time(seq), ...more });

/** @param {string} text */
const said = (text) => ({ content: [{ type: "text", text }] });

/** @param {string} type */
const idle = (type, more = {}) => ({ stop_reason: { type, ...more } });

/** @type {SessionEvent[]} all events of a story, as a stream has them */
const story = [
  stored(1, "user.message", { id: "m1", processed_at: null, ...said("Hi") }),
  stored(2, "session.status_running"),
  stored(3, "user.message", { id: "m1", processed_at: time(2), ...said("Hi") }),
  stored(4, "span.model_request_start"),
  stored(5, "user.message", { id: "m2", processed_at: null, ...said("And?") }),
  stored(6, "span.model_request_end"),
  stored(7, "agent.tool_use", { name: "rm", input: {}, evaluated_permission: "ask" }),
  stored(8, "agent.custom_tool_use", { name: "ask", input: {} }),
  stored(9, "session.status_idle", idle("requires_action", { event_ids: ["e7", "e8"] })),
  stored(10, "user.tool_confirmation", { tool_use_id: "e7", result: "deny", deny_message: "no" }),
  stored(11, "user.custom_tool_result", { custom_tool_use_id: "e8", ...said("42") }),
  stored(12, "session.status_running"),
  stored(13, "agent.tool_result", { tool_use_id: "e7", is_error: true }),
  stored(14, "agent.message", said("Hello")),
  stored(15, "weather.changed"),
  stored(16, "session.usage", { usage: { input_tokens: 5, output_tokens: 6 } }),
  stored(17, "session.status_idle", idle("end_turn")),
  stored(18, "session.status_running"),
  stored(19, "user.message", { id: "m2", processed_at: time(18), ...said("And?") }),
  stored(20, "agent.message", said("Bye")),
  stored(21, "session.status_idle", idle("end_turn", { detail: "max_tokens" })),
];

/** @type {SessionEvent[]} the same events as a list has them, the newest first */
const listed = story.filter(({ id }, i) => story.findIndex((e) => e.id === id) === i).map((e) => ({ ...e,
  processed_at: story.findLast(({ id }) => id === e.id)?.processed_at ?? null })).reverse();

/**
 * @param {State} state
 * @param {Action[]} actions
 */
const after = (state, ...actions) => actions.reduce(reduce, state);

/** @param {SessionEvent} event @returns {Action} */
const heard = (event) => ({ type: "event", event });

/** @param {number} last @param {Partial<Session>} [more] @returns {Action} */
const refreshed = (last, more) => ({ type: "refreshed", session: { id: "s", status: "idle", paused: false, title: null,
  agent: { id: "a", name: "desk", model: { id: "parrot" } }, usage: { input_tokens: 0, output_tokens: 0 },
  last_seq: last, created_at: time(0), archived_at: null, ...more } });

/** @param {State} state */
const shown = ({ items }) => items.filter((i) => i.kind !== "note" || !i.quiet).map((i) => i.key).join(" ");

const want = "m1 e7 e8 e14 e15 m2 e20 e21";

test("a stream, and pages of any size from the end, show the same", () => {
  const live = after(nothing(), refreshed(0), ...story.map(heard));
  equal(shown(live), want);
  for (let size = 1; size <= listed.length; size++) {
    let state = after(nothing(), refreshed(21));
    for (let at = 0; at < listed.length; at += size) {
      state = after(state, { type: "page", events: listed.slice(at, at + size), next: `${at + size}` });
    }
    equal(state.items, live.items, `items of pages of ${size}`);
    equal([state.lastSeq, state.firstSeq, state.settledSeq, state.stop], [21, 1, 21, live.stop]);
  }
});

test("a stream that goes on behind a page shows the same, wherever the page ends", () => {
  const live = after(nothing(), ...story.map(heard));
  for (let last = 1; last <= story.length; last++) {
    const page = listed.filter((e) => (e.seq ?? 0) <= last).map((e) => ({ ...e,
      processed_at: story.findLast(({ id, seq }) => id === e.id && (seq ?? 0) <= last)?.processed_at ?? null }));
    let state = after(nothing(), refreshed(last), { type: "page", events: page.slice(0, 2), next: "x" });
    for (const event of story) if (order(state, event) === "next") state = reduce(state, heard(event));
    state = after(state, { type: "page", events: page.slice(2), next: null });
    equal(state.items, live.items, `items behind ${last}`);
  }
});

test("an event is shown once, and one behind a gap is not taken", () => {
  let state = after(nothing(), ...story.slice(0, 4).map(heard));
  equal([4, 5, 6].map((seq) => order(state, stored(seq, "x"))), ["old", "next", "gap"]);
  ok(reduce(state, heard(stored(4, "agent.message"))) === state, "an old event changes the state");
  ok(reduce(state, heard(stored(6, "agent.message"))) === state, "an event behind a gap is taken");
  equal(order(state, { type: "event_start" }), "next");
});

test("the answer to a request does not stand for the stream", () => {
  const event = stored(3, "user.message", { id: "m", processed_at: null, ...said("Hi") });
  let state = after(nothing(), heard(stored(1, "x")), { type: "sending", key: "k", text: "Hi" },
    { type: "accepted", events: [event], key: "k" });
  equal([state.lastSeq, state.outbox.length, shown(state)], [1, 0, "e1 m"]);
  state = after(state, heard(stored(2, "session.status_running")), heard(event), heard({ ...event, seq: 4,
    processed_at: time(4) }), { type: "accepted", events: [event], key: "k" });
  equal([state.lastSeq, shown(state), state.items.at(-1)?.kind], [4, "e1 m", "message"]);
  const message = state.items.at(-1);
  equal(message?.kind === "message" && message.event.processed_at, time(4), "the time of the message");
});

test("a message is not shown twice when the stream is quicker than the answer", () => {
  const event = stored(1, "user.message", { id: "m", processed_at: null, ...said("Hi") });
  let state = after(nothing(), { type: "sending", key: "k", text: "Hi" }, { type: "sending", key: "l", text: "Hi" },
    heard(event));
  equal(state.outbox.map((o) => o.key), ["l"]);
  state = after(state, { type: "unsent", key: "l", text: "Hi", error: "lost" });
  equal(state.outbox, [{ key: "l", text: "Hi", error: "lost" }]);
  equal(after(state, { type: "discarded", key: "l" }).outbox, []);
});

test("parts are shown until the stored message takes their place", () => {
  const start = { type: "event_start", event: { type: "agent.message", id: "e2" } };
  /** @param {string} text */
  const delta = (text) => ({ type: "event_delta", event_id: "e2", delta: { content: { type: "text", text } } });
  let state = after(nothing(), heard(delta("early")), heard(start), heard(delta("Hel")), heard(delta("lo")));
  equal(state.parts.map((p) => p.text), ["Hello"]);
  state = after(state, { type: "connection", connection: "reconnecting" });
  equal(state.parts.map((p) => p.text), ["Hello"], "parts while there is no connection");
  equal(after(state, heard({ ...start, event: { type: "agent.message", id: "e9" } })).parts.map((p) => p.id), ["e9"]);
  equal(after(state, heard(start)).parts.map((p) => p.text), [""], "parts of a message that begins again");
  for (const end of [stored(1, "session.status_idle", idle("end_turn")), stored(1, "session.status_rescheduled"),
    stored(1, "span.model_request_end", { is_error: true }), { type: "session.deleted" }]) {
    equal(after(state, heard(end)).parts, [], `parts behind ${end.type}`);
  }
  state = after(state, heard(stored(1, "span.model_request_end")), heard(stored(2, "agent.message", said("Hello"))));
  equal([state.parts, shown(state)], [[], "e2"]);
  equal(after(state, heard(start)).parts, [], "parts that come late");
});

test("a call waits for the person until it is answered or its turn is over", () => {
  /** @param {State} state */
  const waits = (state) => state.items.map((i) => (i.kind === "call" ? waitsFor(state, i) : "")).filter(Boolean);
  const uses = [stored(1, "agent.custom_tool_use"), stored(2, "agent.mcp_tool_use", { evaluated_permission: "ask" }),
    stored(3, "agent.tool_use", { evaluated_permission: "allow" })];
  const state = after(nothing(), ...uses.map(heard));
  equal(waits(state), ["result", "decision"]);
  equal(waits(after(state, heard(stored(4, "session.status_idle", idle("requires_action"))))), ["result", "decision"]);
  equal(waits(after(state, heard(stored(4, "user.tool_confirmation", { tool_use_id: "e2" })))), ["result"]);
  equal(waits(after(state, heard(stored(4, "agent.mcp_tool_result", { mcp_tool_use_id: "e2" })))), ["result"]);
  equal(waits(after(state, heard(stored(4, "user.custom_tool_result", { custom_tool_use_id: "e1" })))), ["decision"]);
  for (const end of [stored(4, "session.status_idle", idle("end_turn")), stored(4, "session.status_terminated"),
    { type: "session.deleted" }]) {
    equal(waits(after(state, heard(end))), [], `waits behind ${end.type}`);
  }
  const result = after(nothing(), heard(stored(1, "agent.tool_result", { tool_use_id: "e0" })));
  equal(waits(result), [], "a result without its call waits");
});

test("the newest of the session and its events counts", () => {
  let state = after(nothing(), refreshed(5, { status: "running" }));
  state = after(state, { type: "page", events: [stored(5, "session.status_running"),
    stored(4, "session.status_idle", idle("end_turn"))], next: null });
  equal(state.status, "running");
  state = after(state, heard(stored(6, "session.usage", { usage: { input_tokens: 1, output_tokens: 2 } })),
    heard(stored(7, "session.status_idle", idle("requires_action"))));
  equal([state.status, stateWords(state).text, state.session?.usage.input_tokens], ["idle", "Waits for you", 1]);
  state = after(state, refreshed(6, { status: "running", paused: true }));
  equal([state.status, state.session?.usage.input_tokens, stateWords(state).text], ["idle", 1, "Idle, paused"]);
  state = after(state, refreshed(9, { status: "terminated", archived_at: time(9) }), heard(stored(8, "session.status_running")));
  equal([state.status, stateWords(state).text], ["terminated", "Archived"]);
});

test("what the page does not know is shown with its type", () => {
  const state = after(nothing(), heard(stored(1, "workflow_run.started")), heard({ type: "ping" }),
    heard(stored(2, "session.status_idle", idle("moon_phase"))));
  equal(state.items.map((i) => i.kind === "note" && !i.quiet && noteWords(i.event).text),
    ["workflow_run.started", "ping", "session.status_idle: moon_phase"]);
});

test("errors are told in words", () => {
  const error = { type: "model_overloaded_error", message: "503", retry_status: { type: "retrying" } };
  equal(noteWords(stored(1, "session.error", { error })).text, "The model is overloaded: 503. The gateway tries again.");
  equal(noteWords(stored(1, "session.error", { error: { type: "new_error", message: "Why?" } })).text,
    "The session reports an error: Why?");
});

test("no action changes a state that somebody holds", () => {
  /** @param {object} value @returns {any} */
  const freeze = (value) => {
    for (const v of Object.values(value)) if (v && typeof v === "object") freeze(v);
    return Object.freeze(value);
  };
  let state = freeze(nothing());
  for (const event of story) state = freeze(reduce(state, heard(event)));
  equal(shown(state), want);
});

test("calls are told in words", () => {
  /** @param {string} text @param {boolean} isError @param {Partial<SessionEvent>} [decision] */
  const told = (text, isError, decision) => callWords({ kind: "call", key: "c", at: 1, seq: 1,
    use: stored(1, "agent.tool_use"), decision: decision ? stored(2, "user.tool_confirmation", decision) : null,
    result: text ? stored(3, "agent.tool_result", { is_error: isError, content: [{ type: "text", text }] }) : null,
  }, "", !text).text;
  equal(told("{\"error\":\"outcome_unknown: the process stopped\"}", true),
    "Outcome unknown: the gateway stopped during this call");
  equal(told("{\"error\":\"timed_out: no result\"}", true), "Timed out");
  equal(told("{\"error\":\"no such file\"}", true), "Failed");
  equal(told("{\"error\":\"denied\"}", false), "Done");
  equal(told("{\"error\":\"x\"}", true, { result: "deny" }), "You denied it");
  equal([told("", false), told("", false, { result: "allow" })], ["Runs", "You allowed it"]);
});

test("content is text, whatever it is", () => {
  equal(contentText([{ type: "text", text: "a" }, { type: "image", source: { type: "base64", media_type: "image/png" } },
    { type: "redacted" }]), "a\n[image: image/png]\n[redacted]");
  equal([contentText(undefined), contentText(/** @type {any} */ ("text"))], ["", ""]);
  equal([laidOut("{\"a\":1}"), laidOut("{a"), laidOut("1")], ["{\n  \"a\": 1\n}", "{a", "1"]);
});
