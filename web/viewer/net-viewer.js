// The net of a call, with its tokens moving.

import { button, create } from "./build.js";
import { read } from "./drawing.js";

const SVG = "http://www.w3.org/2000/svg";
const MOVE_MS = 420;
const FLASH_MS = 450;
const MOVES_MAX = 24; // tokens on their way at one time
const STAY_MS = 2500; // in one place, before it follows to another
const LEGIBLE = 0.6; // pixels to a unit of the drawing, below which a part is too small to read
const FINE = 2200; // width that is shown, in units of the drawing, beyond which a moving token is too small to see
const calm = matchMedia("(prefers-reduced-motion: reduce)");

const LEGEND = [
  ["place", "place"], ["marked", "with a token"], ["env", "input or output"], ["bar", "fires at once"],
  ["timed", "waits"], ["read", "reads"], ["inhibit", "inhibits"], ["reset", "empties"],
];

/**
 * A firing: the transition, whether it only moves audio, and the places that tokens left and came to.
 * @typedef {{ of: string, frame?: boolean, from?: string[], to?: string[] }} Firing
 */

/**
 * Shows one net. A place is a group with data-place, a transition a group with data-transition; a
 * group with data-ref is a copy of a place that is drawn elsewhere. A place shows its count in its
 * text of class count, if it has one.
 */
export class NetViewer {
  #part = create("select", "");
  /** @type {Map<string, string>} */ #words = new Map(); // what places mean and transitions do
  #find = create("input", "");
  #drawing = create("div", "drawing");
  #fired = create("code", "", "\u2013");
  /** @type {SVGSVGElement | null} */ #svg = null;
  /** @type {{ x: number, y: number, w: number, h: number }} */ #box = { x: 0, y: 0, w: 1, h: 1 };
  /** @type {{ x: number, y: number, w: number, h: number }} */ #all = { x: 0, y: 0, w: 1, h: 1 };
  /** @type {Map<string, SVGGElement[]>} */ #places = new Map();
  /** @type {Map<string, SVGGElement>} */ #transitions = new Map();
  /** @type {Map<string, SVGGElement>} */ #panels = new Map();
  /** @type {Map<SVGGElement, { x: number, y: number }>} */ #centres = new Map();
  /** @type {SVGGElement | null} */ #layer = null;
  /** @type {Map<Element, number>} */ #flashes = new Map();
  #moving = 0;
  #isFollowing = false;
  #last = ""; // the transition that fired last, those that only move audio left out
  #isSeen = false; // the drawing is in sight: else nothing moves on it
  #aim = "";
  #stay = { until: 0, timer: 0 }; // where it is now
  #count = create("output", "label");

  /**
   * @param {HTMLElement} host what the viewer fills
   * @param {HTMLElement} tools where its buttons go
   * @param {boolean} isFollowing whether it goes where something fires, until somebody moves the drawing
   */
  constructor(host, tools, isFollowing) {
    const label = create("label", "label", "Part");
    label.htmlFor = "net-part";
    const follow = button("Follow", () => this.#setFollowing(follow, !this.#isFollowing));
    this.#setFollowing(follow, isFollowing);
    const free = () => this.#setFollowing(follow, false);
    const smaller = button("\u2212", () => (free(), this.#zoom(1.4)));
    const larger = button("+", () => (free(), this.#zoom(0.7)));
    const fit = button("Fit", () => (free(), this.fit()));
    smaller.setAttribute("aria-label", "Zoom out");
    larger.setAttribute("aria-label", "Zoom in");
    this.#find.type = "search";
    this.#find.placeholder = "Name or meaning";
    this.#find.setAttribute("aria-label", "Find a place or transition; Enter goes to the next");
    this.#drawing.tabIndex = 0;
    this.#drawing.setAttribute("role", "application");
    this.#drawing.setAttribute("aria-label", "Drawing of the net. Arrow keys move it, plus and minus zoom.");
    const ids = { part: this.#part, find: this.#find, drawing: this.#drawing, fired: this.#fired, follow, fit };
    for (const [id, e] of Object.entries(ids)) e.id = `net-${id}`;
    this.#part.addEventListener("change", () => this.#showPart());
    this.#find.addEventListener("input", () => this.#search(this.#find.value));
    this.#find.addEventListener("keydown", (e) => e.key === "Enter" && this.#found.length > 0 && (free(), this.#goToFound()));
    tools.prepend(label, this.#part, this.#find, this.#count, follow, smaller, larger, fit);
    const legend = create("ul", "legend", ...LEGEND.map(([kind, words]) => create("li", "", create("i", `k ${kind}`), words)));
    legend.setAttribute("aria-label", "Legend");
    host.append(this.#drawing, create("div", "below", create("p", "fired", create("span", "label", "Fired last"), " ", this.#fired), legend));
    this.#listen(free);
    const look = (/** @type {IntersectionObserverEntry[]} */ entries) => {
      this.#isSeen = entries.at(-1)?.isIntersecting ?? false;
      this.#followOn();
    };
    new IntersectionObserver(look).observe(this.#drawing);
  }

  /** @param {HTMLElement} button @param {boolean} isOn */
  #setFollowing(button, isOn) {
    this.#isFollowing = isOn;
    if (!isOn) this.#aim = "";
    this.#stay.until = 0;
    this.#followOn();
    button.setAttribute("aria-pressed", String(isOn));
  }

  /** @param {() => void} free */
  #listen(free) {
    const drawing = this.#drawing;
    /** @type {Map<number, PointerEvent>} */
    const held = new Map();
    drawing.addEventListener("wheel", (e) => {
      if (!e.ctrlKey && !drawing.matches(":focus-within, :focus")) return; // the page scrolls
      e.preventDefault();
      free();
      this.#zoom(Math.exp(e.deltaY / 400), this.#at(e));
    }, { passive: false });
    drawing.addEventListener("pointerdown", (e) => {
      held.set(e.pointerId, e);
      drawing.setPointerCapture(e.pointerId);
      drawing.focus({ preventScroll: true });
    });
    drawing.addEventListener("pointermove", (e) => {
      const before = held.get(e.pointerId);
      if (!before) return;
      free();
      const a = this.#at(before);
      const b = this.#at(e);
      const other = [...held.values()].find((o) => o.pointerId !== e.pointerId);
      if (other) {
        const far = (/** @type {PointerEvent} */ p) => Math.hypot(p.clientX - other.clientX, p.clientY - other.clientY);
        this.#zoom(far(before) / Math.max(1, far(e)), this.#at(other));
      } else this.#show({ ...this.#box, x: this.#box.x + a.x - b.x, y: this.#box.y + a.y - b.y });
      held.set(e.pointerId, e);
    });
    for (const name of /** @type {const} */ (["pointerup", "pointercancel"])) drawing.addEventListener(name, (e) => held.delete(e.pointerId));
    drawing.addEventListener("keydown", (e) => {
      const step = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, -0.15], ArrowDown: [0, 0.15] }[e.key];
      if (step) this.#show({ ...this.#box, x: this.#box.x + step[0] * this.#box.w, y: this.#box.y + step[1] * this.#box.h });
      else if (e.key === "+" || e.key === "=") this.#zoom(0.7);
      else if (e.key === "-") this.#zoom(1.4);
      else if (e.key === "0") this.fit();
      else return;
      free();
      e.preventDefault();
    });
  }

  /** Where a pointer is, in units of the drawing. @param {{ clientX: number, clientY: number }} e */
  #at(e) {
    const matrix = this.#svg?.getScreenCTM()?.inverse();
    return matrix ? new DOMPoint(e.clientX, e.clientY).matrixTransform(matrix) : { x: 0, y: 0 };
  }

  /**
   * Shows a drawing, given as the text of an SVG. It returns whether it is one.
   * @param {string} text @param {Map<string, string>} [words] what places mean and transitions do
   */
  load(text, words = new Map()) {
    const svg = read(text);
    this.clear();
    this.#svg = svg;
    this.#words = words;
    if (!svg) return false;
    const { x, y, width, height } = svg.viewBox.baseVal;
    this.#all = { x, y, w: width, h: height };
    this.#drawing.replaceChildren(svg);
    this.#index(svg, words);
    this.#layer = document.createElementNS(SVG, "g");
    svg.append(this.#layer);
    this.#search(this.#find.value);
    this.fit();
    return true;
  }

  /** Shows no net. */
  clear() {
    this.#drawing.replaceChildren();
    this.#fired.textContent = "\u2013";
    this.#aim = this.#last = "";
    this.#stay.until = 0;
    this.#search("");
    this.#svg = null;
    for (const map of [this.#places, this.#transitions, this.#panels, this.#centres]) map.clear();
  }

  /** @param {SVGSVGElement} svg @param {Map<string, string>} words */
  #index(svg, words) {
    const root = svg.getCTM()?.inverse();
    const centre = (/** @type {SVGGElement} */ g) => {
      const shape = /** @type {SVGGraphicsElement | null} */ (g.querySelector("circle, rect, ellipse, polygon"));
      if (!shape) return;
      const box = shape.getBBox();
      const matrix = shape.getCTM();
      if (!matrix || !root) return;
      const p = new DOMPoint(box.x + box.width / 2, box.y + box.height / 2).matrixTransform(matrix).matrixTransform(root);
      this.#centres.set(g, { x: p.x, y: p.y });
    };
    for (const g of /** @type {NodeListOf<SVGGElement>} */ (svg.querySelectorAll("[data-place], [data-ref]"))) {
      const name = g.dataset.place ?? g.dataset.ref ?? "";
      this.#places.set(name, [...(this.#places.get(name) ?? []), g]);
      centre(g);
      explain(g, words.get(name));
    }
    for (const g of /** @type {NodeListOf<SVGGElement>} */ (svg.querySelectorAll("[data-transition]"))) {
      const name = g.dataset.transition ?? "";
      this.#transitions.set(name, g);
      centre(g);
      explain(g, words.get(name));
    }
    this.#part.replaceChildren(create("option", "", "Whole net"));
    for (const g of /** @type {NodeListOf<SVGGElement>} */ (svg.querySelectorAll("g.net-subnet"))) {
      const name = g.querySelector(".net-subnet-name")?.textContent ?? "";
      this.#panels.set(name, g);
      if (name) this.#part.append(create("option", "", name));
    }
  }

  /** Shows the whole net, or the whole part. */
  fit() {
    const panel = this.#panels.get(this.#part.value);
    this.#show(panel ? this.#around([panel], 12) : this.#all);
  }

  #showPart() {
    for (const [name, g] of this.#panels) g.classList.toggle("away", this.#part.selectedIndex > 0 && name !== this.#part.value);
    this.#aim = "";
    this.#stay.until = 0;
    this.fit();
  }

  /** The box around elements. @param {SVGGraphicsElement[]} elements @param {number} pad */
  #around(elements, pad) {
    const root = this.#svg?.getScreenCTM()?.inverse();
    let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const e of elements) {
      const b = e.getBoundingClientRect();
      for (const [x, y] of [[b.left, b.top], [b.right, b.bottom]]) {
        const p = new DOMPoint(x, y).matrixTransform(root ?? new DOMMatrix());
        [x0, y0, x1, y1] = [Math.min(x0, p.x), Math.min(y0, p.y), Math.max(x1, p.x), Math.max(y1, p.y)];
      }
    }
    return { x: x0 - pad, y: y0 - pad, w: x1 - x0 + 2 * pad, h: y1 - y0 + 2 * pad };
  }

  /** @param {{ x: number, y: number, w: number, h: number }} box */
  #show(box) {
    this.#box = box;
    this.#svg?.setAttribute("viewBox", `${box.x} ${box.y} ${box.w} ${box.h}`);
  }

  /** @param {number} factor @param {{ x: number, y: number }} [at] */
  #zoom(factor, at) {
    const b = this.#box;
    const w = Math.min(Math.max(b.w * factor, 120), this.#all.w * 1.5);
    const f = w / b.w;
    const p = at ?? { x: b.x + b.w / 2, y: b.y + b.h / 2 };
    this.#show({ x: p.x - (p.x - b.x) * f, y: p.y - (p.y - b.y) * f, w, h: b.h * f });
  }

  /** @type {SVGGElement[]} */ #found = [];
  #next = 0; // of those that are found

  /** Marks what has a text in its name, or in the words about it. @param {string} text */
  #search(text) {
    const wanted = text.trim().toLowerCase();
    for (const g of this.#found) g.classList.remove("found");
    this.#found = [];
    this.#count.textContent = "";
    if (!wanted) return;
    const fits = (/** @type {string} */ name) => `${name}\n${this.#words.get(name) ?? ""}`.toLowerCase().includes(wanted);
    for (const [name, list] of this.#places) if (fits(name)) this.#found.push(...list);
    for (const [name, g] of this.#transitions) if (fits(name)) this.#found.push(g);
    for (const g of this.#found) g.classList.add("found");
    this.#next = 0;
    this.#count.textContent = `${this.#found.length || "none"} found`;
  }

  /** Goes to one after another, out of the part that is shown if it is in another. */
  #goToFound() {
    const g = this.#found[this.#next % this.#found.length];
    if (!g) return;
    if (g.closest(".away")) {
      this.#part.selectedIndex = 0;
      this.#showPart();
    }
    this.#next = (this.#next % this.#found.length) + 1;
    this.#count.textContent = `${this.#next} of ${this.#found.length}`;
    this.#show(this.#around([g], 160));
  }

  /** Shows a marking. @param {Readonly<Record<string, number>>} marking tokens by place */
  mark(marking) {
    for (const [name, groups] of this.#places) {
      const n = marking[name] ?? 0;
      for (const g of groups) {
        if (g.dataset.count === String(n)) continue;
        g.dataset.count = String(n);
        g.classList.toggle("marked", n > 0);
        const text = g.querySelector(".net-count");
        if (text) text.textContent = n > 0 ? String(n) : "";
      }
    }
  }

  /** Shows what happened. @param {Firing[]} fired */
  fire(fired) {
    const names = [...new Set(fired.filter((f) => !f.frame).map((f) => f.of))];
    if (names.length > 0) this.#fired.textContent = names.slice(-4).join(", ");
    for (const f of fired.slice(-MOVES_MAX)) {
      const g = this.#transitions.get(f.of);
      if (!g) continue;
      this.#flash(g);
      if (this.#isSeen && !calm.matches && this.#box.w < FINE && this.#moving < MOVES_MAX) this.#travel(f, g);
    }
    this.#last = fired.findLast((f) => !f.frame)?.of ?? this.#last;
    this.#followOn();
  }

  /** Shows what happened last, at another moment of the call. @param {Firing[]} fired */
  jump(fired) {
    this.#stay.until = 0;
    this.fire(fired);
  }

  #followOn() {
    clearTimeout(this.#stay.timer);
    if (!this.#isSeen || !this.#isFollowing || !this.#last || this.#part.selectedIndex > 0) return;
    const left = this.#stay.until - performance.now();
    if (left > 0) this.#stay.timer = window.setTimeout(() => this.#followOn(), left);
    else this.#approach(this.#last);
  }

  /** The part that a transition is drawn in. @param {string} name */
  partOf(name) {
    return this.#transitions.get(name)?.closest(".net-subnet") ?? null;
  }

  /** Whether a place is drawn in a part. @param {string} place @param {Element} part */
  isIn(place, part) {
    return (this.#places.get(place) ?? []).some((g) => part.contains(g));
  }

  /** @param {Element} g */
  #flash(g) {
    g.classList.add("fired-now");
    clearTimeout(this.#flashes.get(g));
    this.#flashes.set(g, window.setTimeout(() => g.classList.remove("fired-now"), FLASH_MS));
  }

  /** Lets tokens travel through a transition. @param {Firing} firing @param {SVGGElement} g */
  #travel(firing, g) {
    const via = this.#centres.get(g);
    if (!via) return;
    const panel = g.closest(".net-subnet");
    const near = (/** @type {string} */ name) => {
      const one = (this.#places.get(name) ?? []).find((p) => p.closest(".net-subnet") === panel);
      return one && this.#centres.get(one);
    };
    for (const place of firing.from ?? []) this.#token(near(place), via, 0);
    for (const place of firing.to ?? []) this.#token(via, near(place), MOVE_MS / 2);
  }

  /** @param {{ x: number, y: number } | undefined} from @param {{ x: number, y: number } | undefined} to @param {number} delay */
  #token(from, to, delay) {
    if (!from || !to || !this.#layer || this.#moving >= MOVES_MAX) return;
    const dot = document.createElementNS(SVG, "circle");
    dot.setAttribute("r", "4.5");
    dot.setAttribute("class", "token");
    this.#layer.append(dot);
    this.#moving++;
    const at = (/** @type {{ x: number, y: number }} */ p) => `translate(${p.x}px, ${p.y}px)`;
    const run = dot.animate([{ transform: at(from) }, { transform: at(to) }], { duration: MOVE_MS / 2, delay, fill: "both", easing: "ease-in-out" });
    run.onfinish = run.oncancel = () => {
      dot.remove();
      this.#moving--;
    };
  }

  /** Goes to where something fired. @param {string} name */
  #approach(name) {
    const g = this.#transitions.get(name);
    const panel = g?.closest("g.net-subnet");
    if (!g || !(panel instanceof SVGGElement)) return;
    const whole = this.#around([panel], 40);
    const { clientWidth: w, clientHeight: h } = this.#drawing;
    const isLegible = Math.min(w / whole.w, h / whole.h) >= LEGIBLE;
    const part = panel.querySelector(".net-subnet-name")?.textContent ?? "";
    const aim = isLegible ? part : name;
    if (this.#aim === aim) return;
    this.#aim = aim;
    this.#stay.until = performance.now() + STAY_MS;
    for (const [n, g] of this.#panels) g.classList.toggle("aim", n === part);
    const at = this.#centres.get(g);
    this.#glide(isLegible || !at ? whole : { x: at.x - w / 2 / LEGIBLE, y: at.y - h / 2 / LEGIBLE, w: w / LEGIBLE, h: h / LEGIBLE });
  }

  /** @param {{ x: number, y: number, w: number, h: number }} to */
  #glide(to) {
    const from = this.#box;
    const began = performance.now();
    const aim = this.#aim;
    const step = () => {
      const share = calm.matches ? 1 : Math.min(1, (performance.now() - began) / 500);
      const s = share * share * (3 - 2 * share);
      if (!this.#isFollowing || this.#aim !== aim) return;
      this.#show({ x: from.x + (to.x - from.x) * s, y: from.y + (to.y - from.y) * s, w: from.w + (to.w - from.w) * s, h: from.h + (to.h - from.h) * s });
      if (share < 1) requestAnimationFrame(step);
    };
    step();
  }
}

/** Adds words to the title of a node. @param {Element} g @param {string | undefined} words */
function explain(g, words) {
  const title = g.querySelector("title");
  if (words && title) title.textContent += `\n${words}`;
}
