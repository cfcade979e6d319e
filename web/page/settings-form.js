// The form "Settings for the next call".

import { byId } from "./elements.js";

/** Reads the settings of the next call. */
export class SettingsForm {
  #language = byId("language", HTMLInputElement);
  #detection = byId("detection", HTMLSelectElement);
  #token = byId("token", HTMLInputElement);
  #halfDuplex = byId("half-duplex", HTMLInputElement);

  /** @returns {import("../client/index.js").VoiceOptions} */
  options() {
    return {
      language: this.#language.value.trim() || undefined,
      detection: detectionOf(this.#detection.value),
      token: this.#token.value.trim() || undefined,
      halfDuplex: this.#halfDuplex.checked,
    };
  }
}

/** @param {string} value */
function detectionOf(value) {
  return value === "manual" || value === "server" || value === "push" ? value : undefined;
}
