import { APIError, SessionsAPI, pauseMs, wait } from "/chat/chat/api.js";
import { equal, ok, test } from "./check.js";

/** @typedef {{ url: string, key: string | null, token: string | null }} Seen */

/**
 * An API whose attempts end as the list says: with a status and a body, or without an answer.
 * @param {([number, string] | "lost")[]} answers
 */
function scripted(answers) {
  /** @type {Seen[]} */
  const seen = [];
  /** @type {number[]} */
  const pauses = [];
  /** @param {any} url @param {any} init */
  const answer = async (url, init) => {
    seen.push({ url, key: init.headers["Idempotency-Key"] ?? null, token: init.headers.Authorization ?? null });
    const next = answers.shift() ?? "lost";
    if (next === "lost") throw new TypeError("failed to fetch");
    return new Response(next[1], { status: next[0] });
  };
  const api = new SessionsAPI("http://x/v1/", answer, async (ms) => void pauses.push(ms));
  return { api, seen, pauses };
}

/** @param {Promise<unknown>} promise */
const failure = (promise) => promise.then(() => "none", (error) =>
  (error instanceof APIError ? `${error.status} ${error.message}` : String(error)));

test("a message is sent until it is accepted, with one key", async () => {
  const { api, seen, pauses } = scripted(["lost", [503, ""], [429, ""], [200, "<html>"], [200, "{\"data\":[{\"id\":\"a\"}]}"]]);
  equal(await api.send("s", [{ type: "user.message" }], "k"), [{ id: "a" }]);
  equal(seen.map((s) => s.key), ["k", "k", "k", "k", "k"]);
  equal(pauses.length, 4, "pauses");
});

test("a refusal is not repeated, and told in the gateway's words", async () => {
  const { api, seen } = scripted([[400, "{\"error\":{\"message\":\"the session has ended\"}}"], [404, "<html>"]]);
  equal(await failure(api.send("s", [], "k")), "400 the session has ended");
  equal(await failure(api.session("s")), "404 The gateway answered with status 404.");
  equal(seen.length, 2, "attempts");
});

test("attempts have an end", async () => {
  const { api, seen } = scripted([]);
  equal(await failure(api.session("s")), "0 The gateway does not answer.");
  equal(seen.length, 8, "attempts");
  const once = scripted([]);
  equal(await failure(once.api.start({}, "k")), "0 The gateway does not answer.");
  equal(once.seen.length, 1, "attempts to start a session");
});

test("the token goes with requests, and a refusal of it is told", async () => {
  const { api, seen } = scripted([[401, ""]]);
  api.token = "t";
  let told = 0;
  api.onUnauthorized = () => told++;
  await failure(api.agents());
  equal([told, seen[0]?.token], [1, "Bearer t"]);
});

test("ids and pages are escaped", async () => {
  const { api, seen } = scripted([[200, "{}"], [200, "{}"]]);
  await api.session("../agents?x=");
  await api.events("s", 5, "a&b");
  equal(seen.map((s) => s.url), ["http://x/v1/sessions/..%2Fagents%3Fx%3D",
    "http://x/v1/sessions/s/events?order=desc&limit=5&page=a%26b"]);
});

test("pauses double up to 8 s, less a quarter at most", () => {
  equal([0, 1, 4, 5, 50].map((n) => pauseMs(n, 0)), [500, 1000, 8000, 8000, 8000]);
  equal(pauseMs(1, 1), 750);
});

test("a pause ends with its signal", async () => {
  const stop = new AbortController();
  const waiting = wait(60_000, stop.signal).then(() => "over", () => "stopped");
  stop.abort();
  equal(await waiting, "stopped");
  ok(await wait(60_000, stop.signal).then(() => false, () => true), "a pause begins after its signal");
});
