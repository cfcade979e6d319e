// The link of a call: what carries events and sound to the gateway and back. Here the WebSocket one.
//
// This is where a call is joined to a protocol. Another one is a function with the signature of connectWebSocket, given
// to VoiceClient as `connect`; types `Connect` and `Link` in client.d.ts say what it must do.

import { VoiceError, closeReason } from "./messages.js";
import { SUBPROTOCOL } from "./protocol.js";
import { Uplink } from "./uplink.js";

const OPEN_TIMEOUT_MS = 10_000;
const PROBE_TIMEOUT_MS = 3_000;

/**
 * Opens a WebSocket; PCM goes over it both ways. Rejects with a VoiceError that says why not.
 * @type {import("./client.js").Connect}
 */
export function connectWebSocket({ url, signal }, events) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, SUBPROTOCOL);
    socket.binaryType = "arraybuffer";
    const giveUp = (reason) => {
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
      resolve(new SocketLink(socket, events));
    };
    socket.onclose = async () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abandon);
      reject(new VoiceError(await whyRefused(url)));
    };
  });
}

/** @implements {import("./client.js").Link} */
class SocketLink {
  remote = null; // sound comes as PCM
  rate = null; // any
  #socket;
  #uplink = null;

  constructor(socket, events) {
    this.#socket = socket;
    socket.onmessage = ({ data }) => (data instanceof ArrayBuffer ? events.audio(data) : events.text(data));
    socket.onclose = ({ code }) => events.closed(closeReason(code));
  }

  get open() {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  accept(ready) {
    this.#uplink = new Uplink(this.#socket, ready.input_rate);
  }

  send(text) {
    if (this.open) this.#socket.send(text);
  }

  sendAudio(pcm, capturedMs, nowMs) {
    if (this.open) this.#uplink.push(pcm, capturedMs, nowMs);
    return { sent: this.#uplink.sent, dropped: this.#uplink.dropped, stalled: this.#uplink.stalled(nowMs) };
  }

  setStream() {} // the microphone comes as PCM

  close() {
    this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.close(1000);
  }
}

const REFUSALS = { 401: "unauthorized", 429: "limit", 503: "busy" };

// A browser does not tell why a socket failed, so the same address is asked without one. Of another origin only that it
// answers can be seen.
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
