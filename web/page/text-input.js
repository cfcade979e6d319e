// The field for typed text.

import { childOf } from "./elements.js";

/** Sends typed text as a turn of the caller. */
export class TextInput {
  /**
   * @param {import("../client/index.js").VoiceClient} client
   * @param {HTMLFormElement} form with one input and one button
   */
  constructor(client, form) {
    const input = childOf(form, "input", HTMLInputElement);
    const button = childOf(form, "button", HTMLButtonElement);
    client.on("state", ({ state }) => (input.disabled = button.disabled = state !== "live"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = input.value.trim();
      if (text === "" || !client.sendText(text)) return;
      input.value = "";
    });
  }
}
