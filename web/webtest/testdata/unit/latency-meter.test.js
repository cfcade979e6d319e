import { LatencyMeter } from "/client/latency-meter.js";
import { equal, test } from "./check.js";

/**
 * Blocks of 20 ms from..to, loud or of a quiet room.
 * @param {LatencyMeter} latency
 * @param {number} fromMs
 * @param {number} toMs
 * @param {number} rms
 */
function blocks(latency, fromMs, toMs, rms) {
  for (let at = fromMs + 20; at <= toMs; at += 20) latency.block(at, rms, 20);
}

test("first audio counts from the last loud block, not from the server's stop", () => {
  const l = new LatencyMeter();
  blocks(l, 0, 1000, 0.0005);
  blocks(l, 1000, 2000, 0.1);
  blocks(l, 2000, 2600, 0.0005);
  l.speech("start");
  l.speech("stop");
  equal(l.audible(1, 2750), 750, "first audio");
  equal(l.audible(2, 9000), null, "first audio of a reply to nothing");
});

test("a greeting has no latency", () => {
  const l = new LatencyMeter();
  blocks(l, 0, 1000, 0.0005);
  equal(l.audible(1, 1000), null, "first audio");
});

test("a loud room is not speech", () => {
  const l = new LatencyMeter();
  blocks(l, 0, 4000, 0.02);
  blocks(l, 4000, 5000, 0.2);
  blocks(l, 5000, 5500, 0.02);
  l.speech("start");
  l.speech("stop");
  equal(l.audible(1, 5600), 600, "first audio");
});

test("barge-in counts from the first loud block over the reply to its last audible sample", () => {
  const l = new LatencyMeter();
  blocks(l, 0, 1000, 0.0005);
  l.audible(1, 1000);
  blocks(l, 1000, 2000, 0.0005);
  blocks(l, 2000, 2300, 0.1);
  l.speech("start");
  l.cleared(1, 2310);
  equal(l.ended(1, "interrupted"), 310, "barge-in");
});

test("a cough that resumes is no barge-in, the one after it is", () => {
  const l = new LatencyMeter();
  blocks(l, 0, 1000, 0.0005);
  l.audible(1, 1000);
  blocks(l, 1000, 2000, 0.0005);
  blocks(l, 2000, 2120, 0.1);
  l.speech("start");
  l.cleared(1, 2130);
  l.speech("stop");
  l.started(1);
  equal(l.audible(1, 2900), null, "first audio of a reply that goes on");
  blocks(l, 2120, 4000, 0.0005);
  blocks(l, 4000, 4200, 0.1);
  l.speech("start");
  l.cleared(1, 4205);
  equal(l.ended(1, "interrupted"), 205, "barge-in");
  const other = new LatencyMeter();
  blocks(other, 0, 1000, 0.1);
  other.audible(1, 500);
  other.speech("start");
  other.cleared(1, 900);
  other.started(1);
  equal(other.ended(1, "complete"), null, "barge-in of a reply that ended by itself");
});

test("speech that began before the reply counts from the reply", () => {
  const l = new LatencyMeter();
  blocks(l, 0, 500, 0.0005);
  blocks(l, 500, 1500, 0.1);
  l.speech("start");
  l.audible(3, 1200);
  blocks(l, 1500, 1600, 0.1);
  l.cleared(3, 1650);
  equal(l.ended(3, "interrupted"), 450, "barge-in");
});

test("the end of another generation measures nothing", () => {
  const l = new LatencyMeter();
  blocks(l, 0, 500, 0.0005);
  l.speech("start");
  l.audible(1, 500);
  blocks(l, 500, 800, 0.1);
  l.cleared(1, 800);
  equal(l.ended(2, "interrupted"), null, "barge-in");
});

test("a reply to typed text has no latency, the one after it has", () => {
  const l = new LatencyMeter();
  blocks(l, 0, 1000, 0.0005);
  blocks(l, 1000, 1400, 0.1);
  l.speech("start");
  l.speech("stop");
  l.typed();
  blocks(l, 1400, 2500, 0.0005);
  blocks(l, 2500, 2600, 0.1); // the keyboard
  l.speech("start");
  l.speech("stop");
  equal(l.audible(1, 2720), null, "first audio of the reply to typed text");
  l.ended(1, "complete");
  blocks(l, 2600, 5000, 0.0005);
  blocks(l, 5000, 6000, 0.1);
  l.speech("start");
  l.speech("stop");
  equal(l.audible(2, 6900), 900, "first audio of the reply to speech");
});

test("typing over a reply is no barge-in", () => {
  const l = new LatencyMeter();
  blocks(l, 0, 1000, 0.0005);
  l.audible(1, 1000);
  blocks(l, 1000, 1100, 0.1);
  l.typed();
  l.cleared(1, 1120);
  equal(l.ended(1, "interrupted"), null, "barge-in");
});

test("mute ends what is measured", () => {
  const l = new LatencyMeter();
  blocks(l, 0, 1000, 0.0005);
  blocks(l, 1000, 2000, 0.1);
  l.speech("start");
  l.forget();
  l.speech("stop");
  blocks(l, 5000, 5020, 0.1); // the noise of a microphone that is switched on
  equal(l.audible(1, 5032), null, "first audio");
});

test("a reply over which the caller speaks answers nothing that was measured", () => {
  const l = new LatencyMeter();
  blocks(l, 0, 1000, 0.0005);
  blocks(l, 1000, 2000, 0.1);
  l.speech("start");
  equal(l.audible(1, 2012), null, "first audio");
  const quick = new LatencyMeter();
  blocks(quick, 0, 1000, 0.0005);
  blocks(quick, 1000, 2000, 0.1);
  quick.speech("start");
  equal(quick.audible(1, 2300), 300, "first audio before the server says that speech has stopped");
});

test("a reply whose sound ends after the news of its end is measured then", () => {
  const l = new LatencyMeter();
  blocks(l, 0, 1000, 0.0005);
  l.audible(4, 1000);
  blocks(l, 1000, 2000, 0.0005);
  blocks(l, 2000, 2300, 0.1);
  l.speech("start");
  equal(l.ended(4, "interrupted"), null, "barge-in before the sound ended");
  equal(l.cleared(4, 2410), 410, "barge-in");
  equal(l.ended(4, "interrupted"), null, "barge-in once more");
});
