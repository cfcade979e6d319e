// A call as an element of a page:
//
//   <script type="module" src="https://gateway.example/client/element.js"></script>
//   <voicegw-call></voicegw-call>
//
// element.d.ts has the types.

import { VoiceClient } from "./voice-client.js";

const NAME = "voicegw-call";

const STYLE = `
  :host { display: block; font: inherit; }
  :host([hidden]) { display: none; }
  .controls { display: flex; gap: .5em; align-items: center; flex-wrap: wrap; }
  button { font: inherit; padding: .5em 1.25em; border-radius: 2em; border: 1px solid; cursor: pointer; }
  button:disabled { cursor: default; }
  p { margin: .5em 0 0; overflow-wrap: anywhere; }
  .status { margin: 0; }
  .transcript { max-height: var(--voicegw-transcript-height, 20em); overflow-y: auto; }
`;

/** @type {Record<import("./index.js").State, [button: string, status: string]>} */
const STATES = {
  idle: ["Talk", ""],
  connecting: ["Cancel", "Connecting."],
  live: ["Hang up", ""],
  ending: ["Hang up", "Hanging up."],
  ended: ["Talk", ""],
};

/** @typedef {import("./index.js").Turn} Turn */

// A server that renders a page has no HTMLElement; it may import this module all the same.
const Base = /** @type {typeof HTMLElement} */ (globalThis.HTMLElement ?? class {});

/** The element <voicegw-call>: a button, what happens now, and the conversation. */
export class VoiceElement extends Base {
  /** For its methods and events. */
  client = new VoiceClient();
  /**
   * Options of the next call, besides those of the attributes.
   * @type {import("./index.js").VoiceOptions}
   */
  options = {};
  #talk = button("talk", () => this.#toggle());
  #mute = button("mute", () => this.client.mute(!this.client.muted));
  #agree = button("agree", () => this.client.consent());
  #status = part("p", "status");
  #transcript = part("div", "transcript");
  /** @type {Map<number, HTMLElement>} */
  #lines = new Map(); // by the id of the turn

  constructor() {
    super();
    const sheet = new CSSStyleSheet(); // a policy of the page need not allow it, as it must a style element
    sheet.replaceSync(STYLE);
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [sheet];
    const controls = part("div", "controls");
    controls.append(this.#talk, this.#mute, this.#agree, this.#status);
    root.append(controls, this.#transcript);
    this.#status.setAttribute("role", "status");
    this.#transcript.setAttribute("role", "log");
    this.#agree.textContent = "I agree";
    this.client.on("state", ({ state }) => this.#onState(state));
    this.client.on("mute", () => this.#showMute());
    this.client.on("turns", ({ turns, changed }) => this.#showTurn(turns, changed));
    this.client.on("error", ({ message, advice }) => this.#say(`${message} ${advice}`));
    this.client.on("end", ({ reason, message, advice }) => reason !== "caller_hung_up" && this.#say(`${message} ${advice}`));
    this.client.on("consent", ({ asked }) => this.#onConsent(asked));
    this.#showState("idle");
    this.#showMute();
  }

  connectedCallback() {
    this.dataset.state = this.client.state;
  }

  /** A call ends when the element leaves the page, but not when it moves in it. */
  disconnectedCallback() {
    queueMicrotask(() => this.isConnected || this.client.end());
  }

  #toggle() {
    const { state } = this.client;
    if (state === "live" || state === "connecting") {
      this.client.end();
      return;
    }
    this.client.configure({ ...this.#attributes(), ...this.options });
    this.client.start().catch(() => {}); // the events `error` and `end` report it
  }

  /** @returns {import("./index.js").VoiceOptions} */
  #attributes() {
    const text = (/** @type {string} */ name) => this.getAttribute(name) ?? undefined;
    return {
      url: text("url"),
      token: text("token"),
      language: text("language"),
      instructions: text("instructions"),
      detection: /** @type {"manual" | "server" | undefined} */ (text("detection")),
      halfDuplex: this.hasAttribute("half-duplex"),
    };
  }

  /** @param {import("./index.js").State} state */
  #onState(state) {
    this.dataset.state = state;
    this.#showState(state);
  }

  /** @param {import("./index.js").State} state */
  #showState(state) {
    const [label, status] = STATES[state];
    this.#talk.textContent = label;
    this.#talk.disabled = state === "ending";
    this.#mute.hidden = state !== "live";
    this.#agree.hidden = true;
    this.#say(status);
  }

  /** @param {boolean} asked */
  #onConsent(asked) {
    this.#agree.hidden = !asked;
    this.#say(asked ? "The model does not listen before you agree." : "");
  }

  #showMute() {
    this.#mute.textContent = this.client.muted ? "Unmute" : "Mute";
    this.#mute.setAttribute("aria-pressed", String(this.client.muted));
  }

  /** @param {string} text */
  #say(text) {
    this.#status.textContent = text.trim();
  }

  /**
   * @param {readonly Turn[]} turns
   * @param {Turn | null} changed
   */
  #showTurn(turns, changed) {
    if (!changed) {
      this.#transcript.replaceChildren();
      this.#lines.clear();
    } else if (changed.text !== "") this.#showLine(changed);
    this.#forget(turns[0]?.id ?? 0);
  }

  /** @param {Turn} turn */
  #showLine({ id, who, text, cutAt }) {
    const line = this.#lines.get(id) ?? part("p", who);
    const shown = `${id} ${cutAt} ${text}`;
    if (line.dataset.shown === shown) return; // only more of it was played
    line.dataset.shown = shown;
    line.replaceChildren(text.slice(0, cutAt ?? text.length));
    if (cutAt !== null) line.append(Object.assign(document.createElement("s"), { textContent: text.slice(cutAt) }));
    if (!this.#lines.has(id)) this.#transcript.append(line);
    this.#lines.set(id, line);
    this.#transcript.scrollTop = this.#transcript.scrollHeight;
  }

  /** @param {number} oldest the id of the oldest turn that the client keeps */
  #forget(oldest) {
    for (const [id, line] of this.#lines) {
      if (id >= oldest) return;
      line.remove();
      this.#lines.delete(id);
    }
  }
}

/**
 * @param {"p" | "div"} tag
 * @param {string} name its class, and its part for the styles of the page
 */
function part(tag, name) {
  const element = document.createElement(tag);
  element.className = name;
  element.part.add(name);
  return element;
}

/**
 * @param {string} name
 * @param {() => void} onClick
 */
function button(name, onClick) {
  const element = document.createElement("button");
  element.type = "button";
  element.part.add(name);
  element.addEventListener("click", onClick);
  return element;
}

if (globalThis.customElements && !customElements.get(NAME)) customElements.define(NAME, VoiceElement);
