// Typed words and the keys of a phone.

const SHOWN_MAX = 32; // keys

/** Sends what is typed as a turn of the caller's; `said` is called with words that went out. */
export class Typing {
  /**
   * @param {import("./client.js").VoiceClient} client
   * @param {HTMLFormElement} form with one input and one button
   * @param {(text: string) => void} said
   */
  constructor(client, form, said) {
    const input = form.querySelector("input");
    const button = form.querySelector("button");
    client.on("state", ({ state }) => (input.disabled = button.disabled = state !== "live"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = input.value.trim();
      if (text === "" || !client.sendText(text)) return;
      input.value = "";
      said(text);
    });
  }
}

/** Sends the keys that are pressed, and shows them unless they are private. */
export class Keypad {
  /**
   * @param {import("./client.js").VoiceClient} client
   * @param {HTMLElement} keys whose buttons have data-key
   * @param {HTMLOutputElement} shown
   * @param {() => boolean} isPrivate
   */
  constructor(client, keys, shown, isPrivate) {
    const buttons = [...keys.querySelectorAll("button[data-key]")];
    client.on("state", ({ state }) => {
      for (const button of buttons) button.disabled = state !== "live";
      if (state === "connecting") shown.textContent = "";
    });
    keys.addEventListener("click", ({ target }) => {
      const key = target.closest("button[data-key]")?.dataset.key;
      if (!key || !client.sendDigits(key)) return;
      shown.textContent = (shown.textContent + (isPrivate() ? "\u2022" : key)).slice(-SHOWN_MAX);
    });
  }
}
