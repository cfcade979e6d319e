import { Recording, clock, span } from "/console/console/recording.js";
import { equal, test } from "./check.js";

/** A place "a" with fresh and stale tokens in slots 0 and 1, and a place "b" in slot 2. */
const net = { places: [{ slot: 0, slots: 2, gen: true }, { slot: 2, slots: 1 }] };
const kinds = [
  { kind: "injected", put: [[0, 1]] },
  { kind: "fired", take: [[0, 1]], put: [[2, 1]] },
  { kind: "fired", ages: true, zero: [2], put: [[0, 1]] },
];

/** @param {number[]} codes one event a millisecond */
function recording(codes) {
  const rec = new Recording({ at: 0, seq: 0, marking: [0, 0, 0] });
  rec.learn(net);
  rec.apply({ at: codes.length, kinds, events: codes.flatMap((c, i) => [i * 1000, c]) });
  return rec;
}

test("the tokens move as the events say, at every moment", () => {
  const rec = recording([0, 0, 1, 2]);
  equal([0, 1, 2, 3, 4].map((n) => [...rec.marking(n)]), [[0, 0, 0], [1, 0, 0], [2, 0, 0], [1, 0, 1], [1, 1, 0]]);
  equal([rec.count(-1), rec.count(0), rec.count(1.5), rec.count(99)], [0, 1, 2, 4]);
});

test("a marking far into a long call is that of all events before it", () => {
  const rec = recording(Array.from({ length: 5000 }, (_, i) => i % 2));
  equal([...rec.marking(4999)], [1, 0, 2499]);
  equal([...rec.marking(1000)], [0, 0, 500]);
});

test("spans, turns and silences grow, and causes are found by their time", () => {
  const rec = recording([0]);
  rec.apply({ at: 50, spans: [{ lane: "phase", n: 0, from: 10, to: 50, open: true, note: "caller" }], causes: [{ from: 10, key: "a" }] });
  rec.apply({ at: 90, spans: [{ lane: "phase", n: 0, from: 10, to: 80 }], causes: [{ from: 80, key: "b" }], silences: [{ n: 0, from: 80 }] });
  equal([rec.spanAt("phase", 5), rec.spanAt("phase", 79)?.to, rec.spanAt("phase", 85), rec.spanAt("none", 1)], [null, 80, null, null]);
  equal([rec.causeAt(9), rec.causeAt(20)?.key, rec.causeAt(80)?.key, rec.silences.length, rec.end], [null, "a", "b", 1, 90]);
});

test("times are written as people say them", () => {
  equal([clock(0), clock(62_340), clock(-5), span(240), span(3210)], ["0:00.0", "1:02.3", "0:00.0", "240 ms", "3.2 s"]);
});
