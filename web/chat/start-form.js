// The form that starts a session: an agent, made here if there is none, and the first message.

import { newKey } from "./api.js";
import { create } from "../viewer/build.js";
import { byId } from "../page/elements.js";

/**
 * @typedef {import("./api.js").SessionsAPI} SessionsAPI
 * @typedef {import("./api.js").Session} Session
 */

const TITLE_MAX = 60; // characters of the first message

// The agent that the form suggests: it needs neither key nor network.
const PARROT = {
  name: "parrot",
  model: "parrot",
  description: "Repeats what it is told. Told: call lookup {\"what\": \"tables\"}, it asks you for the result.",
  tools: [{ type: "custom", name: "lookup", description: "Looks something up.",
    input_schema: { type: "object", properties: { what: { type: "string" } } } }],
};

/** Starts sessions. */
export class StartForm {
  #api;
  #started;
  #agent = byId("agent", HTMLSelectElement);
  #message = byId("first", HTMLTextAreaElement);
  #form = byId("start-form", HTMLFormElement);
  #making = byId("agent-form", HTMLFormElement);
  #make = byId("make", HTMLDetailsElement);
  #problem = byId("start-problem", HTMLElement);
  #key = newKey();

  /**
   * @param {SessionsAPI} api
   * @param {(session: Session) => void} started
   */
  constructor(api, started) {
    this.#api = api;
    this.#started = started;
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#attempt(this.#form, () => this.#start());
    });
    this.#form.addEventListener("input", () => (this.#key = newKey())); // it is another request now
    this.#message.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#form.requestSubmit();
    });
    this.#making.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#attempt(this.#making, () => this.#makeAgent());
    });
  }

  /** Lists the agents. Rejects with an APIError. */
  async load() {
    const { data } = await this.#api.agents();
    const chosen = this.#agent.value;
    this.#agent.replaceChildren(...data.map(({ id, name, model, metadata }) => {
      const why = metadata?.["unverified"];
      const note = why ? `, not proved: ${why}` : "";
      const option = create("option", "", (name === model.id ? name : `${name} (${model.id})`) + note);
      option.value = id;
      return option;
    }));
    if (data.some((a) => a.id === chosen)) this.#agent.value = chosen;
    const isNone = data.length === 0;
    byId("no-agent", HTMLElement).hidden = !isNone;
    this.#form.hidden = isNone;
    if (isNone) this.#make.open = true;
  }

  async #start() {
    const text = this.#message.value.trim();
    const line = text.split("\n")[0] ?? "";
    const session = await this.#api.start({ agent: this.#agent.value,
      title: line.length > TITLE_MAX ? `${line.slice(0, TITLE_MAX - 1)}\u2026` : line,
      initial_events: text ? [{ type: "user.message", content: [{ type: "text", text }] }] : [] }, this.#key);
    this.#key = newKey();
    this.#message.value = "";
    this.#started(session);
  }

  async #makeAgent() {
    const name = byId("agent-name", HTMLInputElement).value.trim();
    const model = byId("agent-model", HTMLInputElement).value.trim();
    const system = byId("agent-system", HTMLTextAreaElement).value.trim();
    const parrot = model === PARROT.model ? PARROT : {};
    const { id } = await this.#api.createAgent({ ...parrot, name, model, ...(system && { system }) });
    this.#make.open = false;
    await this.load();
    this.#agent.value = id;
    this.#message.focus();
  }

  /**
   * @param {HTMLFormElement} form
   * @param {() => Promise<void>} act
   */
  async #attempt(form, act) {
    const submit = form.querySelector("button");
    if (!submit || submit.disabled) return;
    submit.disabled = true;
    this.#problem.textContent = "";
    try {
      await act();
    } catch (error) {
      this.#problem.textContent = error instanceof Error ? error.message : String(error);
    } finally {
      submit.disabled = false;
    }
  }
}
