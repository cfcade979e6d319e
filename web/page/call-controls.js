// The controls of a call: the talk and mute buttons, and the state of the call.

import { byId } from "./elements.js";

/** The states of the page: a call that ended for a reason that is not normal is "failed". */
const STATES = {
  idle: { connection: "Not connected", speaking: "Press Talk and speak.", talk: "Talk" },
  connecting: {
    connection: "Connecting",
    speaking: "Connecting. Allow the microphone if you are asked.",
    talk: "Cancel",
  },
  live: { connection: "Connected", speaking: "", talk: "Hang up" },
  ending: { connection: "Hanging up", speaking: "Hanging up.", talk: "Hang up" },
  ended: { connection: "Not connected", speaking: "Press Talk and speak.", talk: "Talk" },
  failed: { connection: "Call failed", speaking: "Press Talk to try again.", talk: "Talk" },
};

/** Shows the state of the call, and starts and ends it. */
export class CallControls {
  #client;
  #onCall;
  #transport;
  #talk = byId("talk", HTMLButtonElement);
  #talkLabel = byId("talk-label", HTMLElement);
  #connection = byId("connection", HTMLElement);
  #speaking = byId("speaking", HTMLElement);
  #mute = byId("mute", HTMLButtonElement);
  #muteLabel = byId("mute-label", HTMLElement);

  /**
   * @param {import("../client/index.js").VoiceClient} client
   * @param {import("./transport-choice.js").TransportChoice} transport
   * @param {() => void} onCall the person wants to call
   */
  constructor(client, transport, onCall) {
    this.#client = client;
    this.#transport = transport;
    this.#onCall = onCall;
    this.#talk.addEventListener("click", () => this.toggleCall());
    this.#mute.addEventListener("click", () => this.toggleMute());
    client.on("mute", ({ on }) => this.#showMute(on));
    client.on("state", ({ state }) => state !== "ended" && this.#show(state)); // "ended" may be "failed"
  }

  /** Calls, or ends the call. */
  toggleCall() {
    if (this.#client.state === "live" || this.#client.state === "connecting") this.#client.end();
    else this.#onCall();
  }

  toggleMute() {
    this.#client.mute(!this.#client.muted);
  }

  /**
   * The call ended.
   * @param {boolean} isNormal
   */
  showEnd(isNormal) {
    this.#show(isNormal ? "ended" : "failed");
  }

  /** @param {keyof typeof STATES} state */
  #show(state) {
    const { connection, speaking, talk } = STATES[state];
    const isWebRTC = state === "live" && this.#transport.isWebRTC;
    document.body.dataset.state = state;
    this.#connection.textContent = isWebRTC ? "Connected over WebRTC" : connection;
    if (speaking) this.#speaking.textContent = speaking; // SpeakingStatus does so in a live call
    this.#talkLabel.textContent = talk;
    this.#talk.disabled = state === "ending";
  }

  /** @param {boolean} on */
  #showMute(on) {
    this.#mute.setAttribute("aria-pressed", String(on));
    this.#muteLabel.textContent = on ? "Unmute" : "Mute";
  }
}
