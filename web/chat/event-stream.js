// The stream of a session's events: it reconnects by itself, and goes on behind the last event that was
// taken.

import { APIError, pauseMs, wait } from "./api.js";
import { FrameParser } from "./sse.js";

/**
 * @typedef {import("./api.js").SessionEvent} SessionEvent
 * @typedef {"connecting" | "live" | "reconnecting" | "off"} Connection
 *
 * @typedef {object} Source
 * @property {(signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>} open opens the stream behind the last event
 * @property {(event: SessionEvent) => boolean} take takes an event; false means that events are missing before it
 * @property {(state: Connection) => void} changed
 * @property {(error: APIError) => void} failed tells of a refusal; the stream is over then
 */

const SILENCE_MAX_MS = 45_000; // the gateway sends a comment every 15 s

/** Reads a stream until it is stopped. */
export class EventStream {
  #source;
  #stop = new AbortController();
  #hurry = () => {};

  /** @param {Source} source */
  constructor(source) {
    this.#source = source;
    queueMicrotask(() => void this.#run());
  }

  /** Ends the stream. */
  stop() {
    this.#stop.abort();
  }

  /** Tries again now instead of after the pause. */
  hurry() {
    this.#hurry();
  }

  async #run() {
    const { signal } = this.#stop;
    const progress = { failures: 0 };
    this.#source.changed("connecting");
    while (!signal.aborted) {
      try {
        if (await this.#read(progress)) return;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof APIError && !error.isPassing) {
          this.#source.changed("off");
          return this.#source.failed(error);
        }
      }
      if (signal.aborted) return;
      this.#source.changed("reconnecting");
      const hurry = new AbortController();
      this.#hurry = () => hurry.abort();
      await wait(pauseMs(progress.failures++, Math.random()), AbortSignal.any([signal, hurry.signal])).catch(() => {});
    }
  }

  /**
   * Reads one connection to its end. It reports whether the session has been deleted.
   * @param {{ failures: number }} progress
   */
  async #read(progress) {
    const silent = new AbortController();
    const watch = () => setTimeout(() => silent.abort(new Error("the stream is silent")), SILENCE_MAX_MS);
    let timer = watch();
    const parser = new FrameParser();
    /** @type {ReadableStreamDefaultReader<string> | undefined} */
    let reader;
    try {
      const bytes = await this.#source.open(AbortSignal.any([this.#stop.signal, silent.signal]));
      const decoder = /** @type {ReadableWritablePair<string, Uint8Array>} */ (new TextDecoderStream());
      reader = bytes.pipeThrough(decoder).getReader();
      this.#source.changed("live");
      for (;;) {
        const { done, value } = await reader.read();
        if (done || this.#stop.signal.aborted) return false;
        clearTimeout(timer);
        timer = watch();
        for (const { event, data } of parser.push(value)) {
          if (event === "error") throw new Error("the gateway cannot read the journal");
          if (data !== "" && this.#take(data)) return true;
          progress.failures = 0;
        }
      }
    } finally {
      clearTimeout(timer);
      void reader?.cancel().catch(() => {});
    }
  }

  /**
   * Takes the data of a frame. It reports whether that was the last.
   * @param {string} data
   */
  #take(data) {
    const event = /** @type {SessionEvent} */ (JSON.parse(data));
    if (!this.#source.take(event)) throw new Error("events are missing in the stream");
    if (event.type !== "session.deleted") return false;
    this.#source.changed("off");
    return true;
  }
}
