import { isPacked, unpack } from "/client/net-graph.js";
import { equal, test } from "./check.js";

/**
 * The event of a drawing, compressed.
 * @param {string} svg
 */
async function packed(svg) {
  const stream = new Blob([svg]).stream().pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return `{"type":"net_graph","svg_gzip":"${btoa(text)}"}`;
}

test("a drawing is what it was", async () => {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg"><text>"größer" \\ ${"x".repeat(300_000)}</text></svg>`;
  equal(await unpack(await packed(svg)), JSON.stringify({ type: "net_graph", svg }), "the event");
});

test("other events are not drawings", () => {
  for (const text of ['{"type":"net_graph","svg":""}', '{"type":"clear","generation":1}', "", "{"]) {
    equal(isPacked(text), false, text);
  }
});

test("what cannot be unpacked is nothing", async () => {
  const head = '{"type":"net_graph","svg_gzip":';
  for (const text of [head, `${head}7}`, `${head}"?"}`, `${head}"eHh4"}`, (await packed("x".repeat(99))).slice(0, -20) + '"}']) {
    equal(isPacked(text), true, text);
    equal(await unpack(text), null, text);
  }
});

test("a drawing that grows without end is nothing", async () => {
  equal(await unpack(await packed("x".repeat(5_000_000))), null, "the event");
});
