// VoiceClient: the class that a page uses.

import { newStats } from "./call-stats.js";
import { Call } from "./call.js";
import { listMicrophones } from "./microphone.js";
import { listOutputs } from "./output.js";
import { TurnList } from "./turn-list.js";

const TEXT_MAX = 4_000;
const NAME = /^[A-Za-z0-9._-]{1,64}$/;
const DATA_BYTES_MAX = 65_536;
const DIGITS = /^[0-9*#A-D]{1,32}$/;

/**
 * @typedef {import("./index.js").VoiceOptions} VoiceOptions
 * @typedef {import("./index.js").VoiceEvents} VoiceEvents
 * @typedef {import("./index.js").State} State
 */

/**
 * Emits an event with its detail.
 * @typedef {<K extends keyof VoiceEvents>(type: K, detail: VoiceEvents[K]) => void} Emit
 */

/**
 * One caller. `start` may be called again after a call has ended. Every event is a CustomEvent
 * whose detail has a type in index.d.ts; `on` passes only the detail.
 */
export class VoiceClient extends EventTarget {
  /** @type {VoiceOptions & {url: string}} */
  #options;
  /** @type {State} */
  #state = "idle";
  /** @type {Call | null} */
  #call = null;
  #muted = false;
  #levels = { caller: 0, model: 0 };
  #stats = newStats();
  #turns = this.#newTurns();
  /** @type {WeakMap<Function, (event: any) => void>} */
  #wrapped = new WeakMap(); // the listeners of `on`, as they are added

  /** @param {VoiceOptions} [options] */
  constructor(options = {}) {
    super();
    checkVolume(options.volume);
    this.#options = { ...options, url: socketURL(options.url) };
  }

  /**
   * The microphones of this machine. Their labels are empty until the person has allowed the
   * microphone once.
   */
  static microphones() {
    return listMicrophones();
  }

  /**
   * The loudspeakers of this machine, as `microphones`. Empty in a browser that lets no page choose
   * one.
   */
  static outputs() {
    return listOutputs();
  }

  /** "idle", "connecting", "live", "ending" or "ended". */
  get state() {
    return this.#state;
  }

  get muted() {
    return this.#muted;
  }

  /** The volume of replies, 0 to 1. */
  get volume() {
    return this.#options.volume ?? 1;
  }

  /**
   * How loud each side is now: RMS 0 to 1 of the last 20 ms, 0 without a call. For meters that are
   * drawn with each frame of the screen; the event `level` tells each change.
   * @returns {{caller: number, model: number}}
   */
  get levels() {
    return { ...this.#levels };
  }

  /**
   * A copy of the counters and latencies of the call so far.
   * @returns {import("./index.js").VoiceStats}
   */
  get stats() {
    return structuredClone({ ...this.#stats, state: this.#state, muted: this.#muted });
  }

  /** The turns of this call, or of the last one, oldest first: at most 1,000. */
  get turns() {
    return this.#turns.turns;
  }

  /**
   * Calls listener with the detail of every event of a type, once for an event even when it was
   * added twice. Returns a function that removes the listener, as `off` does.
   * @template {keyof VoiceEvents} K
   * @param {K} type
   * @param {(detail: VoiceEvents[K], event: CustomEvent<VoiceEvents[K]>) => void} listener
   */
  on(type, listener) {
    const wrapped = this.#wrapped.get(listener) ?? ((event) => listener(event.detail, event));
    this.#wrapped.set(listener, wrapped);
    this.addEventListener(type, wrapped);
    return () => this.off(type, listener);
  }

  /**
   * Removes a listener that `on` added. Does nothing for any other.
   * @template {keyof VoiceEvents} K
   * @param {K} type
   * @param {(detail: VoiceEvents[K], event: CustomEvent<VoiceEvents[K]>) => void} listener
   */
  off(type, listener) {
    const wrapped = this.#wrapped.get(listener);
    if (wrapped) this.removeEventListener(type, wrapped);
  }

  /**
   * Asks for the microphone and calls. Resolves with the gateway's `ready`, rejects with a
   * VoiceError. Call it from a click or a key press: browsers start audio only then. During a call
   * it returns the promise of that call; while a call ends it waits for the end first.
   * @returns {Promise<import("./index.js").Ready>}
   */
  start() {
    if (!this.#call) return this.#begin().ready;
    if (this.#state === "ending") return this.#call.over.then(() => this.start());
    return this.#call.ready;
  }

  /** Hangs up. Resolves when everything is released. */
  async end() {
    if (!this.#call) return;
    this.#enter("ending");
    this.#call.hangUp();
    await this.#call.over;
  }

  /** Mutes or unmutes the microphone, for this call and later ones. */
  mute(on = true) {
    this.#muted = Boolean(on);
    this.#call?.mute(this.#muted);
    this.#emit("mute", { on: this.#muted });
  }

  /**
   * Sends typed text, 1 to 4,000 characters, as a turn of the caller. False when there is no live
   * call.
   * @param {string} text
   */
  sendText(text) {
    const characters = [...String(text)].length;
    if (characters < 1 || characters > TEXT_MAX) throw new RangeError(`voicegw: send text: not 1 to ${TEXT_MAX} long`);
    if (!this.#send({ type: "text", text: String(text) })) return false;
    this.#turns.typed(String(text));
    return true;
  }

  /**
   * Sends phone keys, 1 to 32 of 0-9, *, #, A-D. False when there is no live call.
   * @param {string} digits
   */
  sendDigits(digits) {
    if (!DIGITS.test(digits)) throw new RangeError("voicegw: send digits: 1 to 32 of 0-9, *, #, A-D");
    return this.#send({ type: "dtmf", digits });
  }

  /**
   * Sends the application behind the gateway a message: a name of 1 to 64 of A-Z, a-z, 0-9, ".",
   * "_", "-", and data that becomes JSON of at most 64 KiB. The gateway takes 10 a second; an
   * `error` event `message_lost` says that it did not take one. False when there is no live call.
   * @param {string} name
   * @param {unknown} [data]
   */
  send(name, data = null) {
    if (!NAME.test(name)) throw new RangeError("voicegw: send: the name is not 1 to 64 of A-Z, a-z, 0-9, ., _, -");
    const json = JSON.stringify(data);
    if (json === undefined) throw new TypeError("voicegw: send: the data has no form in JSON");
    const bytes = new TextEncoder().encode(json).length;
    if (bytes > DATA_BYTES_MAX) throw new RangeError(`voicegw: send: ${bytes} bytes of data, want at most 65536`);
    return this.#send({ type: "message", name, data: JSON.parse(json) });
  }

  /**
   * Presses or releases the button to talk, with detection "push". False when there is no live
   * call.
   */
  talk(on = true) {
    return this.#send({ type: "talk", on: Boolean(on) });
  }

  /**
   * Puts the call on hold, or resumes it; the event `hold` confirms it. False when there is no live
   * call.
   */
  hold(on = true) {
    return this.#send({ type: "hold", on: Boolean(on) });
  }

  /** Gives or withdraws the consent to listen. False when there is no live call. */
  consent(on = true) {
    return this.#send({ type: "consent", on: Boolean(on) });
  }

  /**
   * Changes options for the next call.
   * @param {VoiceOptions} options
   */
  configure(options) {
    checkVolume(options.volume);
    const url = options.url === undefined ? this.#options.url : socketURL(options.url);
    Object.assign(this.#options, options, { url });
  }

  /**
   * Chooses the microphone, also during a call: the id of a device, or a stream of the page's own,
   * which the client neither mutes nor stops. Rejects with a VoiceError and keeps the old one when
   * the new one cannot be opened.
   * @param {string | MediaStream} microphone
   */
  async setMicrophone(microphone) {
    await this.#call?.setMicrophone(microphone);
    if (typeof microphone === "string") Object.assign(this.#options, { deviceId: microphone, microphone: undefined });
    else this.#options.microphone = microphone;
  }

  /**
   * Chooses the loudspeaker, also during a call; empty is the system's default. Rejects with a
   * VoiceError and keeps the old one when the new one cannot be used.
   * @param {string} deviceId
   */
  async setOutput(deviceId) {
    await this.#call?.setOutput(deviceId);
    this.#options.outputId = deviceId;
  }

  /**
   * Sets the volume of replies, 0 to 1, for this call and later ones.
   * @param {number} volume
   */
  setVolume(volume) {
    checkVolume(volume);
    this.#call?.setVolume(volume);
    this.#options.volume = volume;
  }

  #begin() {
    this.#stats = newStats();
    this.#turns = this.#newTurns();
    this.#emit("turns", { turns: this.#turns.turns, changed: null });
    const call = new Call(this.#options, this.#muted, this.#stats, (type, detail) => this.#emit(type, detail));
    this.#call = call;
    call.over.then((end) => this.#onEnd(end));
    this.#enter("connecting");
    call.ready.then(
      () => this.#state === "connecting" && this.#enter("live"),
      () => {},
    );
    return call;
  }

  #newTurns() {
    return new TurnList((turns, changed) => this.#emit("turns", { turns, changed }));
  }

  /** @param {import("./protocol.js").CallerEvent} event */
  #send(event) {
    return this.#call?.send(event) ?? false;
  }

  /** @param {VoiceEvents["end"]} end */
  #onEnd(end) {
    this.#call = null;
    this.#levels = { caller: 0, model: 0 };
    this.#stats.closed = end.reason;
    this.#enter("ended");
    this.#emit("end", end);
  }

  /** @param {State} state */
  #enter(state) {
    if (state === this.#state) return;
    this.#state = state;
    this.#emit("state", { state });
  }

  /** @param {VoiceEvents["level"]} level */
  #onLevel({ who, rms }) {
    this.#levels[who] = rms;
  }

  /** @type {Emit} */
  #emit = (type, detail) => {
    if (type === "level") this.#onLevel(/** @type {any} */ (detail));
    this.dispatchEvent(new CustomEvent(type, { detail }));
    this.#turns.take(type, detail);
  };
}

/** @param {number | undefined} volume */
function checkVolume(volume = 1) {
  if (!(volume >= 0 && volume <= 1)) throw new RangeError(`voicegw: set volume ${volume}: want 0 to 1`);
}

/**
 * The URL of a WebSocket: /v1/voice of the origin of this module, or the URL given, which may be
 * http or https.
 * @param {string} [url]
 */
function socketURL(url = "/v1/voice") {
  const socket = new URL(url, import.meta.url);
  if (socket.protocol === "http:") socket.protocol = "ws:";
  if (socket.protocol === "https:") socket.protocol = "wss:";
  return socket.href;
}
