import { Resampler } from "/client/resampler.js";
import { equal, ok, test } from "./check.js";

const PAIRS = [
  [48_000, 16_000],
  [16_000, 48_000],
  [24_000, 48_000],
  [48_000, 24_000],
  [24_000, 44_100],
  [44_100, 16_000],
  [96_000, 48_000],
];

/** @type {(hz: number, rate: number, n: number) => Int16Array} */
const sine = (hz, rate, n) =>
  Int16Array.from({ length: n }, (_, i) => Math.round(16_384 * Math.sin((2 * Math.PI * hz * i) / rate)));

/**
 * Signal to everything else, in dB, by projection on sine and cosine.
 * @param {Int16Array} pcm
 * @param {number} hz
 * @param {number} rate
 */
function snr(pcm, hz, rate) {
  let a = 0,
    b = 0,
    total = 0;
  pcm.forEach((v, i) => {
    a += v * Math.sin((2 * Math.PI * hz * i) / rate);
    b += v * Math.cos((2 * Math.PI * hz * i) / rate);
    total += v * v;
  });
  const signal = (2 * (a * a + b * b)) / pcm.length;
  return 10 * Math.log10(signal / (total - signal));
}

for (const [from, to] of PAIRS) {
  test(`${from} to ${to}: 1 kHz stays clean`, () => {
    const out = new Resampler(from, to).process(sine(1000, from, from)).subarray(to / 10, to - to / 10);
    const got = snr(out, 1000, to);
    ok(got > 70, `SNR ${got.toFixed(1)} dB`);
  });

  test(`${from} to ${to}: 20 ms in, 20 ms out, chunks equal the whole`, () => {
    const pcm = sine(440, from, from / 5);
    const whole = new Resampler(from, to).process(pcm);
    const chunked = new Resampler(from, to);
    const parts = [];
    for (let at = 0; at < pcm.length; at += from / 50) {
      const part = chunked.process(pcm.subarray(at, at + from / 50));
      equal(part.length, to / 50, "samples of 20 ms");
      parts.push(...part);
    }
    equal(parts, [...whole], "samples");
  });
}

test("chunks of any size equal the whole", () => {
  for (const [from, to] of PAIRS) {
    const pcm = sine(440, from, from / 5);
    const whole = new Resampler(from, to).process(pcm);
    const chunked = new Resampler(from, to);
    const parts = [];
    for (let at = 0, n = 1; at < pcm.length; at += n, n = (n * 5 + 3) % 331)
      parts.push(...chunked.process(pcm.subarray(at, at + n)));
    equal(parts, [...whole], `samples from ${from} to ${to}`);
  }
});

test("what the lower rate cannot carry is gone", () => {
  const out = new Resampler(48_000, 16_000).process(sine(11_000, 48_000, 48_000)).subarray(1000);
  const peak = Math.max(...out.map(Math.abs));
  ok(peak < 16_384 * 10 ** (-70 / 20), `alias of peak ${peak}`);
});

test("equal rates pass through", () => {
  const pcm = sine(1000, 48_000, 960);
  ok(new Resampler(48_000, 48_000).process(pcm) === pcm, "copied");
});

test("reset forgets", () => {
  const r = new Resampler(24_000, 48_000);
  r.process(sine(1000, 24_000, 480));
  r.reset();
  equal(Math.max(...r.process(new Int16Array(480))), 0, "peak");
});
