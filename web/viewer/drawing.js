// Reads the drawing of a net, as SVG, and leaves out whatever could run or load something.

const SVG = "http://www.w3.org/2000/svg";
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
 * Reads a drawing; null if the text is none. Its classes begin with net-, apart from those of the page.
 * @param {string} text
 * @returns {SVGSVGElement | null}
 */
export function read(text) {
  const parsed = new DOMParser().parseFromString(withoutCode(text), "text/html").querySelector("svg");
  const svg = parsed && copy(parsed, { left: ELEMENTS_MAX });
  if (!(svg instanceof SVGSVGElement)) return null;
  if (!svg.hasAttribute("viewBox")) {
    const width = parseFloat(svg.getAttribute("width") ?? "") || 800;
    const height = parseFloat(svg.getAttribute("height") ?? "") || 600;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  }
  svg.removeAttribute("width");
  svg.removeAttribute("height");
  svg.setAttribute("role", "presentation");
  svg.setAttribute("preserveAspectRatio", "xMidYMid meet");
  return svg;
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
    if (name === "class") to.setAttribute("class", value.replace(/[^\s]+/g, "net-$&"));
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
