// The drawing of the call's net, with its marking moving on it.

const SVG = "http://www.w3.org/2000/svg";
const FLASH_MS = 350;
const ELEMENTS_MAX = 20_000;

// What a drawing may consist of. Everything else of the text that came is left out: scripts, styles, links, images.
const ELEMENTS = words("svg g defs marker title desc path rect circle ellipse line polyline polygon text tspan");
const ATTRIBUTES = words(`
  id data-place data-transition data-ref
  transform viewBox preserveAspectRatio width height x y x1 y1 x2 y2 cx cy r rx ry dx dy d points
  fill fill-opacity fill-rule opacity paint-order
  stroke stroke-width stroke-dasharray stroke-linecap stroke-linejoin stroke-opacity
  text-anchor dominant-baseline font-size font-family font-weight font-style
  marker-start marker-mid marker-end markerWidth markerHeight markerUnits refX refY orient`);

/**
 * Shows one net: places are groups with data-place, transitions groups with data-transition, and a group with data-ref
 * stands for a place drawn elsewhere. A place shows its count in its text of class count, if it has one.
 */
export class NetView {
  #panel;
  #drawing;
  #fired;
  #svg = null;
  #places = new Map(); // name -> groups, the place itself first
  #transitions = new Map();
  #timers = new Map();

  /**
   * @param {HTMLElement} panel hidden until a drawing came
   * @param {HTMLElement} drawing
   * @param {HTMLElement} fired
   */
  constructor(panel, drawing, fired) {
    this.#panel = panel;
    this.#drawing = drawing;
    this.#fired = fired;
    new ResizeObserver(() => this.#measure()).observe(drawing);
  }

  /** Shows a drawing, given as the text of an SVG. What cannot be read hides the panel. */
  show(text) {
    const parsed = new DOMParser().parseFromString(quieten(text), "text/html").querySelector("svg");
    this.#svg = parsed && copy(parsed, { left: ELEMENTS_MAX });
    this.#panel.hidden = this.#svg === null;
    this.#places.clear();
    this.#transitions.clear();
    if (this.#svg === null) return;
    fit(this.#svg);
    this.#drawing.replaceChildren(this.#svg);
    this.#index();
    this.#measure();
  }

  /** Shows a marking, and flashes the transitions that fired. */
  mark({ marking, fired }) {
    for (const [name, groups] of this.#places) for (const group of groups) setCount(group, marking[name] ?? 0);
    for (const name of fired) this.#flash(name);
    if (fired.length > 0) this.#fired.textContent = [...new Set(fired)].slice(-3).join(", ");
  }

  #index() {
    for (const group of this.#svg.querySelectorAll("[data-place], [data-ref]")) {
      const name = group.dataset.place ?? group.dataset.ref;
      this.#places.set(name, [...(this.#places.get(name) ?? []), group]);
      setCount(group, 0);
    }
    for (const group of this.#svg.querySelectorAll("[data-transition]")) {
      this.#transitions.set(group.dataset.transition, group);
    }
  }

  // --unit is a CSS pixel in units of the drawing: what moves is drawn as thick in an overview as in the large view.
  #measure() {
    const scale = this.#svg?.getScreenCTM()?.a;
    if (scale) this.#svg.style.setProperty("--unit", Math.max(1, 1 / scale).toFixed(3));
  }

  #flash(name) {
    const transition = this.#transitions.get(name);
    if (!transition) return;
    transition.classList.add("fired-now");
    clearTimeout(this.#timers.get(name));
    this.#timers.set(
      name,
      setTimeout(() => transition.classList.remove("fired-now"), FLASH_MS),
    );
  }
}

function fit(svg) {
  if (!svg.hasAttribute("viewBox")) {
    const width = parseFloat(svg.getAttribute("width")) || 800;
    const height = parseFloat(svg.getAttribute("height")) || 600;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  }
  svg.style.setProperty("--width", String(svg.viewBox.baseVal.width));
  svg.removeAttribute("width");
  svg.removeAttribute("height");
  svg.setAttribute("role", "presentation");
}

function setCount(group, count) {
  if (group.dataset.count === String(count)) return;
  group.dataset.count = String(count);
  group.classList.toggle("marked", count > 0);
  const text = group.querySelector(".net-count");
  if (text) text.textContent = count > 0 ? String(count) : "";
}

// What the page's policy forbids it also reports when it is merely parsed. Taken out for the sake of a clean console;
// what this misses, copy leaves out.
function quieten(text) {
  return text
    .replace(/<(script|style)\b[^]*?<\/\1\s*>/gi, "")
    .replace(/\s(?:style|on\w+)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)/gi, "");
}

// A copy of a foreign drawing that holds only allowed elements and attributes.
function copy(from, budget) {
  if (from.namespaceURI !== SVG || !ELEMENTS.has(from.localName) || budget.left-- <= 0) return null;
  const to = document.createElementNS(SVG, from.localName);
  for (const { name, value } of from.attributes) {
    if (name === "class")
      to.setAttribute("class", value.replace(/[^\s]+/g, "net-$&")); // names of the page stay its own
    else if (ATTRIBUTES.has(name) && isLocal(value)) to.setAttribute(name, value);
  }
  for (const child of from.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) to.append(child.data);
    else if (child.nodeType === Node.ELEMENT_NODE) to.append(...[copy(child, budget)].filter(Boolean));
  }
  return to;
}

// url(#arrow) is of the drawing itself; any other url() would load something.
function isLocal(value) {
  return !/url\(\s*['"]?(?!#)/i.test(value) && !/\burl\(\s*['"]?\s+/i.test(value);
}

function words(text) {
  return new Set(text.trim().split(/\s+/));
}
