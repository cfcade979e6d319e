// A voice call with a voicegw gateway, for any page:
//
//   import { VoiceClient } from "https://gateway.example/client.js";
//   const call = new VoiceClient();
//   call.on("transcript", ({ who, text }) => console.log(who, text));
//   button.onclick = () => call.start();
//
// client.d.ts has the types.

import { Call, newStats } from "./call.js";
import { VoiceError } from "./messages.js";
import { listMicrophones } from "./microphone.js";
import { connectWebRTC } from "./webrtc.js";

export { VoiceError, connectWebRTC };

const TEXT_MAX = 4_000;
const DIGITS = /^[0-9*#A-D]{1,32}$/;

/** @typedef {import("./client.js").VoiceOptions} VoiceOptions */

/**
 * One caller. `start` may be called again after a call has ended. Every event is a CustomEvent whose detail client.d.ts
 * describes; `on` hands over the detail alone.
 */
export class VoiceClient extends EventTarget {
  #options;
  #state = "idle";
  #call = null;
  #muted = false;
  #stats = newStats();

  /** @param {VoiceOptions} [options] */
  constructor(options = {}) {
    super();
    this.#options = { ...options };
    this.#options.url = socketURL(options.url);
  }

  /** The microphones of this machine. Labels are empty until the microphone was allowed once. */
  static microphones() {
    return listMicrophones();
  }

  /** "idle", "connecting", "live", "ending" or "ended". */
  get state() {
    return this.#state;
  }

  get muted() {
    return this.#muted;
  }

  /** What the call counted and measured so far; a copy. */
  get stats() {
    return structuredClone({ ...this.#stats, state: this.#state, muted: this.#muted });
  }

  /**
   * Calls listener with the detail of every event of a type; returns a function that stops it.
   * @param {string} type
   * @param {(detail: any, event: CustomEvent) => void} listener
   */
  on(type, listener) {
    const wrapped = (event) => listener(event.detail, event);
    this.addEventListener(type, wrapped);
    return () => this.removeEventListener(type, wrapped);
  }

  /**
   * Asks for the microphone and calls. Resolves with the gateway's `ready`, rejects with a VoiceError. Call it from a
   * click or a key press: browsers start audio only then. While a call stands or starts it returns that call's promise;
   * while one is ending it waits for that first.
   */
  start() {
    if (this.#state === "ending") return this.#call.over.then(() => this.start());
    if (this.#call) return this.#call.ready;
    this.#stats = newStats();
    const call = new Call(this.#options, this.#muted, this.#stats, (type, detail) => this.#emit(type, detail));
    this.#call = call;
    call.over.then((end) => this.#ended(end));
    this.#enter("connecting");
    call.ready.then(
      () => this.#state === "connecting" && this.#enter("live"),
      () => {},
    );
    return call.ready;
  }

  /** Hangs up; resolves when everything is released. */
  async end() {
    if (!this.#call) return;
    this.#enter("ending");
    this.#call.hangUp();
    await this.#call.over;
  }

  /** Mutes or unmutes the microphone, now and for later calls. */
  mute(on = true) {
    this.#muted = Boolean(on);
    this.#call?.mute(this.#muted);
    this.#emit("mute", { on: this.#muted });
  }

  /** Says typed words: a turn of the caller's, 1 to 4,000 characters. False when no call stands. */
  sendText(text) {
    const characters = [...String(text)].length;
    if (characters < 1 || characters > TEXT_MAX) throw new RangeError(`voicegw: send text: not 1 to ${TEXT_MAX} long`);
    return this.#say({ type: "text", text: String(text) });
  }

  /** Presses keys of a phone: 1 to 32 of 0-9, *, #, A-D. False when no call stands. */
  sendDigits(digits) {
    if (!DIGITS.test(digits)) throw new RangeError("voicegw: send digits: 1 to 32 of 0-9, *, #, A-D");
    return this.#say({ type: "dtmf", digits });
  }

  /** With detection "push": holds the button to talk, or lets go of it. False when no call stands. */
  talk(on = true) {
    return this.#say({ type: "talk", on: Boolean(on) });
  }

  /** Puts the call on hold, or resumes it; the event `hold` says when it is. False when no call stands. */
  hold(on = true) {
    return this.#say({ type: "hold", on: Boolean(on) });
  }

  /** Agrees to be listened to, or no longer does. False when no call stands. */
  consent(on = true) {
    return this.#say({ type: "consent", on: Boolean(on) });
  }

  /** Changes options for the next call; `url` and `deviceId` included. */
  configure(options) {
    Object.assign(this.#options, options);
    if (options.url !== undefined) this.#options.url = socketURL(options.url);
  }

  /** Chooses the microphone, also during a call. Rejects with a VoiceError and keeps the old one. */
  async setMicrophone(deviceId) {
    await this.#call?.setMicrophone(deviceId);
    this.#options.deviceId = deviceId;
  }

  #say(event) {
    return this.#call?.say(event) ?? false;
  }

  #ended(end) {
    this.#call = null;
    this.#stats.closed = end.reason;
    this.#enter("ended");
    this.#emit("end", end);
  }

  #enter(state) {
    if (state === this.#state) return;
    this.#state = state;
    this.#emit("state", { state });
  }

  #emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

// The socket of the gateway this module came from, or of the one named; http and https URLs will do.
function socketURL(url = "/v1/voice") {
  const socket = new URL(url, import.meta.url);
  if (socket.protocol === "http:") socket.protocol = "ws:";
  if (socket.protocol === "https:") socket.protocol = "wss:";
  return socket.href;
}
