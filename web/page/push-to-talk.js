// Push to talk: a button that is held with a finger, a mouse or a key.

import { childOf } from "./elements.js";

/** Tells the client while the button is held. The button is shown in calls that want it. */
export class PushToTalk {
  #client;
  #button;
  #held = false;

  /**
   * @param {import("../client/index.js").VoiceClient} client
   * @param {HTMLButtonElement} button
   */
  constructor(client, button) {
    this.#client = client;
    this.#button = button;
    client.on("ready", ({ detection }) => (button.hidden = detection !== "push"));
    client.on("state", ({ state }) => state !== "live" && this.#leave());
    button.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      button.setPointerCapture(event.pointerId);
      this.hold(true);
    });
    for (const type of ["pointerup", "pointercancel", "lostpointercapture", "blur"]) {
      button.addEventListener(type, () => this.hold(false));
    }
    button.addEventListener("contextmenu", (event) => event.preventDefault()); // a long touch would open it
    button.addEventListener("keydown", ({ key, repeat }) => !repeat && isHoldKey(key) && this.hold(true));
    button.addEventListener("keyup", ({ key }) => isHoldKey(key) && this.hold(false));
    addEventListener("blur", () => this.hold(false)); // the key may be released over another window
  }

  /** Whether the caller talks with the button. */
  get isWanted() {
    return !this.#button.hidden;
  }

  /**
   * Presses or releases the button.
   * @param {boolean} on
   */
  hold(on) {
    if (!this.isWanted || on === this.#held || (on && !this.#client.talk(true))) return;
    this.#held = on;
    if (!on) this.#client.talk(false);
    this.#button.setAttribute("aria-pressed", String(on));
    childOf(this.#button, "span", HTMLElement).textContent = on ? "Let go to send" : "Press and talk";
  }

  #leave() {
    this.hold(false);
    this.#button.hidden = true;
  }
}

/** @param {string} key */
function isHoldKey(key) {
  return key === " " || key === "Enter";
}
