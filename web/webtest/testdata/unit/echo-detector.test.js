import { EchoDetector } from "/client/echo-detector.js";
import { equal, test } from "./check.js";

let seed = 5;
const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;

/**
 * The loudness of speech in slots of 20 ms: syllables and short pauses.
 * @param {number} slots
 */
function speech(slots) {
  const out = [];
  while (out.length < slots) {
    const n = 6 + Math.floor(random() * 10);
    const loud = 0.05 + 0.3 * random();
    for (let i = 0; i < n; i++) out.push(loud * Math.sin((Math.PI * (i + 0.5)) / n));
    for (let i = 0; i < 1 + random() * 5; i++) out.push(0.0003);
  }
  return out.slice(0, slots);
}

/**
 * Feeds both levels; returns whether the detector ever warned.
 * @param {number[]} model
 * @param {number[]} caller
 */
function warns(model, caller) {
  const self = new EchoDetector();
  let warned = false;
  for (let i = 0; i < model.length; i++) {
    const at = (i + 1) * 20;
    if (model[i] > 0) self.model(at, model[i]);
    warned = self.caller(at, caller[i]) || warned;
  }
  return warned;
}

/** @type {(slots: number) => number[]} */
const quiet = (slots) => Array.from({ length: slots }, () => 0.0004 + 0.0004 * random());
/** @type {(levels: number[], slots: number, gain: number) => number[]} */
const delayed = (levels, slots, gain) =>
  levels.map((_, i) => 0.0006 + (i < slots ? 0 : gain * levels[i - slots]));

test("an echo is heard, near and far, loud and soft", () => {
  for (const lag of [3, 8, 20]) {
    for (const gain of [0.7, 0.1]) {
      const model = speech(400);
      equal(warns(model, delayed(model, lag, gain)), true, `warning at ${lag * 20} ms, gain ${gain}`);
    }
  }
});

test("a quiet room, another voice and a voice without a reply are no echo", () => {
  for (let i = 0; i < 20; i++) {
    equal(warns(speech(400), quiet(400)), false, "warning in a quiet room");
    equal(warns(speech(400), speech(400)), false, `warning while both speak, run ${i}`);
    equal(warns(new Array(400).fill(0), speech(400)), false, "warning without a reply");
  }
});

test("a parrot follows the caller, which is no echo", () => {
  const caller = [...speech(150), ...quiet(300)];
  const model = caller.map((_, i) => (i < 170 ? 0 : (caller[i - 170] ?? 0)));
  equal(warns(model, caller), false, "warning");
});

test("a second interruption right after a reply began warns", () => {
  const self = new EchoDetector();
  self.replyStarted(1000);
  equal(self.replyEnded(1700, true), false, "first");
  self.replyStarted(3000);
  equal(self.replyEnded(3600, true), true, "second");
});

test("interruptions that are late or apart do not warn", () => {
  const self = new EchoDetector();
  for (let i = 0; i < 5; i++) {
    self.replyStarted(i * 10_000);
    equal(self.replyEnded(i * 10_000 + 2_000, true), false, "late");
  }
  for (let i = 0; i < 4; i++) {
    self.replyStarted(i * 10_000);
    equal(self.replyEnded(i * 10_000 + 500, i % 2 === 0), false, "every other one");
  }
});
