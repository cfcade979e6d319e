// The lists of microphones and of loudspeakers.

import { VoiceError } from "../client/index.js";

/**
 * What a list shows.
 * @typedef {object} Kind
 * @property {string} name of one device, "Microphone"
 * @property {() => Promise<{deviceId: string, label: string}[]>} list
 * @property {(deviceId: string) => Promise<void>} choose changes the device, of a call too
 */

/** Fills a list of devices and changes the one of a call. */
export class DeviceList {
  #select;
  #kind;

  /**
   * @param {import("../client/index.js").VoiceClient} client
   * @param {HTMLSelectElement} select its first option is the default device
   * @param {Kind} kind
   * @param {(message: string, advice: string) => void} onRefused
   */
  constructor(client, select, kind, onRefused) {
    this.#select = select;
    this.#kind = kind;
    select.addEventListener("change", async () => {
      try {
        await kind.choose(select.value);
      } catch (error) {
        if (!(error instanceof VoiceError)) throw error;
        onRefused(error.message, error.advice);
      }
    });
    client.on("state", ({ state }) => state === "live" && this.#fill()); // now the labels are known
    navigator.mediaDevices?.addEventListener("devicechange", () => this.#fill());
    this.#fill();
  }

  /** The id of the chosen device; undefined for the default one. */
  get deviceId() {
    return this.#select.value || undefined;
  }

  async #fill() {
    const { name, list } = this.#kind;
    const devices = await list().catch(() => []);
    const chosen = this.#select.value;
    const options = devices
      .filter(({ deviceId }) => deviceId !== "default")
      .map(({ deviceId, label }, i) => new Option(label || `${name} ${i + 1}`, deviceId));
    this.#select.replaceChildren(this.#select.options[0], ...options);
    this.#select.value = options.some((o) => o.value === chosen) ? chosen : "";
  }
}
