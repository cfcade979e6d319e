// The card of one call of a tool: what was called, with what, what came of it, and the form that answers it.

import { button, create, textBox } from "../viewer/build.js";
import { callWords, contentText, laidOut } from "./labels.js";

/**
 * @typedef {import("./api.js").SessionEvent} SessionEvent
 * @typedef {import("./conversation.js").Call} Call
 *
 * @typedef {(answer: SessionEvent) => Promise<void>} Answer sends an answer; it rejects with an Error for people
 */

let forms = 0; // gives the fields of forms their ids

/** Shows a call as it goes on. */
export class CallCard {
  /** The element of the card. */
  element = create("li", "call");
  #answer;
  #details = create("details", "");
  #name = create("b", "name");
  #state = create("span", "state");
  #body = create("div", "body");
  /** @type {HTMLElement | null} */
  #form = null;
  /** @type {Call | null} */
  #shown = null;
  /** @type {Call["use"]} */
  #use = null;

  /** @param {Answer} answer */
  constructor(answer) {
    this.#answer = answer;
    this.#name.dir = "auto";
    this.#details.append(create("summary", "", this.#name, " ", this.#state), this.#body);
    this.element.append(this.#details);
  }

  /**
   * @param {Call} call
   * @param {"result" | "decision" | ""} waits
   * @param {boolean} isOpen whether the turn of the call goes on
   */
  show(call, waits, isOpen) {
    const { text, tone } = callWords(call, waits, isOpen);
    this.#state.textContent = text;
    this.#state.dataset.tone = tone;
    this.element.dataset.waits = waits;
    if (call !== this.#shown) this.#fill(call);
    this.#shown = call;
    if (waits && !this.#form) this.#ask(call, waits);
    if (!waits && this.#form) this.#close(this.#form);
  }

  /** @param {Call} call */
  #fill({ use, decision, result }) {
    this.#use = use;
    const server = use?.mcp_server_name ? `${use.mcp_server_name}: ` : "";
    this.#name.textContent = use ? `${server}${use.name ?? "a tool"}` : "A call that is further up";
    const parts = [];
    if (use) parts.push(textBox("Input", JSON.stringify(use.input ?? {}, null, 2)));
    if (decision?.deny_message) parts.push(textBox("Reason", decision.deny_message));
    if (result) parts.push(textBox(result.is_error ? "Error" : "Result", laidOut(contentText(result.content))));
    this.#body.replaceChildren(...parts);
  }

  /**
   * @param {Call} call
   * @param {"result" | "decision"} waits
   */
  #ask(call, waits) {
    this.#details.open = true;
    const name = call.use?.name ?? "the tool";
    this.#form = waits === "result" ? this.#resultForm(name) : this.#decisionForm(name);
    this.element.append(this.#form);
  }

  /** @param {HTMLElement} form */
  #close(form) {
    const hadFocus = form.contains(document.activeElement);
    form.remove();
    this.#form = null;
    this.#details.open = false;
    if (hadFocus) this.#details.querySelector("summary")?.focus();
  }

  /** @param {string} name */
  #resultForm(name) {
    const text = create("textarea", "");
    text.id = `answer-${forms++}`;
    text.rows = 2;
    const label = create("label", "label", `Your result of ${name}`);
    label.htmlFor = text.id;
    const failed = create("input", "");
    failed.type = "checkbox";
    const submit = create("button", "primary", "Give the result");
    const form = create("form", "answer", label, text,
      create("div", "buttons", create("label", "check", failed, " It failed"), submit));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#send(form, { type: "user.custom_tool_result", custom_tool_use_id: this.#use?.id ?? "",
        content: text.value ? [{ type: "text", text: text.value }] : [], is_error: failed.checked });
    });
    return form;
  }

  /** @param {string} name */
  #decisionForm(name) {
    const reason = create("input", "");
    reason.type = "text";
    reason.id = `answer-${forms++}`;
    reason.autocomplete = "off";
    const label = create("label", "label", "Reason, if you deny it");
    label.htmlFor = reason.id;
    /** @param {"allow" | "deny"} result */
    const decide = (result) => {
      /** @type {SessionEvent} */
      const event = { type: "user.tool_confirmation", tool_use_id: this.#use?.id ?? "", result };
      if (result === "deny" && reason.value.trim()) event.deny_message = reason.value.trim();
      void this.#send(form, event);
    };
    const form = create("form", "answer", create("p", "", `May the agent call ${name}?`), label, reason,
      create("div", "buttons", button("Deny", () => decide("deny"), "deny"),
        button("Allow", () => decide("allow"), "primary")));
    form.addEventListener("submit", (event) => { // by the Enter key in the field
      event.preventDefault();
      if (reason.value.trim()) decide("deny");
    });
    return form;
  }

  /**
   * @param {HTMLFormElement} form
   * @param {SessionEvent} event
   */
  async #send(form, event) {
    const fields = [...form.querySelectorAll("button"), ...form.querySelectorAll("input")];
    fields.forEach((f) => (f.disabled = true));
    form.querySelector(".problem")?.remove();
    try {
      await this.#answer(event);
    } catch (error) {
      const problem = create("p", "problem", error instanceof Error ? error.message : String(error));
      problem.setAttribute("role", "alert");
      form.append(problem);
      fields.forEach((f) => (f.disabled = false));
    }
  }
}
