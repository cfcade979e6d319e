// The drawing of the call's net, with its marking moving on it.

const SVG = "http://www.w3.org/2000/svg";
const FLASH_MS = 350;
const ELEMENTS_MAX = 20_000;

// The elements and attributes of a drawing. Everything else is left out: scripts, styles, links,
// images.
const ELEMENTS = setOf("svg g defs marker title desc path rect circle ellipse line polyline polygon text tspan");
const ATTRIBUTES = setOf(`
  id data-place data-transition data-ref
  transform viewBox preserveAspectRatio width height x y x1 y1 x2 y2 cx cy r rx ry dx dy d points
  fill fill-opacity fill-rule opacity paint-order
  stroke stroke-width stroke-dasharray stroke-linecap stroke-linejoin stroke-opacity
  text-anchor dominant-baseline font-size font-family font-weight font-style
  marker-start marker-mid marker-end markerWidth markerHeight markerUnits refX refY orient`);

/**
 * Shows one net. A place is a group with data-place, a transition a group with data-transition; a
 * group with data-ref is a copy of a place that is drawn elsewhere. A place shows its count in its
 * text of class count, if it has one.
 */
export class NetView {
  #panel;
  #drawing;
  #fired;
  #size;
  /** @type {SVGSVGElement | null} */
  #svg = null;
  /** @type {Map<string, SVGElement[]>} */
  #places = new Map(); // by name: the place and its copies
  /** @type {Map<string, SVGElement>} */
  #transitions = new Map(); // by name
  /** @type {Map<string, ReturnType<typeof setTimeout>>} */
  #timers = new Map(); // of the transitions that flash, by name

  /**
   * @param {object} elements
   * @param {HTMLElement} elements.panel hidden until a drawing came
   * @param {HTMLElement} elements.drawing
   * @param {HTMLElement} elements.fired shows the transitions that fired last
   * @param {HTMLElement} elements.size the button that enlarges the drawing
   */
  constructor({ panel, drawing, fired, size }) {
    this.#panel = panel;
    this.#drawing = drawing;
    this.#fired = fired;
    this.#size = size;
    new ResizeObserver(() => this.#measure()).observe(drawing);
    drawing.addEventListener("click", () => this.setLarge(true));
    size.addEventListener("click", () => this.setLarge(!panel.classList.contains("large")));
  }

  /**
   * Shows the drawing over the whole window, or in its place.
   * @param {boolean} isLarge
   */
  setLarge(isLarge) {
    this.#panel.classList.toggle("large", isLarge);
    this.#size.setAttribute("aria-pressed", String(isLarge));
    this.#size.textContent = isLarge ? "Close" : "Enlarge";
  }

  /**
   * Shows a drawing, given as the text of an SVG. A text that cannot be read hides the panel.
   * @param {string} text
   */
  show(text) {
    const parsed = new DOMParser().parseFromString(withoutCode(text), "text/html").querySelector("svg");
    const svg = parsed && copy(parsed, { left: ELEMENTS_MAX });
    this.#svg = svg instanceof SVGSVGElement ? svg : null;
    this.#panel.hidden = this.#svg === null;
    this.#places.clear();
    this.#transitions.clear();
    if (this.#svg === null) return;
    fit(this.#svg);
    this.#drawing.replaceChildren(this.#svg);
    this.#index(this.#svg);
    this.#measure();
  }

  /**
   * Shows a marking, and flashes the transitions that fired.
   * @param {import("../client/index.js").VoiceEvents["net"]} event
   */
  mark({ marking, fired }) {
    for (const [name, groups] of this.#places) for (const group of groups) setCount(group, marking[name] ?? 0);
    for (const name of fired) this.#flash(name);
    if (fired.length > 0) this.#fired.textContent = [...new Set(fired)].slice(-3).join(", ");
  }

  /** @param {SVGSVGElement} svg */
  #index(svg) {
    for (const group of all(svg, "[data-place], [data-ref]")) {
      const name = group.dataset.place ?? group.dataset.ref ?? "";
      this.#places.set(name, [...(this.#places.get(name) ?? []), group]);
      setCount(group, 0);
    }
    for (const group of all(svg, "[data-transition]")) {
      this.#transitions.set(group.dataset.transition ?? "", group);
    }
  }

  // --unit is a CSS pixel in units of the drawing: page.css draws marked places equally thick at
  // both sizes.
  #measure() {
    const svg = this.#svg;
    const scale = svg?.getScreenCTM()?.a;
    if (svg && scale) svg.style.setProperty("--unit", Math.max(1, 1 / scale).toFixed(3));
  }

  /** @param {string} name */
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

/**
 * @param {SVGSVGElement} svg
 * @param {string} selector
 */
function all(svg, selector) {
  return /** @type {NodeListOf<SVGElement>} */ (svg.querySelectorAll(selector));
}

/**
 * Lets page.css size the drawing.
 * @param {SVGSVGElement} svg
 */
function fit(svg) {
  if (!svg.hasAttribute("viewBox")) {
    const width = parseFloat(svg.getAttribute("width") ?? "") || 800;
    const height = parseFloat(svg.getAttribute("height") ?? "") || 600;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  }
  svg.style.setProperty("--width", String(svg.viewBox.baseVal.width));
  svg.removeAttribute("width");
  svg.removeAttribute("height");
  svg.setAttribute("role", "presentation");
}

/**
 * @param {SVGElement} group
 * @param {number} count
 */
function setCount(group, count) {
  if (group.dataset.count === String(count)) return;
  group.dataset.count = String(count);
  group.classList.toggle("marked", count > 0);
  const text = group.querySelector(".net-count");
  if (text) text.textContent = count > 0 ? String(count) : "";
}

/**
 * Removes scripts and styles, so that the browser does not log what the page's policy forbids. copy
 * leaves out what this misses.
 * @param {string} text
 */
function withoutCode(text) {
  return text
    .replace(/<(script|style)\b[^]*?<\/\1\s*>/gi, "")
    .replace(/\s(?:style|on\w+)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)/gi, "");
}

/**
 * A copy of a foreign drawing with allowed elements and attributes only; null when the element
 * itself is not allowed.
 * @param {Element} from
 * @param {{left: number}} budget of elements
 * @returns {SVGElement | null}
 */
function copy(from, budget) {
  if (from.namespaceURI !== SVG || !ELEMENTS.has(from.localName) || budget.left-- <= 0) return null;
  const to = /** @type {SVGElement} */ (document.createElementNS(SVG, from.localName));
  for (const { name, value } of from.attributes) {
    if (name === "class") to.setAttribute("class", value.replace(/[^\s]+/g, "net-$&")); // apart from the page's classes
    else if (ATTRIBUTES.has(name) && isLocal(value)) to.setAttribute(name, value);
  }
  for (const child of from.childNodes) {
    const copied = child instanceof Element ? copy(child, budget) : child instanceof Text ? child.data : null;
    if (copied !== null) to.append(copied);
  }
  return to;
}

/**
 * Whether a value refers to the drawing itself, as url(#arrow) does. Any other url() would load
 * something.
 * @param {string} value
 */
function isLocal(value) {
  return !/url\(\s*['"]?(?!#)/i.test(value) && !/\burl\(\s*['"]?\s+/i.test(value);
}

/** @param {string} text */
function setOf(text) {
  return new Set(text.trim().split(/\s+/));
}
