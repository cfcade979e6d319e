// The way a call goes: over a WebSocket, or over WebRTC where the gateway and the network take that.

import { connectWebRTC } from "./client.js";

const KEY = "voicegw.way";
const WEBRTC = "webrtc";

// Ends of a call that never stood, which a WebSocket may spare it: the gateway does not have that door or refuses the
// offer, the browser cannot do it, or no UDP comes through.
const AVOIDABLE = ["refused", "unsupported", "server_gone", "server_lost", "no_ready"];

/** Keeps which way the caller wants, from one visit to the next. */
export class Way {
  #select;
  #urls;
  #over = ""; // of this call
  #trying = false; // it goes over WebRTC and does not stand yet

  /**
   * @param {import("./client.js").VoiceClient} client
   * @param {HTMLSelectElement} select whose values are "" and "webrtc"
   * @param {{socket: string, webrtc: string}} urls
   */
  constructor(client, select, urls) {
    this.#select = select;
    this.#urls = urls;
    if (remembered() === WEBRTC) select.value = WEBRTC;
    select.addEventListener("change", () => remember(select.value));
    client.on("ready", () => (this.#trying = false));
  }

  /** Whether this call goes over WebRTC. */
  get isWebRTC() {
    return this.#over === WEBRTC;
  }

  /** Options of a call that begins now. */
  options() {
    this.#over = this.#select.value;
    this.#trying = this.isWebRTC;
    if (this.isWebRTC) return { url: this.#urls.webrtc, connect: connectWebRTC };
    return { url: this.#urls.socket, connect: undefined };
  }

  /** Whether a call that ended so is to be made again: over a WebSocket, as all others until the page is reloaded. */
  fallsBack(reason) {
    const again = this.#trying && AVOIDABLE.includes(reason);
    this.#trying = false;
    if (again) this.#select.value = "";
    return again;
  }
}

// A browser may forbid to keep anything.
function remembered() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function remember(way) {
  try {
    localStorage.setItem(KEY, way);
  } catch {
    // then it holds until the page is closed
  }
}
