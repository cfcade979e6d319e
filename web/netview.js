// The drawing of the call's net, with its marking moving on it.

const SVG = "http://www.w3.org/2000/svg";
const FLASH_MS = 350;
const ELEMENTS_MAX = 20_000;

// What a drawing may consist of. Everything else of the text that came is left out: scripts, styles, links, images.
const ELEMENTS = new Set(
  "svg g defs marker title desc path rect circle ellipse line polyline polygon text tspan".split(" "),
);
const ATTRIBUTES = new Set(
  (
    "id class transform viewBox width height x y x1 y1 x2 y2 cx cy r rx ry d points dx dy fill fill-opacity stroke " +
    "stroke-width stroke-dasharray stroke-linecap stroke-linejoin stroke-opacity opacity text-anchor " +
    "dominant-baseline font-size font-family font-weight font-style marker-start marker-mid marker-end markerWidth " +
    "markerHeight refX refY orient markerUnits preserveAspectRatio data-place data-transition"
  ).split(" "),
);

/** Shows one net. Places and transitions are groups with data-place and data-transition. */
export class NetView {
  #panel;
  #drawing;
  #fired;
  #places = new Map();
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
  }

  /** Shows a drawing, given as the text of an SVG. What cannot be read hides the panel. */
  show(text) {
    const parsed = new DOMParser().parseFromString(quieten(text), "text/html").querySelector("svg");
    const svg = parsed && copy(parsed, { left: ELEMENTS_MAX });
    this.#panel.hidden = svg === null;
    this.#places.clear();
    this.#transitions.clear();
    if (svg === null) return;
    this.#fit(svg);
    this.#drawing.replaceChildren(svg);
    for (const g of svg.querySelectorAll("[data-place]")) this.#places.set(g.dataset.place, g);
    for (const g of svg.querySelectorAll("[data-transition]")) this.#transitions.set(g.dataset.transition, g);
  }

  /** Shows a marking, and flashes the transitions that fired. */
  mark({ marking, fired }) {
    for (const [name, place] of this.#places) this.#setCount(place, marking[name] ?? 0);
    for (const name of fired) this.#flash(name);
    if (fired.length > 0) this.#fired.textContent = [...new Set(fired)].slice(-3).join(", ");
  }

  #fit(svg) {
    if (!svg.hasAttribute("viewBox")) {
      const width = parseFloat(svg.getAttribute("width")) || 800;
      const height = parseFloat(svg.getAttribute("height")) || 600;
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    }
    svg.removeAttribute("width");
    svg.removeAttribute("height");
    svg.setAttribute("role", "presentation");
  }

  #setCount(place, count) {
    if (Number(place.dataset.count ?? 0) === count) return;
    place.dataset.count = String(count);
    place.classList.toggle("marked", count > 0);
    place.querySelector(":scope > .tokens")?.remove();
    if (count > 0) place.append(tokens(place, count));
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

// The number of tokens on a place, at the upper right of its shape.
function tokens(place, count) {
  const shape = place.querySelector("circle, ellipse, rect") ?? place;
  const box = shape.getBBox();
  const size = Math.max(5, Math.min(11, Math.min(box.width, box.height) * 0.36));
  const x = box.x + box.width * 0.86;
  const y = box.y + box.height * 0.14;
  const group = element("g", { class: "tokens" });
  group.append(element("circle", { class: "tokens-back", cx: x, cy: y, r: size }));
  const text = element("text", { x, y, "font-size": size * (count > 99 ? 0.9 : 1.25) });
  text.textContent = String(count);
  group.append(text);
  return group;
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
    if (ATTRIBUTES.has(name) && isLocal(value)) to.setAttribute(name, value);
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

function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
