import { FrameParser } from "/chat/chat/sse.js";
import { equal, test, throws } from "./check.js";

const stream = "id: 7\nevent: message\ndata: {\"a\":1}\n\n: still here\n\ndata: one\r\ndata:two\r\n\r\nevent: error\ndata\n\nrest";
const frames = [
  { event: "message", data: "{\"a\":1}", id: "7" },
  { event: "", data: "", id: "7" },
  { event: "", data: "one\ntwo", id: "7" },
  { event: "error", data: "", id: "7" },
];

test("a stream has the same frames, wherever its chunks end", () => {
  for (let size = 1; size <= stream.length; size++) {
    const parser = new FrameParser();
    const got = [];
    for (let at = 0; at < stream.length; at += size) got.push(...parser.push(stream.slice(at, at + size)));
    equal(got, frames, `frames of chunks of ${size}`);
  }
});

test("a frame without an end is refused, in one line or in many", () => {
  const long = "x".repeat(3 << 20);
  throws(() => new FrameParser().push(`data: ${long}${long}${long}`), "a line of 9 Mi characters");
  const parser = new FrameParser();
  parser.push(`data: ${long}\n`);
  throws(() => parser.push(`data: ${long}\ndata: ${long}\n`), "three lines");
});

test("frames that have ended do not count", () => {
  const parser = new FrameParser();
  for (let i = 0; i < 5; i++) equal(parser.push(`data: ${"x".repeat(3 << 20)}\n\n`).length, 1);
});
