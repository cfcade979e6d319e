import { ToolCalls } from "/client/tool-calls.js";
import { equal, ok, test } from "./check.js";

/**
 * Tools with what they sent and emitted.
 * @param {ConstructorParameters<typeof ToolCalls>[0]} options
 */
function world(options) {
  /** @type {any[]} */
  const sent = [];
  /** @type {object[]} */
  const emitted = [];
  const tools = new ToolCalls(
    options,
    (event) => sent.push(event),
    (type, detail) => emitted.push({ type, ...detail }),
  );
  return { tools, sent, emitted };
}

test("a tool's result is sent as JSON and emitted", async () => {
  const { tools, sent, emitted } = world({ tools: { add: async ({ a, b }) => ({ sum: a + b }) } });
  await tools.run({ id: "1", name: "add", args: { a: 1, b: 2 } });
  equal(sent, [{ type: "tool_result", id: "1", output: { sum: 3 } }], "sent");
  equal(emitted, [{ type: "tool_result", id: "1", name: "add", output: { sum: 3 } }], "emitted");
});

test("whatever a tool gives is JSON", async () => {
  /** @type {Record<string, unknown>} */
  const circle = {};
  circle.self = circle;
  const given = [undefined, null, 0, "", [1], new Date(0), () => 1, circle, 1n, "x".repeat(40_000)];
  const { tools, sent } = world({ onToolCall: ({ id }) => given[Number(id)] });
  for (const i of given.keys()) await tools.run({ id: String(i), name: "give" });
  equal(
    sent.slice(0, 7).map((e) => e.output),
    [null, null, 0, "", [1], "1970-01-01T00:00:00.000Z", null],
    "outputs",
  );
  ok(
    sent.slice(7).every((e) => e.error && !("output" in e)),
    "what cannot be JSON is an error",
  );
});

test("a tool that fails is answered with why", async () => {
  const fail = {
    throws: () => {
      throw new Error("no such city");
    },
    rejects: () => Promise.reject(new TypeError("bad")),
    rejectsWithNothing: () => Promise.reject(),
    talksTooMuch: () => Promise.reject(new Error("x".repeat(9_000))),
  };
  const { tools, sent } = world({ tools: fail });
  for (const name of [...Object.keys(fail), "unknown", "toString"]) await tools.run({ id: name, name });
  equal(
    sent.map((e) => e.error.slice(0, 40)),
    ["no such city", "bad", "the tool failed", "x".repeat(40), "this page has no tool named unknown"].concat(
      "this page has no tool named toString",
    ),
    "errors",
  );
  ok(
    sent.every((e) => e.error.length <= 1_000),
    "an error is too long",
  );
});

test("a cancelled call is emitted so and not answered", async () => {
  /** @type {AbortSignal[]} */
  const signals = [];
  let finish = (/** @type {unknown} */ _) => {};
  const { tools, sent } = world({
    tools: {
      slow: (_, { signal }) => {
        signals.push(signal);
        return new Promise((resolve) => (finish = resolve));
      },
    },
  });
  const running = tools.run({ id: "1", name: "slow" });
  tools.cancel("1");
  tools.cancel("1");
  tools.cancel("never made");
  ok(signals[0].aborted, "the signal is not aborted");
  finish(1);
  await running;
  equal(sent, [], "sent");
});

test("one call is answered once", async () => {
  let runs = 0;
  const { tools, sent } = world({ tools: { count: async () => ++runs } });
  await Promise.all([tools.run({ id: "1", name: "count" }), tools.run({ id: "1", name: "count" })]);
  equal([runs, sent.length], [1, 1], "runs and answers");
});

test("calls beyond sixteen at once are refused, and the end of the call cancels all", async () => {
  const never = () => new Promise(() => {});
  /** @type {AbortSignal[]} */
  const signals = [];
  const { tools, sent } = world({ onToolCall: (call) => (signals.push(call.signal), never()) });
  for (let i = 0; i < 16; i++) tools.run({ id: `n${i}`, name: "never" });
  await tools.run({ id: "more", name: "never" });
  equal(
    sent.map((e) => [e.id, e.error]),
    [["more", "too many tools are running"]],
    "sent",
  );
  tools.stop();
  equal(signals.filter((s) => s.aborted).length, 16, "aborted");
});
