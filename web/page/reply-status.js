// What became of the last reply, and the latencies that were measured.

import { byId } from "./elements.js";

/** @type {Record<string, string>} */
const REASONS = {
  complete: "Finished.",
  interrupted: "You interrupted.",
  model_lost: "The model was lost.",
  call_over: "The call ended.",
};

/** Shows the state of the last reply and the last latency of each kind. */
export class ReplyStatus {
  #reason = byId("reason", HTMLElement);
  #latencies = { first_audio: byId("first-audio", HTMLElement), barge_in: byId("barge-in", HTMLElement) };
  #isOpen = false; // a reply has begun and not ended

  /** @param {import("../client/index.js").VoiceClient} client */
  constructor(client) {
    client.on("turn", (turn) => this.#onTurn(turn));
    client.on("latency", ({ kind, ms }) => show(this.#latencies[kind], ms));
  }

  /** A call begins: forgets the last one. */
  reset() {
    this.#reason.textContent = "None yet.";
    for (const output of Object.values(this.#latencies)) show(output, null);
  }

  /**
   * The call ended: the reply that was open did, too.
   * @param {string} reason of the call
   */
  close(reason) {
    if (this.#isOpen) this.#reason.textContent = REASONS[reason] ?? REASONS.call_over;
    this.#isOpen = false;
  }

  /** @param {import("../client/index.js").VoiceEvents["turn"]} turn */
  #onTurn({ state, reason }) {
    this.#isOpen = state !== "end";
    if (state === "start") this.#reason.textContent = "Playing now.";
    if (state === "pause") this.#reason.textContent = "Paused: was that you?";
    if (state === "resume") this.#reason.textContent = "Going on: that was only a noise.";
    if (state === "end") this.#reason.textContent = REASONS[reason ?? ""] ?? "Ended.";
  }
}

/**
 * @param {HTMLElement} output
 * @param {number | null} ms
 */
function show(output, ms) {
  output.textContent = ms === null ? "\u2013" : `${ms} ms`;
  output.dataset.empty = String(ms === null);
}
