// The loudspeakers of this machine: listing them, choosing one for a call, and its volume.

import { VoiceError } from "./errors.js";

const FADE_S = 0.01; // of a change of the volume: a step would click

// The code for each name of an error that setSinkId throws.
/** @type {Record<string, string>} */
const CODES = { NotAllowedError: "output_refused", NotFoundError: "output_missing" };

/** What can play on a device of its own: an AudioContext or an element, in a browser that has it. */
/** @typedef {{setSinkId?(deviceId: string): Promise<void>}} Sink */

/**
 * The loudspeakers of this machine; their labels are empty until the person has allowed the
 * microphone once. Empty in a browser where a page cannot choose one.
 * @returns {Promise<{deviceId: string, label: string}[]>}
 */
export async function listOutputs() {
  const list = (await globalThis.navigator?.mediaDevices?.enumerateDevices()) ?? [];
  return list
    .filter((d) => d.kind === "audiooutput" && d.deviceId !== "")
    .map(({ deviceId, label }) => ({ deviceId, label }));
}

/**
 * Plays on another device. Rejects with a VoiceError and keeps the old one when it cannot.
 * @param {Sink} sink
 * @param {string} deviceId empty: the system's default
 */
export async function setSink(sink, deviceId) {
  if (!sink.setSinkId) {
    if (deviceId === "") return;
    throw new VoiceError("output_unsupported");
  }
  try {
    await sink.setSinkId(deviceId);
  } catch (cause) {
    const name = cause instanceof Error || cause instanceof DOMException ? cause.name : "";
    throw new VoiceError(CODES[name] ?? "output_failed", undefined, { cause });
  }
}

/** Plays what is connected to `node`. */
export class Output {
  #context;
  #gain;
  /** @type {HTMLAudioElement | null} */
  #element = null; // plays in a browser whose context has no choice of a device

  /**
   * @param {AudioContext} context
   * @param {number} volume 0 to 1
   */
  constructor(context, volume) {
    this.#context = context;
    this.#gain = new GainNode(context, { gain: volume });
    this.#gain.connect(context.destination);
  }

  get node() {
    return this.#gain;
  }

  /** @param {number} volume 0 to 1 */
  setVolume(volume) {
    this.#gain.gain.setTargetAtTime(volume, this.#context.currentTime, FADE_S);
  }

  /**
   * Rejects with a VoiceError and keeps the old device when it cannot be used.
   * @param {string} deviceId empty: the system's default
   */
  async setDevice(deviceId) {
    if ("setSinkId" in this.#context) return setSink(/** @type {Sink} */ (this.#context), deviceId);
    if (this.#element || deviceId !== "") await this.#playByElement(deviceId);
  }

  close() {
    if (this.#element) this.#element.srcObject = null;
  }

  /** @param {string} deviceId */
  async #playByElement(deviceId) {
    const element = this.#element ?? new Audio();
    await setSink(element, deviceId);
    if (element === this.#element || this.#context.state === "closed") return;
    const far = new MediaStreamAudioDestinationNode(this.#context);
    element.srcObject = far.stream;
    this.#gain.disconnect();
    this.#gain.connect(far);
    this.#element = element;
    element.play().catch(() => {});
  }
}
