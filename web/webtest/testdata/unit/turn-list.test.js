import { TurnList } from "/client/turn-list.js";
import { equal, ok, test } from "./check.js";

/** @typedef {import("/client/index.js").Turn} Turn */

/** A list with short ways to give it events. `changes` are the turns that it passed on. */
function world() {
  /** @type {Turn[]} */
  const changes = [];
  const list = new TurnList((turns, changed) => {
    ok(turns.includes(changed) && turns === list.turns, "the changed turn is in the list");
    changes.push(changed);
  });
  return {
    list,
    changes,
    /** @type {(who: "caller" | "model", text: string, generation: number | null, final?: boolean) => void} */
    say: (who, text, generation, final = false) => list.take("transcript", { who, text, generation, final }),
    /** @type {(generation: number) => void} */
    start: (generation) => list.take("turn", { state: "start", generation, reason: null, heardMs: null }),
    /** @type {(generation: number, playedMs: number) => void} */
    ack: (generation, playedMs) => list.take("ack", { generation, playedMs, mark: null, cleared: false }),
    /** @type {(generation: number, reason: Turn["end"], heardMs?: number | null) => void} */
    end: (generation, reason, heardMs = null) => list.take("turn", { state: "end", generation, reason, heardMs }),
    hangUp: () => list.take("end", { reason: "done", message: "", advice: "", normal: true }),
    /** What was said, with "|" where it was cut. */
    texts: () =>
      list.turns.map(({ who, text, cutAt }) => `${who}: ${cutAt === null ? text : `${text.slice(0, cutAt)}|${text.slice(cutAt)}`}`),
  };
}

test("fragments of both sides become turns in the order of their first words", () => {
  const w = world();
  w.say("caller", "What is ", 1);
  w.start(2);
  w.say("model", "It is ", 2);
  w.say("caller", "the time?", 1, true);
  w.say("model", "noon.", 2);
  equal(w.texts(), ["caller: What is the time?", "model: It is noon."]);
  equal(w.list.turns.map((t) => t.id), [1, 2], "ids");
  equal(w.list.turns.map((t) => t.final), [true, false], "final");
});

test("the caller's next words after a final fragment are a new turn", () => {
  const w = world();
  w.say("caller", "One.", 1, true);
  w.say("caller", "Two.", 1, true);
  w.list.typed("Three.");
  w.say("caller", "Four", 1);
  w.say("caller", " and five.", 2);
  equal(w.texts(), ["caller: One.", "caller: Two.", "caller: Three.", "caller: Four", "caller:  and five."]);
  equal(w.list.turns.map((t) => t.typed), [false, false, true, false, false], "typed");
  equal(w.list.turns.map((t) => t.final), [true, true, true, true, false], "final");
});

test("one reply is one turn, also when a fragment in its middle is final", () => {
  const w = world();
  w.start(1);
  w.say("model", "One moment. ", 1, true);
  w.say("model", "It is noon.", 1);
  equal(w.texts(), ["model: One moment. It is noon."]);
  equal(w.list.turns[0].final, false, "final");
});

test("an empty fragment begins no turn", () => {
  const w = world();
  w.say("model", " ", 1);
  w.say("caller", "", 1, true);
  equal(w.list.turns, []);
});

test("acks count what was played, the end says the most of both", () => {
  const w = world();
  w.start(1);
  w.ack(1, 100);
  w.say("model", "Hello there.", 1);
  equal(w.list.turns[0].playedMs, 100, "before the text");
  w.ack(1, 400);
  w.ack(7, 900);
  equal(w.list.turns[0].playedMs, 400, "during the reply");
  w.end(1, "complete", 300);
  equal(w.list.turns[0].playedMs, 400, "at the end");
  w.ack(1, 500);
  equal(w.list.turns[0].playedMs, 400, "after the end");
  w.list.typed("x");
  equal(w.list.turns[1].playedMs, null, "of the caller");
});

test("over a connection without acks the end alone says what was played", () => {
  const w = world();
  w.start(1);
  w.say("model", "Hello there.", 1);
  w.end(1, "interrupted", 650);
  equal(w.list.turns[0].playedMs, 650);
});

test("a reply without a transcript is a turn once it was heard", () => {
  const w = world();
  w.start(1);
  w.end(1, "interrupted", 0);
  equal(w.list.turns.length, 0, "turns of a reply that nobody heard");
  w.start(2);
  w.ack(2, 900);
  w.end(2, "complete");
  equal(w.list.turns.map((t) => [t.text, t.playedMs, t.end, t.final]), [["", 900, "complete", true]]);
  w.say("model", "Late text.", 2);
  equal(w.texts(), ["model: Late text."]);
});

test("text that comes after the end of its reply belongs to it", () => {
  const w = world();
  w.start(1);
  w.say("model", "It is ", 1);
  w.end(1, "complete", 1_000);
  w.start(2);
  w.say("model", "And ", 2);
  w.say("model", "noon.", 1);
  w.say("model", "so on.", 2);
  equal(w.texts(), ["model: It is noon.", "model: And so on."]);
  equal(w.list.turns.map((t) => t.final), [true, false], "final");
});

test("a cut reply is cut at the start of a word", () => {
  const w = world();
  w.start(1);
  w.say("model", "Of course. For which evening?", 1);
  w.end(1, "interrupted", 65 * 13); // "Of course. Fo"
  equal(w.texts(), ["model: Of course. |For which evening?"]);
  w.say("model", " At eight?", 1);
  equal(w.texts(), ["model: Of course. |For which evening? At eight?"], "with late text");
});

test("the pace of finished replies says where the next one was cut", () => {
  const w = world();
  w.start(1);
  w.say("model", "0123456789", 1);
  w.end(1, "complete", 10_000); // a second for each
  w.start(2);
  w.say("model", "one two three", 2);
  w.end(2, "model_lost", 5_000);
  equal(w.texts()[1], "model: one |two three");
  w.start(3);
  w.say("model", "one two three", 3);
  w.end(3, "interrupted", 60_000);
  equal(w.texts()[2], "model: one two three", "all was heard");
  equal(w.list.turns[2].end, "interrupted", "end");
});

test("a reply too short to measure does not set the pace", () => {
  const w = world();
  w.start(1);
  w.say("model", "Yes.", 1);
  w.end(1, "complete", 20);
  w.start(2);
  w.say("model", "one two three", 2);
  w.end(2, "interrupted", 65 * 6);
  equal(w.texts()[1], "model: one |two three");
});

test("nothing is cut of a reply that was complete, all of one that nobody heard", () => {
  const w = world();
  w.start(1);
  w.say("model", "It is noon.", 1);
  w.end(1, "complete", 0);
  w.start(2);
  w.say("model", "Not said.", 2);
  w.end(2, "interrupted", 0);
  equal(w.texts(), ["model: It is noon.", "model: |Not said."]);
});

test("text without spaces is cut between characters", () => {
  const w = world();
  w.start(1);
  w.say("model", "今天天气很好我们出去走走吧明天也会是晴天的请放心😀😀好", 1);
  w.end(1, "interrupted", 65 * 3 * 25);
  equal(w.texts(), ["model: 今天天气很好我们出去走走吧明天也会是晴天的请放心😀|😀好"]);
});

test("without generations a final fragment ends a reply", () => {
  const w = world();
  w.say("model", "One ", null);
  w.say("model", "two.", null, true);
  w.say("model", "Three.", null);
  equal(w.texts(), ["model: One two.", "model: Three."]);
});

test("the end of the call ends every turn", () => {
  const w = world();
  w.say("caller", "Hello", 1);
  w.start(1);
  w.say("model", "Good morning to you.", 1);
  w.ack(1, 65 * 6);
  w.hangUp();
  equal(w.list.turns.map((t) => [t.final, t.end]), [[true, null], [true, "call_over"]]);
  equal(w.texts(), ["caller: Hello", "model: Good |morning to you."]);
});

test("a change makes a new list and a new turn, and keeps the others", () => {
  const w = world();
  w.list.typed("x");
  w.start(1);
  w.say("model", "Hello", 1);
  const before = w.list.turns;
  w.ack(1, 100);
  ok(before !== w.list.turns, "the list is a new one");
  ok(before[0] === w.list.turns[0], "the turn that did not change is the same");
  ok(before[1] !== w.list.turns[1] && before[1].playedMs === 0, "the old turn is as it was");
  const count = w.changes.length;
  w.ack(1, 100);
  equal(w.changes.length, count, "changes after the same ack");
});

test("a turn has at most 100,000 characters", () => {
  const w = world();
  for (let i = 0; i < 30; i++) w.say("caller", "x".repeat(4_000), 1);
  equal(w.list.turns.map((t) => t.text.length), [100_000]);
});

test("the last 1,000 turns are kept", () => {
  const w = world();
  for (let i = 0; i < 1_200; i++) w.list.typed(`text ${i}`);
  equal([w.list.turns.length, w.list.turns[0].id, w.list.turns[999].text], [1_000, 201, "text 1199"]);
});
