// The sentence that says who is speaking, and what the caller can do.

import { byId } from "./elements.js";

const LISTENING = "Listening. Speak whenever you like.";

/** Shows who is speaking while a call is live, and keeps body.dataset.speaking. */
export class SpeakingStatus {
  #client;
  #modes;
  #push;
  #isHalfDuplex;
  #status = byId("speaking", HTMLElement);
  #caller = false;
  #model = false;

  /**
   * @param {import("../client/index.js").VoiceClient} client
   * @param {import("./call-modes.js").CallModes} modes
   * @param {import("./push-to-talk.js").PushToTalk} push
   * @param {() => boolean} isHalfDuplex whether replies of this call cannot be interrupted
   */
  constructor(client, modes, push, isHalfDuplex) {
    this.#client = client;
    this.#modes = modes;
    this.#push = push;
    this.#isHalfDuplex = isHalfDuplex;
    client.on("speech", ({ state }) => this.#set({ caller: state === "start" }));
    client.on("playout", ({ playing }) => this.#set({ model: playing }));
    client.on("mute", ({ on }) => this.#set(on ? { caller: false } : {}));
    client.on("end", () => this.#set({ caller: false, model: false }));
    for (const type of /** @type {const} */ (["state", "hold", "protected", "consent"])) {
      client.on(type, () => this.#set({}));
    }
  }

  /** @param {{caller?: boolean, model?: boolean}} change */
  #set({ caller = this.#caller, model = this.#model }) {
    this.#caller = caller;
    this.#model = model;
    const notHeard = this.#modes.whyNotHeard || (this.#client.muted ? "You are muted." : "");
    const isHeard = caller && notHeard === "";
    const who = isHeard && model ? "both" : isHeard ? "caller" : model ? "model" : "nobody";
    document.body.dataset.speaking = who;
    if (this.#client.state === "live") this.#status.textContent = this.#sentence(who, notHeard);
  }

  /**
   * @param {"both" | "caller" | "model" | "nobody"} who
   * @param {string} notHeard why the model does not hear the caller, empty when it does
   */
  #sentence(who, notHeard) {
    if (who === "caller") return "You are speaking.";
    if (who === "both") return "You are speaking over the model.";
    if (who === "model") return `The model is speaking. ${notHeard || this.#howToInterrupt()}`;
    return notHeard || (this.#push.isWanted ? "Hold the button, or the space bar, while you speak." : LISTENING);
  }

  #howToInterrupt() {
    if (this.#isHalfDuplex()) return "It cannot be interrupted.";
    return this.#push.isWanted ? "Press the button to stop it." : "Talk over it to stop it.";
  }
}
