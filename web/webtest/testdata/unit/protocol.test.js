import { closeReason, explain } from "/client/errors.js";
import { decode, hello, wireRate } from "/client/protocol.js";
import { equal, ok, test, throws } from "./check.js";

// The same fixture the server's tests read: every event of the server, as the server writes it.
/** @type {{from: string, event: any, ok?: boolean, ignored?: boolean, why?: string}[]} */
const fixture = await fetch("/protocol.json").then((r) => r.json());
const ofServer = fixture.filter(({ from }) => from === "server");

test("the fixture has every event of the server", () => {
  const types = new Set(ofServer.map(({ event }) => event.type));
  const all =
    "ready speech turn transcript clear mark net net_graph tool_call tool_cancel hold consent protected model transfer " +
    "error bye";
  for (const type of all.split(" ")) {
    ok(types.has(type), `no ${type} among ${[...types]}`);
  }
});

for (const { event, ok: good, ignored, why } of ofServer) {
  const text = JSON.stringify(event);
  test(`fixture: ${text.slice(0, 90)} ${why ?? ""}`, () => {
    if (!good) throws(() => decode(text), text);
    else if (ignored) equal(decode(text), { type: "unknown", name: event.type }, "event");
    else equal(decode(text), event, "event");
  });
}

for (const bad of [
  "",
  "[]",
  "null",
  "7",
  "{}",
  '{"type":7}',
  '{"type":"ready","call":"c","version":2,"input_rate":48000,"output_rate":48000}',
  '{"type":"ready","call":"c","version":1,"input_rate":48000,"output_rate":96000}',
  '{"type":"turn","state":"sideways","generation":1}',
  '{"type":"turn","state":"start","generation":-1}',
  '{"type":"turn","state":"start","generation":1.5}',
  '{"type":"clear"}',
  '{"type":"mark","generation":1}',
  '{"type":"transcript","who":"nobody","text":"x"}',
  '{"type":"net","marking":{"p":-1}}',
  '{"type":"net","fired":[1]}',
  '{"type":"net_graph"}',
  '{"type":"bye"}',
  '{"type":"error"}',
  '{"type":"tool_call","id":"1","name":"x","args":[]}',
  '{"type":"tool_cancel"}',
  '{"type":"hold"}',
  '{"type":"consent","state":"asked"}',
  '{"type":"model","state":"start"}',
]) {
  test(`refuses ${bad}`, () => throws(() => decode(bad), bad));
}

test("names of Object are no events", () => {
  equal(decode('{"type":"toString"}'), { type: "unknown", name: "toString" }, "event");
});

// Every field that the client sends is in a hello of the fixture.
test("hello has only the fields of the protocol", () => {
  const allowed = new Set(
    fixture
      .filter((l) => l.from === "client" && l.ok && l.event.type === "hello" && !l.why)
      .flatMap((l) => Object.keys(l.event)),
  );
  const all = hello(44_100, {
    language: "de",
    instructions: "x",
    detection: "manual",
    halfDuplex: true,
    showNet: true,
    params: { customer: "4711" },
    token: "a.b.c",
  });
  for (const name of Object.keys(all)) ok(allowed.has(name), `hello has ${name}`);
  equal([all.version, all.input_rate, all.output_rate], [1, 44_100, 44_100], "version and rates");
});

test("rates beyond the protocol become the highest they divide by", () => {
  equal(
    [8_000, 44_100, 48_000, 88_200, 96_000, 192_000, 176_400].map(wireRate),
    [8_000, 44_100, 48_000, 44_100, 48_000, 48_000, 44_100],
    "rates",
  );
});

test("every reason and close code has a message of its own", () => {
  const reasons = (
    "caller_hung_up done going_away bad_audio bad_json message_too_big internal busy bad_hello audio_before_ready " +
    "second_hello event_before_hello model_refused model_timeout model_lost hello_timeout peer_stalled " +
    "idle_timeout max_duration transferred caller_silent no_consent unauthorized limit record_lost"
  ).split(" ");
  const messages = reasons.map((r) => explain(r).message);
  equal(new Set(messages).size, reasons.length, "different messages");
  ok(!messages.includes(explain("a_reason_of_tomorrow").message), "a reason has no message");
  for (const code of [1000, 1001, 1007, 1009, 1011, 1013, 4000, 4001, 4002, 4003, 4004, 4005, 4006, 4007]) {
    ok(closeReason(code) !== "server_lost", `close code ${code}`);
  }
  equal(closeReason(1006), "server_lost", "close without a code");
  equal(explain("busy", "All lines are in use.").message, "All lines are in use.", "the server's message");
  equal(explain("toString").message, explain("a_reason_of_tomorrow").message, "a name of Object");
});
