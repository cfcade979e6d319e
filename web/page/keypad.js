// The keys of a phone.

import { closest } from "./elements.js";

const SHOWN_MAX = 32; // keys

/** Sends the keys that are pressed, and shows them: private ones as dots. */
export class Keypad {
  /**
   * @param {import("../client/index.js").VoiceClient} client
   * @param {HTMLElement} keys whose buttons have data-key
   * @param {HTMLOutputElement} shown
   * @param {() => boolean} isPrivate
   */
  constructor(client, keys, shown, isPrivate) {
    const buttons = /** @type {HTMLButtonElement[]} */ ([...keys.querySelectorAll("button[data-key]")]);
    client.on("state", ({ state }) => {
      for (const button of buttons) button.disabled = state !== "live";
      if (state === "connecting") shown.textContent = "";
    });
    keys.addEventListener("click", ({ target }) => {
      const key = closest(target, "button[data-key]")?.dataset.key;
      if (!key || !client.sendDigits(key)) return;
      shown.textContent = (shown.textContent + (isPrivate() ? "\u2022" : key)).slice(-SHOWN_MAX);
    });
  }
}
