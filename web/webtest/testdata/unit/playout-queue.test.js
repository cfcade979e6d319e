import { PlayoutQueue } from "/client/playout-queue.js";
import { equal, ok, test } from "./check.js";

const RATE = 48_000;
const FRAME = 960;

/** @typedef {import("/client/playout-queue.js").AckReport} AckReport */

/** @param {number} value */
const frame = (value, n = FRAME) => new Int16Array(n).fill(value);
/** @type {(playout: PlayoutQueue, generation: number, count: number, value?: number) => void} */
const frames = (playout, generation, count, value = 1000) => {
  for (let i = 0; i < count; i++) playout.push(generation, frame(value));
};

/**
 * Pulls ms of sound in quanta of 128 samples; returns it with the reports but the levels.
 * @param {PlayoutQueue} playout
 * @param {number} ms
 */
function pull(playout, ms, rate = RATE) {
  const heard = [];
  const reports = [];
  for (let left = Math.round((ms * rate) / 1000); left > 0; left -= 128) {
    const out = new Float32Array(Math.min(128, left));
    playout.pull(out);
    heard.push(...out.map((v) => v * 32768));
    reports.push(...playout.takeReports().filter((r) => r.kind !== "level"));
  }
  return { heard, reports, acks: reports.filter((r) => r.kind === "ack").map(short) };
}

/** @param {AckReport} report */
const short = ({ generation, played_ms, mark, cleared }) => [
  generation,
  played_ms,
  ...(mark === undefined ? [] : [mark]),
  ...(cleared ? ["cleared"] : []),
];
/** @param {PlayoutQueue} playout */
const acksOf = (playout) =>
  playout
    .takeReports()
    .filter((r) => r.kind === "ack")
    .map(short);

test("silence until 40 ms are queued", () => {
  const p = new PlayoutQueue(RATE);
  frames(p, 1, 1);
  ok(
    pull(p, 10).heard.every((v) => v === 0),
    "played with 20 ms queued",
  );
  frames(p, 1, 1);
  equal(pull(p, 5).heard[0], 1000, "first sample");
});

test("a single frame plays after 40 ms of waiting", () => {
  const p = new PlayoutQueue(RATE);
  frames(p, 1, 1);
  const { heard, acks } = pull(p, 100);
  equal(heard.filter((v) => v !== 0).length, FRAME, "samples");
  ok(heard.findIndex((v) => v !== 0) <= (RATE * 45) / 1000, "waited too long");
  equal(acks, [[1, 20]], "acks");
});

test("a mark ends the waiting", () => {
  const p = new PlayoutQueue(RATE);
  frames(p, 1, 1);
  p.mark(1, "end");
  equal(pull(p, 5).heard[0], 1000, "first sample");
});

test("everything is played once, in order, whatever the sizes", () => {
  const p = new PlayoutQueue(RATE);
  const want = Array.from({ length: 10_000 }, (_, i) => ((i * 37) % 2000) - 1000);
  for (let at = 0, n = 1; at < want.length; at += n, n = (n * 7) % 1201)
    p.push(1, Int16Array.from(want.slice(at, at + n)));
  equal(pull(p, 300).heard.slice(0, want.length), want, "samples");
});

test("acks every 100 ms, at the mark and when dry", () => {
  const p = new PlayoutQueue(RATE);
  frames(p, 4, 18); // 360 ms
  p.mark(4, "4:end");
  equal(
    pull(p, 500).acks,
    [
      [4, 100],
      [4, 200],
      [4, 300],
      [4, 360, "4:end"],
    ],
    "acks",
  );
  frames(p, 5, 12);
  equal(
    pull(p, 500).acks,
    [
      [5, 100],
      [5, 200],
      [5, 240],
    ],
    "acks",
  );
});

test("a mark on an empty queue is reached at once", () => {
  const p = new PlayoutQueue(RATE);
  p.mark(7, "x");
  equal(acksOf(p), [[7, 0, "x"]], "acks");
});

test("marks within a reply are reached in their place", () => {
  const p = new PlayoutQueue(RATE);
  frames(p, 1, 2);
  p.mark(1, "a");
  p.mark(1, "b");
  frames(p, 1, 2);
  equal(pull(p, 39).acks, [], "acks before");
  equal(
    pull(p, 2).acks,
    [
      [1, 40, "a"],
      [1, 40, "b"],
    ],
    "acks",
  );
});

test("clear rounds down to whole frames and counts on from there", () => {
  const p = new PlayoutQueue(RATE);
  frames(p, 2, 50);
  pull(p, 357);
  p.clear(2);
  equal(acksOf(p), [[2, 340, "cleared"]], "acks");
  frames(p, 2, 33, 500); // resumed from 340 ms
  p.mark(2, "2:end");
  const { acks } = pull(p, 1000);
  equal(
    acks,
    [
      [2, 440],
      [2, 540],
      [2, 640],
      [2, 740],
      [2, 840],
      [2, 940],
      [2, 1000, "2:end"],
    ],
    "acks",
  );
});

test("parts of frames do not add up over several clears", () => {
  const p = new PlayoutQueue(RATE);
  frames(p, 2, 50);
  pull(p, 357);
  for (let i = 0; i < 6; i++) {
    p.clear(2);
    equal(acksOf(p), [[2, 340, "cleared"]], `acks of clear ${i}`);
    frames(p, 2, 10);
    pull(p, 17);
  }
});

test("after clear nothing old is heard but a ramp of 4 ms", () => {
  const p = new PlayoutQueue(RATE);
  frames(p, 1, 50, 8000);
  pull(p, 95);
  p.clear(1);
  const { heard } = pull(p, 200);
  const last = heard.findLastIndex((v) => v !== 0);
  ok(last > 0 && last < (RATE * 5) / 1000, `last sound ${last} samples after the clear`);
  ok(
    heard.slice(0, last).every((v, i) => i === 0 || v <= heard[i - 1]),
    "the ramp rises",
  );
  frames(p, 1, 2, 77);
  equal(pull(p, 20).heard[0], 77, "first sample of the resumed reply");
});

test("clear with nothing queued answers with what was heard", () => {
  const p = new PlayoutQueue(RATE);
  p.clear(9);
  equal(acksOf(p), [[9, 0, "cleared"]], "acks");
  frames(p, 9, 5);
  pull(p, 300);
  p.clear(9);
  equal(acksOf(p), [[9, 100, "cleared"]], "acks");
});

test("clear before anything was played", () => {
  const p = new PlayoutQueue(RATE);
  frames(p, 1, 1);
  p.clear(1);
  equal(acksOf(p), [[1, 0, "cleared"]], "acks");
  equal(p.queuedMs, 0, "queued");
  equal(pull(p, 100).heard.filter((v) => v !== 0).length, 0, "samples heard");
});

test("two clears in a row", () => {
  const p = new PlayoutQueue(RATE);
  frames(p, 1, 20);
  pull(p, 130);
  p.clear(1);
  p.clear(1);
  equal(
    acksOf(p),
    [
      [1, 120, "cleared"],
      [1, 120, "cleared"],
    ],
    "acks",
  );
});

test("clear drops queued marks", () => {
  const p = new PlayoutQueue(RATE);
  frames(p, 1, 20);
  p.mark(1, "1:end");
  pull(p, 30);
  p.clear(1);
  acksOf(p);
  equal(pull(p, 600).acks, [], "acks after the clear");
});

test("a generation is finished when the next one plays", () => {
  const p = new PlayoutQueue(RATE);
  frames(p, 1, 3);
  frames(p, 2, 3);
  const { reports, acks } = pull(p, 200);
  equal(
    acks,
    [
      [1, 60],
      [2, 60],
    ],
    "acks",
  );
  equal(
    reports.filter((r) => r.kind === "start").map((r) => [r.generation, "at" in r && r.at]),
    [
      [1, 0],
      [2, 3 * FRAME],
    ],
    "starts",
  );
});

test("clear of one generation drops what is queued of another", () => {
  const p = new PlayoutQueue(RATE);
  frames(p, 1, 10);
  frames(p, 2, 10);
  pull(p, 50);
  p.clear(2);
  equal(acksOf(p), [[2, 0, "cleared"]], "acks");
  equal(p.queuedMs, 0, "queued");
});

test("played_ms never goes down, whatever happens", () => {
  let seed = 1;
  const random = (/** @type {number} */ n) => (seed = (seed * 48_271) % 2_147_483_647) % n;
  for (let run = 0; run < 200; run++) {
    const p = new PlayoutQueue(RATE);
    const highest = new Map();
    const sent = new Map();
    let generation = 1;
    for (let step = 0; step < 60; step++) {
      const what = random(10);
      if (what < 5) {
        frames(p, generation, 1 + random(6));
        sent.set(generation, sent.get(generation) ?? 0);
      } else if (what < 8) pull(p, 1 + random(90)).reports.forEach(check);
      else if (what === 8) p.clear(generation);
      else if (random(3) === 0) generation++;
      p.takeReports().forEach(check);
    }
    /** @param {import("/client/playout-queue.js").Report} report */
    function check(report) {
      if (report.kind !== "ack") return;
      ok(
        report.played_ms >= (highest.get(report.generation) ?? 0),
        `run ${run}: ${JSON.stringify(report)} after ${highest.get(report.generation)}`,
      );
      ok(report.played_ms % 20 === 0, `run ${run}: not whole frames: ${JSON.stringify(report)}`);
      highest.set(report.generation, report.played_ms);
    }
  }
});

test("a reply that ends within a frame is counted to its end, and never less afterwards", () => {
  const p = new PlayoutQueue(RATE);
  frames(p, 1, 3);
  p.push(1, frame(1, 480));
  pull(p, 200);
  p.clear(1);
  p.mark(1, "m");
  equal(
    acksOf(p),
    [
      [1, 70, "cleared"],
      [1, 70, "m"],
    ],
    "acks",
  );
  frames(p, 1, 5);
  p.clear(1);
  equal(acksOf(p), [[1, 70, "cleared"]], "acks of more that was never played");
  p.push(1, frame(1, 480));
  equal(pull(p, 100).acks, [[1, 80]], "acks of what was");
});

test("running dry in the middle of a reply is an underrun and waits for 40 ms again", () => {
  const p = new PlayoutQueue(RATE);
  frames(p, 1, 4);
  pull(p, 100);
  equal(p.underruns, 0, "underruns before more came");
  frames(p, 1, 1);
  equal(p.underruns, 1, "underruns");
  ok(
    pull(p, 10).heard.every((v) => v === 0),
    "played without a prebuffer",
  );
  frames(p, 1, 1);
  equal(pull(p, 5).heard[0], 1000, "first sample");
  p.clear(1);
  frames(p, 1, 2);
  equal(p.underruns, 1, "a clear is no underrun");
});

test("44.1 kHz counts frames of 882 samples", () => {
  const p = new PlayoutQueue(44_100);
  for (let i = 0; i < 30; i++) p.push(1, frame(5, 882));
  pull(p, 275, 44_100);
  p.clear(1);
  equal(acksOf(p), [[1, 260, "cleared"]], "acks");
});

test("start, audible, stop and level say when", () => {
  const p = new PlayoutQueue(RATE);
  p.push(1, frame(0));
  frames(p, 1, 2, 16_384);
  const { reports } = pull(p, 200);
  equal(
    reports.find((r) => r.kind === "start"),
    { kind: "start", generation: 1, at: 0 },
    "start",
  );
  equal(
    reports.find((r) => r.kind === "audible"),
    { kind: "audible", generation: 1, at: FRAME },
    "audible",
  );
  const stop = reports.find((r) => r.kind === "stop");
  equal([stop?.cause, stop?.at], ["dry", 3 * FRAME], "stop");
  const q = new PlayoutQueue(RATE);
  frames(q, 1, 10, 16_384);
  for (let i = 0; i < 40; i++) q.pull(new Float32Array(128));
  const levels = q.takeReports().filter((r) => r.kind === "level");
  ok(levels.length === 5 && levels.every((l) => Math.abs(l.rms - 0.5) < 1e-6), JSON.stringify(levels));
});

test("levels cease in silence", () => {
  const p = new PlayoutQueue(RATE);
  for (let i = 0; i < 400; i++) p.pull(new Float32Array(128));
  equal(p.takeReports().length, 0, "reports");
});

test("a queue of ten minutes takes no more", () => {
  const p = new PlayoutQueue(8_000);
  const minute = () => new Int16Array(8_000 * 60);
  for (let i = 0; i < 11; i++) equal(p.push(1, minute()), true, `minute ${i}`);
  equal(p.push(1, minute()), false, "the twelfth minute");
});
