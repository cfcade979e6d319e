// Elements made of text. Content of sessions reaches the page through here alone: as text, never as HTML.

/**
 * @template {keyof HTMLElementTagNameMap} N
 * @param {N} name
 * @param {string} className
 * @param {...(string | Node)} children
 * @returns {HTMLElementTagNameMap[N]}
 */
export function create(name, className, ...children) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

/**
 * @param {string} text
 * @param {() => void} press
 * @param {string} [className]
 */
export function button(text, press, className = "quiet") {
  const element = create("button", className, text);
  element.type = "button";
  element.addEventListener("click", press);
  return element;
}

const SHOWN_MAX = 20_000; // characters of one text

/**
 * Replaces what an element shows by a text. Of a very long one it shows the beginning and a button. Only
 * what is new is added, when the text has grown.
 * @param {HTMLElement} element
 * @param {string} text
 */
export function showText(element, text) {
  const first = element.firstChild;
  const isPlain = first instanceof Text && element.childNodes.length === 1;
  if (isPlain && text.length <= SHOWN_MAX && text.startsWith(first.data)) {
    if (text.length > first.data.length) first.appendData(text.slice(first.data.length));
    return;
  }
  element.replaceChildren(text.slice(0, SHOWN_MAX));
  if (text.length <= SHOWN_MAX) return;
  const more = button(`Show all ${new Intl.NumberFormat().format(text.length)} characters`, () => {
    element.replaceChildren(text);
  });
  element.append("\u2026 ", more);
}

/**
 * A text to scroll in, with a label.
 * @param {string} label
 * @param {string} text
 */
export function textBox(label, text) {
  const pre = create("pre", "box");
  pre.tabIndex = 0;
  pre.dir = "auto";
  pre.setAttribute("role", "group");
  pre.setAttribute("aria-label", label);
  showText(pre, text);
  return create("div", "labelled", create("p", "label", label), pre);
}
