// The words of both sides, fragment by fragment.

const KEPT_MAX = 200; // utterances
const NAMES = { caller: "You", model: "Model" };

export class Transcript {
  #log;
  #newest = { caller: null, model: null }; // the utterance that fragments are appended to

  /** @param {HTMLElement} log */
  constructor(log) {
    this.#log = log;
  }

  clear() {
    this.#log.replaceChildren();
    this.#newest = { caller: null, model: null };
  }

  /** Appends a fragment to what `who` says in this generation, or begins a new utterance. */
  add({ who, text, final, generation }) {
    const pinned = this.#log.scrollHeight - this.#log.scrollTop - this.#log.clientHeight < 48;
    let said = this.#newest[who];
    if (said?.dataset.generation !== String(generation)) said = null;
    if (!said && text.trim() !== "") said = this.#begin(who, generation);
    if (said) said.querySelector(".words").append(text);
    if (final) this.#newest[who] = null;
    if (pinned) this.#log.scrollTop = this.#log.scrollHeight;
  }

  /** Says something between the utterances. */
  note(words) {
    this.#append(element("p", "aside", words));
  }

  /** Says under the reply of a generation that it was cut. */
  cut(generation, words) {
    const said = [...this.#log.querySelectorAll(".said.model")].findLast(
      (e) => e.dataset.generation === String(generation),
    );
    if (!said || said.querySelector(".cut")) return;
    said.append(element("span", "cut", words));
  }

  #begin(who, generation) {
    const said = element("p", `said ${who}`, "");
    said.dataset.generation = String(generation);
    said.append(element("b", "", NAMES[who]), element("span", "words", ""));
    this.#append(said);
    this.#newest[who] = said;
    return said;
  }

  #append(child) {
    this.#log.querySelector(".empty")?.remove();
    this.#log.append(child);
    while (this.#log.children.length > KEPT_MAX) this.#log.firstElementChild.remove();
  }
}

function element(name, className, text) {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}
