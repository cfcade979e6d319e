// Server-sent events, parsed from the chunks of a response: HTML living standard, section 9.2.6.

/** @typedef {{ event: string, data: string, id: string }} Frame a frame; a comment has no data */

const BUFFERED_MAX = 8 << 20; // characters of one frame

/** Parses one stream. It throws when a frame is longer than 8 Mi characters. */
export class FrameParser {
  #rest = ""; // the beginning of a line
  #event = "";
  #id = "";
  /** @type {string[]} */
  #data = [];
  #size = 0;

  /**
   * Takes the next chunk and returns the frames that it completes. A comment is a frame without data, so
   * that the reader knows that the stream lives. A chunk may begin and end anywhere.
   * @param {string} chunk
   * @returns {Frame[]}
   */
  push(chunk) {
    const lines = (this.#rest + chunk).split("\n");
    this.#rest = lines.pop() ?? "";
    /** @type {Frame[]} */
    const frames = [];
    for (const line of lines) this.#line(line.endsWith("\r") ? line.slice(0, -1) : line, frames);
    if (this.#size + this.#rest.length > BUFFERED_MAX) {
      throw new Error(`voicegw: a frame of the stream has more than ${BUFFERED_MAX} characters`);
    }
    return frames;
  }

  /**
   * @param {string} line
   * @param {Frame[]} frames
   */
  #line(line, frames) {
    if (line === "") {
      if (this.#data.length > 0) frames.push({ event: this.#event, data: this.#data.join("\n"), id: this.#id });
      this.#event = "";
      this.#data = [];
      this.#size = 0;
      return;
    }
    if (line.startsWith(":")) {
      frames.push({ event: "", data: "", id: this.#id });
      return;
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (name === "event") this.#event = value;
    if (name === "id") this.#id = value;
    if (name === "data") {
      this.#data.push(value);
      this.#size += value.length;
    }
  }
}
