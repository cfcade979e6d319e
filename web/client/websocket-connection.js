// The connection of a call over a WebSocket: events as text frames, sound as PCM in binary frames.
//
// Another protocol is a function with the signature of connectWebSocket, given to VoiceClient as
// the option `connect`. The types `Connect` and `Connection` in index.d.ts say what it must do.

import { VoiceError, closeReason } from "./errors.js";
import { RESUME_SUBPROTOCOL, SUBPROTOCOL } from "./protocol.js";
import { SendQueue } from "./send-queue.js";

/** @typedef {import("./index.js").Connection} Connection */

const OPEN_TIMEOUT_MS = 10_000;
const PROBE_TIMEOUT_MS = 3_000;

/**
 * Opens a WebSocket. Rejects with a VoiceError that says why it could not.
 * @type {import("./index.js").Connect}
 */
export function connectWebSocket({ url, signal, resume }, events) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, resume ? [SUBPROTOCOL, RESUME_SUBPROTOCOL] : SUBPROTOCOL);
    socket.binaryType = "arraybuffer";
    const giveUp = (/** @type {string} */ reason) => {
      socket.onopen = socket.onclose = null;
      socket.close();
      reject(new VoiceError(reason));
    };
    const timer = setTimeout(() => giveUp("server_gone"), OPEN_TIMEOUT_MS);
    const abandon = () => {
      clearTimeout(timer);
      giveUp("caller_hung_up");
    };
    signal.addEventListener("abort", abandon, { once: true });
    socket.onopen = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abandon);
      resolve(new WebSocketConnection(socket, events));
    };
    socket.onclose = async () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abandon);
      reject(new VoiceError(resume ? "server_lost" : await whyRefused(url)));
    };
  });
}

/** @implements {Connection} */
class WebSocketConnection {
  remote = null; // sound comes as PCM
  rate = null; // any
  #socket;
  /** @type {SendQueue | null} */
  #queue = null; // from ready on

  /**
   * @param {WebSocket} socket
   * @param {import("./index.js").ConnectionEvents} events
   */
  constructor(socket, events) {
    this.#socket = socket;
    socket.onmessage = ({ data }) => (data instanceof ArrayBuffer ? events.audio(data) : events.text(data));
    socket.onclose = ({ code }) => events.closed(closeReason(code));
  }

  get open() {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** @param {import("./index.js").Ready} ready */
  accept(ready) {
    this.#queue = new SendQueue(this.#socket, ready.input_rate);
  }

  /** @param {string} text */
  send(text) {
    if (this.open) this.#socket.send(text);
  }

  /**
   * @param {ArrayBuffer} pcm
   * @param {number} capturedMs
   * @param {number} nowMs
   */
  sendAudio(pcm, capturedMs, nowMs) {
    const queue = this.#queue;
    if (!queue) return { sent: 0, dropped: 0, stalled: false };
    if (this.open) queue.push(pcm, capturedMs, nowMs);
    return { sent: queue.sent, dropped: queue.dropped, stalled: queue.stalled(nowMs) };
  }

  setStream() {} // the microphone comes as PCM

  close() {
    this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.close(1000);
  }
}

/** @type {Record<number, string>} */
const REFUSALS = { 401: "unauthorized", 429: "limit", 503: "busy" };

/**
 * Why a WebSocket could not be opened. A browser does not say, so this asks the same address over
 * HTTP. Of another origin it sees only whether anything answers.
 * @param {string} url
 */
async function whyRefused(url) {
  const address = new URL(url.replace(/^ws/, "http"));
  const mode = address.origin === location.origin ? "same-origin" : "no-cors";
  const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
  try {
    const response = await fetch(address, { mode, signal, cache: "no-store", credentials: "omit" });
    return REFUSALS[response.status] ?? "refused";
  } catch {
    return "server_gone";
  }
}
