import { APIError, SessionsAPI } from "/chat/chat/api.js";
import { OpenSession } from "/chat/chat/open-session.js";
import { equal, test } from "./check.js";

/** @typedef {import("/chat/chat/api.js").SessionEvent} SessionEvent */

/**
 * A gateway with one session that has a number of events. Its answers are of now.
 * @param {number} count
 */
function gateway(count) {
  /** @type {string[]} what was asked, and of messages the key */
  const asked = [];
  /** @type {((events: SessionEvent[]) => void)[]} */
  const streams = [];
  /** @param {number} seq @returns {SessionEvent} */
  const event = (seq) => ({ seq, id: `e${seq}`, type: "agent.message", processed_at: new Date(seq).toISOString() });
  const state = { isDown: false };
  /** @param {any} url @param {any} init */
  const answer = async (url, init) => {
    const { pathname, searchParams } = new URL(url);
    const what = pathname.replace("/v1/sessions/s", "");
    const from = init.headers["Last-Event-ID"];
    const limit = searchParams.get("limit");
    asked.push([init.method, what, init.headers["Idempotency-Key"] && "key", from, limit].filter(Boolean).join(" "));
    if (state.isDown) return new Response("{}", { status: 404 });
    if (what === "/events/stream") return new Response(streamOf(streams, init.signal));
    if (what === "/events" && init.method === "GET") {
      const before = Number(searchParams.get("page") ?? count + 1);
      const size = Math.min(Number(limit), before - 1);
      const data = Array.from({ length: size }, (_, i) => event(before - 1 - i));
      return Response.json({ data, next_page: size < before - 1 ? String(before - size) : null });
    }
    if (what === "/events") return Response.json({ data: [] });
    return Response.json({ id: "s", status: "idle", paused: false, last_seq: count, agent: { name: "a", model: {} },
      usage: {} });
  };
  return { api: new SessionsAPI("http://x/v1/", answer), asked, streams, event, state };
}

/**
 * A body that has what the test sends to it.
 * @param {((events: SessionEvent[]) => void)[]} streams
 * @param {AbortSignal} signal
 * @returns {ReadableStream<Uint8Array>}
 */
function streamOf(streams, signal) {
  return new ReadableStream({ start(controller) {
    signal.addEventListener("abort", () => controller.error(signal.reason));
    streams.push((events) => controller.enqueue(new TextEncoder().encode(
      events.map((e) => `data: ${JSON.stringify(e)}\n\n`).join(""))));
  } });
}

/**
 * Opens the session of a gateway. until waits for a change that a condition tells.
 * @param {SessionsAPI} api
 */
function open(api) {
  let changed = () => {};
  /** @type {string[]} */
  const failures = [];
  const session = new OpenSession(api, "s", {
    changed: () => changed(),
    heard: () => {},
    failed: (error) => {
      failures.push(error instanceof APIError ? String(error.status) : "");
      changed();
    },
  });
  /** @param {() => unknown} condition @returns {Promise<void>} */
  const until = (condition) => new Promise((done) => {
    changed = () => condition() && setTimeout(done);
    changed();
  });
  return { session, until, failures };
}

test("a session that rests goes on behind its last event", async () => {
  const { api, asked, streams, event } = gateway(3);
  const { session, until } = open(api);
  await until(() => session.state.connection === "live");
  streams[0]?.([event(4), event(5)]);
  await until(() => session.state.lastSeq === 5);
  session.rest();
  session.wake();
  await until(() => streams.length === 2 && session.state.connection === "live");
  streams[1]?.([event(5), event(6)]);
  await until(() => session.state.lastSeq === 6);
  session.close();
  equal(asked.filter((a) => a.includes("stream")), ["GET /events/stream 3", "GET /events/stream 5"]);
  equal(session.state.items.map((i) => i.key), ["e1", "e2", "e3", "e4", "e5", "e6"]);
});

test("earlier events are asked for once, however often the person scrolls", async () => {
  const { api, asked } = gateway(1500);
  const { session, until } = open(api);
  await until(() => session.state.connection === "live");
  await Promise.all([session.earlier(), session.earlier()]);
  await Promise.all([session.earlier(), session.earlier()]);
  await session.earlier();
  session.close();
  equal(asked.filter((a) => a.startsWith("GET /events 1") || a.startsWith("GET /events 2")),
    ["GET /events 200", "GET /events 1000", "GET /events 1000"]);
  equal([session.state.items.length, session.state.firstSeq, session.state.earlier], [1500, 1, null]);
});

test("a message that is refused stays, and is sent again with its key", async () => {
  const { api, asked, state } = gateway(1);
  const { session, until } = open(api);
  await until(() => session.state.connection === "live");
  state.isDown = true;
  session.say("one");
  session.say("two");
  await until(() => session.state.outbox.length === 2 && session.state.outbox.every((o) => o.error));
  equal(session.state.outbox.map((o) => o.text), ["one", "two"]);
  const [first, second] = session.state.outbox;
  state.isDown = false;
  session.resend(first?.key ?? "");
  await until(() => session.state.outbox.length === 1);
  session.discard(second?.key ?? "");
  session.close();
  equal(session.state.outbox, []);
  equal(asked.filter((a) => a.startsWith("POST")).length, 3);
});

test("a session that is not there is told, and one that is closed tells nothing", async () => {
  const { api, state } = gateway(1);
  state.isDown = true;
  const { until, failures } = open(api);
  await until(() => failures.length > 0);
  equal(failures, ["404"]);
  const other = open(api);
  other.session.close();
  await new Promise((done) => setTimeout(done, 50));
  equal(other.failures, []);
});
