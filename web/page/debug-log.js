// window.voicegw, for tests and for debugging in the browser's console.

const EVENTS_MAX = 500;
const TAP_MAX = 3_000; // messages of 100 ms: five minutes

const LOGGED = /** @type {const} */ ([
  "state",
  "ready",
  "speech",
  "turn",
  "transcript",
  "clear",
  "ack",
  "playout",
  "latency",
  "warning",
  "error",
  "end",
  "mute",
  "hold",
  "consent",
  "protected",
  "model",
  "message",
  "reconnecting",
  "reconnected",
  "transfer",
  "tool_call",
  "tool_result",
  "tool_cancel",
]);

/** Keeps the last events, and with the option `tap` what was played. */
export class DebugLog {
  #client;
  /** @type {{type: string, at: number}[]} */
  #events = [];
  #rate = 0;
  /** @type {Int16Array[]} */
  #parts = [];

  /** @param {import("../client/index.js").VoiceClient} client */
  constructor(client) {
    this.#client = client;
    client.on("tap", ({ pcm, rate }) => this.#keep(pcm, rate));
    for (const type of LOGGED) client.on(type, (/** @type {object} */ detail) => this.#log(type, detail));
  }

  /** Forgets what was played, as a call begins. */
  reset() {
    this.#parts = [];
  }

  /**
   * What window.voicegw is: `client` the VoiceClient, `stats()` its counters, `log` the last 500
   * events, and with ?tap=1 `heard()` what was played, `heard.parts()` how many parts of 100 ms
   * that is.
   */
  get inspector() {
    const heard = Object.assign(() => this.#heard(), { parts: () => this.#parts.length });
    return { client: this.#client, log: this.#events, stats: () => this.#client.stats, heard };
  }

  /**
   * @param {string} type
   * @param {object} detail
   */
  #log(type, detail) {
    this.#events.push({ type, at: Math.round(performance.now()), ...detail });
    if (this.#events.length > EVENTS_MAX) this.#events.shift();
  }

  /**
   * @param {Int16Array} pcm
   * @param {number} rate
   */
  #keep(pcm, rate) {
    this.#rate = rate;
    if (this.#parts.length < TAP_MAX) this.#parts.push(pcm);
  }

  // What was played since the call began, as {rate, base64} of 16-bit little-endian mono PCM.
  #heard() {
    const bytes = this.#parts.map((pcm) => new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength));
    let text = "";
    for (const part of bytes) {
      for (let i = 0; i < part.length; i += 8_192) text += String.fromCharCode(...part.subarray(i, i + 8_192));
    }
    return { rate: this.#rate, base64: btoa(text) };
  }
}
