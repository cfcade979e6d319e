// The modes of a call, shown: consent, hold, private input, and a model that is being connected again.

const WORDS = {
  protected: "Private: what you say or press now goes neither to the model nor into a log.",
  hold: "On hold. Nothing you say goes to the model.",
  lost: "Reconnecting to the model. The call goes on.",
};

// Why nobody listens to the caller.
const DEAF = {
  protected: "The model does not listen now.",
  hold: "The call is on hold.",
};

/** Keeps the line that says in which mode a call is, the hold button and the question for consent. */
export class Modes {
  #client;
  #line;
  #holdButton;
  #question;
  #on = { protected: false, hold: false, lost: false };

  /**
   * @param {import("./client.js").VoiceClient} client
   * @param {{line: HTMLElement, hold: HTMLButtonElement, question: HTMLElement, agree: HTMLElement,
   *   decline: HTMLElement}} parts
   */
  constructor(client, { line, hold, question, agree, decline }) {
    this.#client = client;
    this.#line = line;
    this.#holdButton = hold;
    this.#question = question;
    client.on("hold", ({ on }) => this.#set("hold", on));
    client.on("protected", ({ on }) => this.#set("protected", on));
    client.on("model", ({ state }) => this.#set("lost", state === "lost"));
    client.on("consent", ({ asked }) => (question.hidden = !asked));
    client.on("state", ({ state }) => this.#enter(state));
    hold.addEventListener("click", () => this.toggleHold());
    agree.addEventListener("click", () => client.consent(true));
    decline.addEventListener("click", () => this.#decline());
    this.#show();
  }

  /** Whether what is pressed now must not be shown. */
  get isPrivate() {
    return this.#on.protected;
  }

  /** Why nobody listens to the caller; empty when somebody does. */
  get deaf() {
    if (!this.#question.hidden) return "The model does not listen before you agree.";
    return DEAF[Object.keys(DEAF).find((mode) => this.#on[mode])] ?? "";
  }

  /** Puts the call on hold, or resumes it. */
  toggleHold() {
    this.#client.hold(!this.#on.hold);
  }

  #decline() {
    this.#client.consent(false);
    this.#client.end();
  }

  #enter(state) {
    this.#holdButton.disabled = state !== "live";
    if (state === "live") return;
    this.#question.hidden = true;
    for (const mode of Object.keys(this.#on)) this.#on[mode] = false;
    this.#show();
  }

  #set(mode, on) {
    this.#on[mode] = on;
    this.#show();
  }

  #show() {
    const mode = Object.keys(this.#on).find((name) => this.#on[name]) ?? "";
    this.#line.hidden = mode === "";
    this.#line.dataset.mode = mode;
    this.#line.textContent = WORDS[mode] ?? "";
    this.#holdButton.setAttribute("aria-pressed", String(this.#on.hold));
    this.#holdButton.querySelector("span").textContent = this.#on.hold ? "Resume" : "Hold";
  }
}
