// Push to talk: a button that is held, with a finger, a mouse, or a key.

/** Tells the client when the button is held. It shows itself while a call wants it. */
export class PushToTalk {
  #client;
  #button;
  #held = false;

  /**
   * @param {import("./client.js").VoiceClient} client
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
    button.addEventListener("contextmenu", (event) => event.preventDefault()); // what a long touch would open
    button.addEventListener("keydown", ({ key, repeat }) => !repeat && isHoldKey(key) && this.hold(true));
    button.addEventListener("keyup", ({ key }) => isHoldKey(key) && this.hold(false));
    addEventListener("blur", () => this.hold(false)); // the key may be let go of over another window
  }

  /** Whether the caller talks with the button. */
  get wanted() {
    return !this.#button.hidden;
  }

  /** Presses the button, or lets go of it. */
  hold(on) {
    if (!this.wanted || on === this.#held || (on && !this.#client.talk(true))) return;
    this.#held = on;
    if (!on) this.#client.talk(false);
    this.#button.setAttribute("aria-pressed", String(on));
    this.#button.firstElementChild.textContent = on ? "Let go to send" : "Press and talk";
  }

  #leave() {
    this.hold(false);
    this.#button.hidden = true;
  }
}

function isHoldKey(key) {
  return key === " " || key === "Enter";
}
