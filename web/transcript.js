// The words of both sides, fragment by fragment.

const KEPT_MAX = 200; // utterances
const NAMES = { caller: "You", model: "Model" };

export class Transcript {
  #log;
  #open = { caller: null, model: null }; // the utterance that fragments are appended to
  #latest = new Map(); // generation -> the model's utterance

  /** @param {HTMLElement} log */
  constructor(log) {
    this.#log = log;
  }

  clear() {
    this.#log.replaceChildren();
    this.#open = { caller: null, model: null };
    this.#latest.clear();
  }

  /** Appends a fragment to what `who` is saying, or begins a new utterance. */
  add({ who, text, final, generation }) {
    const pinned = this.#log.scrollHeight - this.#log.scrollTop - this.#log.clientHeight < 48;
    let said = this.#open[who];
    if (said && who === "model" && said.dataset.generation !== String(generation)) said = this.#finish(who);
    if (!said && text.trim() !== "") said = this.#begin(who, generation);
    if (said) said.querySelector(".words").append(text);
    if (final) this.#finish(who);
    if (pinned) this.#log.scrollTop = this.#log.scrollHeight;
  }

  /** Says under the reply of a generation that it was cut. */
  cut(generation, words) {
    const said = this.#latest.get(String(generation));
    if (!said || said.querySelector(".cut")) return;
    const note = document.createElement("span");
    note.className = "cut";
    note.textContent = words;
    said.append(note);
    this.#finish("model");
  }

  #begin(who, generation) {
    this.#log.querySelector(".empty")?.remove();
    const said = document.createElement("p");
    said.className = `said open ${who}`;
    said.dataset.generation = String(generation);
    const name = document.createElement("b");
    name.textContent = NAMES[who];
    const words = document.createElement("span");
    words.className = "words";
    said.append(name, words);
    this.#log.append(said);
    while (this.#log.children.length > KEPT_MAX) this.#log.firstElementChild.remove();
    this.#open[who] = said;
    if (who === "model") this.#latest = new Map([[said.dataset.generation, said]]);
    return said;
  }

  #finish(who) {
    this.#open[who]?.classList.remove("open");
    this.#open[who] = null;
    return null;
  }
}
