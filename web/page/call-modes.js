// The modes of a call: consent, hold, private input, and a lost connection to the model.

import { childOf } from "./elements.js";

/** @typedef {"away" | "protected" | "hold" | "lost"} Mode */

// What the banner says, the most important mode first.
/** @type {Record<Mode, string>} */
const BANNERS = {
  away: "The connection broke. Connecting again; the call waits.",
  protected: "Private: what you say or press now goes neither to the model nor into a log.",
  hold: "On hold. Nothing you say goes to the model.",
  lost: "Reconnecting to the model. The call goes on.",
};

// Why the model does not hear the caller.
/** @type {Partial<Record<Mode, string>>} */
const NOT_HEARD = {
  away: "The page is connecting again.",
  protected: "The model does not listen now.",
  hold: "The call is on hold.",
};

const MODES = /** @type {Mode[]} */ (Object.keys(BANNERS));

/** Shows the mode of a call, the hold button and the question for consent. */
export class CallModes {
  #client;
  #banner;
  #holdButton;
  #question;
  /** @type {Set<Mode>} */
  #on = new Set();

  /**
   * @param {import("../client/index.js").VoiceClient} client
   * @param {{banner: HTMLElement, hold: HTMLButtonElement, question: HTMLElement, agree:
   *   HTMLElement, decline: HTMLElement}} elements
   */
  constructor(client, { banner, hold, question, agree, decline }) {
    this.#client = client;
    this.#banner = banner;
    this.#holdButton = hold;
    this.#question = question;
    client.on("reconnecting", () => this.#set("away", true));
    client.on("reconnected", () => this.#set("away", false));
    client.on("hold", ({ on }) => this.#set("hold", on));
    client.on("protected", ({ on }) => this.#set("protected", on));
    client.on("model", ({ state }) => this.#set("lost", state === "lost"));
    client.on("consent", ({ asked }) => (question.hidden = !asked));
    client.on("state", ({ state }) => this.#onState(state));
    hold.addEventListener("click", () => this.toggleHold());
    agree.addEventListener("click", () => client.consent(true));
    decline.addEventListener("click", () => this.#decline());
    this.#show();
  }

  /** Whether the input is private: keys that are pressed now must not be shown. */
  get isPrivate() {
    return this.#on.has("protected");
  }

  /** Why the model does not hear the caller; empty when it does. */
  get whyNotHeard() {
    if (!this.#question.hidden) return "The model does not listen before you agree.";
    return MODES.filter((mode) => this.#on.has(mode)).map((mode) => NOT_HEARD[mode])[0] ?? "";
  }

  /** Puts the call on hold, or resumes it. */
  toggleHold() {
    this.#client.hold(!this.#on.has("hold"));
  }

  #decline() {
    this.#client.consent(false);
    this.#client.end();
  }

  /** @param {import("../client/index.js").State} state */
  #onState(state) {
    this.#holdButton.disabled = state !== "live";
    if (state === "live") return;
    this.#question.hidden = true;
    this.#on.clear();
    this.#show();
  }

  /**
   * @param {Mode} mode
   * @param {boolean} on
   */
  #set(mode, on) {
    if (on) this.#on.add(mode);
    else this.#on.delete(mode);
    this.#show();
  }

  #show() {
    const mode = MODES.find((name) => this.#on.has(name));
    const isHeld = this.#on.has("hold");
    this.#banner.hidden = mode === undefined;
    this.#banner.dataset.mode = mode ?? "";
    this.#banner.textContent = mode ? BANNERS[mode] : "";
    this.#holdButton.setAttribute("aria-pressed", String(isHeld));
    childOf(this.#holdButton, "span", HTMLElement).textContent = isHeld ? "Resume" : "Hold";
  }
}
