// The event net_graph over a data channel: compressed, because browsers do not take messages as
// long as a drawing.

const HEAD = '{"type":"net_graph","svg_gzip":';
const CHARS_MAX = 4_000_000; // of a drawing

/**
 * Whether an event is a compressed drawing.
 * @param {unknown} text
 */
export function isPacked(text) {
  return typeof text === "string" && text.startsWith(HEAD);
}

/**
 * The event as a WebSocket would have brought it. null when the drawing is too long or cannot be
 * unpacked, as in a browser without DecompressionStream.
 * @param {string} text
 * @returns {Promise<string | null>}
 */
export async function unpack(text) {
  try {
    const bytes = Uint8Array.from(atob(JSON.parse(text).svg_gzip), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
    let svg = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      svg += part.value;
      if (svg.length > CHARS_MAX) {
        reader.cancel().catch(() => {});
        return null;
      }
    }
    return JSON.stringify({ type: "net_graph", svg });
  } catch {
    return null;
  }
}
