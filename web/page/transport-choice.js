// The choice of the transport: a WebSocket, or WebRTC where the gateway and the network take it.

import { connectWebRTC } from "../client/index.js";

const KEY = "voicegw.way"; // in the browser's storage
const WEBRTC = "webrtc";

// The reasons of a call over WebRTC that never was ready, and may be over a WebSocket: the gateway
// has no WebRTC or refuses the offer, the browser has none, or UDP does not pass.
const RETRIED = ["refused", "unsupported", "server_gone", "server_lost", "no_ready"];

/** Keeps the caller's choice from one visit to the next. */
export class TransportChoice {
  #select;
  #urls;
  #used = ""; // by this call
  #trying = false; // this call uses WebRTC and is not ready yet

  /**
   * @param {import("../client/index.js").VoiceClient} client
   * @param {HTMLSelectElement} select whose values are "" and "webrtc"
   * @param {{websocket: string, webrtc: string}} urls
   */
  constructor(client, select, urls) {
    this.#select = select;
    this.#urls = urls;
    if (load() === WEBRTC) select.value = WEBRTC;
    select.addEventListener("change", () => save(select.value));
    client.on("ready", () => (this.#trying = false));
  }

  /** Whether this call uses WebRTC. */
  get isWebRTC() {
    return this.#used === WEBRTC;
  }

  /**
   * The options of a call that begins now.
   * @returns {import("../client/index.js").VoiceOptions}
   */
  options() {
    this.#used = this.#select.value;
    this.#trying = this.isWebRTC;
    if (this.isWebRTC) return { url: this.#urls.webrtc, connect: connectWebRTC };
    return { url: this.#urls.websocket, connect: undefined };
  }

  /**
   * Whether a call that ended for this reason is to be made again. If so, it and all later calls
   * use a WebSocket, until the page is loaded again.
   * @param {string} reason
   */
  fallBack(reason) {
    const again = this.#trying && RETRIED.includes(reason);
    this.#trying = false;
    if (again) this.#select.value = "";
    return again;
  }
}

// The browser may forbid storage.
function load() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** @param {string} transport */
function save(transport) {
  try {
    localStorage.setItem(KEY, transport);
  } catch {
    // then the choice lasts until the page is closed
  }
}
