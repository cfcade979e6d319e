// The net of a call, with its tokens moving.

import { create } from "../chat/build.js";

const SVG = "http://www.w3.org/2000/svg";
const MOVE_MS = 420;
const FLASH_MS = 450;
const MOVES_MAX = 24; // tokens on their way at one time
const calm = matchMedia("(prefers-reduced-motion: reduce)");

export class NetViewer {
  #drawing;
  #part;
  #fired;
  /** @type {SVGSVGElement | null} */ #svg = null;
  /** @type {any} */ #net = null;
  /** @type {{ x: number, y: number, w: number, h: number }} */ #box = { x: 0, y: 0, w: 1, h: 1 };
  /** @type {{ x: number, y: number, w: number, h: number }} */ #all = { x: 0, y: 0, w: 1, h: 1 };
  /** @type {Map<string, SVGGElement[]>} */ #places = new Map();
  /** @type {Map<string, SVGGElement>} */ #transitions = new Map();
  /** @type {Map<string, SVGGElement>} */ #panels = new Map();
  /** @type {string[]} */ #slots = []; // the place of each slot
  /** @type {Map<SVGGElement, { x: number, y: number }>} */ #centres = new Map();
  /** @type {SVGGElement | null} */ #layer = null;
  /** @type {Map<Element, number>} */ #flashes = new Map();
  #moving = 0;
  #isFollowing = true;
  #aim = "";

  /** @param {{ drawing: HTMLElement, part: HTMLSelectElement, find: HTMLInputElement, follow: HTMLElement, larger: HTMLElement, smaller: HTMLElement, fit: HTMLElement, fired: HTMLElement }} elements */
  constructor({ drawing, part, find, follow, larger, smaller, fit, fired }) {
    this.#drawing = drawing;
    this.#part = part;
    this.#fired = fired;
    part.addEventListener("change", () => this.#showPart());
    find.addEventListener("input", () => this.#search(find.value));
    find.addEventListener("keydown", (e) => e.key === "Enter" && this.#goToFound());
    follow.addEventListener("click", () => this.#setFollowing(follow, !this.#isFollowing));
    const free = () => this.#setFollowing(follow, false);
    larger.addEventListener("click", () => (free(), this.#zoom(0.7)));
    smaller.addEventListener("click", () => (free(), this.#zoom(1.4)));
    fit.addEventListener("click", () => (free(), this.fit()));
    this.#listen(free);
  }

  /** @param {HTMLElement} button @param {boolean} isOn */
  #setFollowing(button, isOn) {
    this.#isFollowing = isOn;
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

  /** @param {any} net */
  load(net) {
    const svg = new DOMParser().parseFromString(net.svg, "image/svg+xml").documentElement;
    if (!(svg instanceof SVGSVGElement)) return;
    this.#svg = document.adoptNode(svg);
    this.#net = net;
    const { width, height } = svg.viewBox.baseVal;
    this.#all = { x: 0, y: 0, w: width, h: height };
    svg.removeAttribute("width");
    svg.removeAttribute("height");
    svg.setAttribute("role", "presentation");
    svg.setAttribute("preserveAspectRatio", "xMidYMid meet");
    this.#drawing.replaceChildren(svg);
    this.#slots = [];
    for (const p of net.places) for (let s = 0; s < p.slots; s++) this.#slots[p.slot + s] = p.name;
    this.#index(svg);
    this.#layer = document.createElementNS(SVG, "g");
    svg.append(this.#layer);
    this.fit();
  }

  /** @param {SVGSVGElement} svg */
  #index(svg) {
    for (const map of [this.#places, this.#transitions, this.#panels, this.#centres]) map.clear();
    const root = svg.getCTM()?.inverse();
    const centre = (/** @type {SVGGElement} */ g) => {
      const shape = /** @type {SVGGraphicsElement} */ (g.querySelector("circle, rect"));
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
      const about = this.#net.places.find((/** @type {any} */ p) => p.name === name);
      const title = g.querySelector("title");
      if (about?.means && title) title.textContent += `\n${about.means}`;
    }
    for (const g of /** @type {NodeListOf<SVGGElement>} */ (svg.querySelectorAll("[data-transition]"))) {
      this.#transitions.set(g.dataset.transition ?? "", g);
      centre(g);
      const about = this.#net.transitions.find((/** @type {any} */ t) => t.name === g.dataset.transition);
      const title = g.querySelector("title");
      if (about && title) title.textContent += `\n${about.does}`;
    }
    this.#part.replaceChildren(create("option", "", "Whole net"));
    for (const g of /** @type {NodeListOf<SVGGElement>} */ (svg.querySelectorAll("g.subnet"))) {
      const name = g.querySelector(".subnet-name")?.textContent ?? "";
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

  /** Marks what has a text in its name. @param {string} text */
  #search(text) {
    const wanted = text.trim().toLowerCase();
    for (const g of this.#found) g.classList.remove("found");
    this.#found = [];
    if (!wanted) return;
    for (const [name, list] of this.#places) if (name.toLowerCase().includes(wanted)) this.#found.push(...list);
    for (const [name, g] of this.#transitions) if (name.toLowerCase().includes(wanted)) this.#found.push(g);
    for (const g of this.#found) g.classList.add("found");
  }

  #goToFound() {
    const seen = this.#found.filter((g) => !g.closest(".away"));
    if (seen.length === 0) return;
    const box = this.#around(seen.slice(0, 1), 160);
    this.#show(box);
  }

  /** Shows a marking. @param {Int32Array} marking */
  mark(marking) {
    /** @type {Map<string, number>} */
    const counts = new Map();
    marking.forEach((n, slot) => {
      if (n > 0) counts.set(this.#slots[slot], (counts.get(this.#slots[slot]) ?? 0) + n);
    });
    for (const [name, groups] of this.#places) {
      const n = counts.get(name) ?? 0;
      for (const g of groups) {
        if (g.dataset.count === String(n)) continue;
        g.dataset.count = String(n);
        g.classList.toggle("marked", n > 0);
        const text = g.querySelector(".count");
        if (text) text.textContent = n > 0 ? String(n) : "";
      }
    }
  }

  /** Shows what happened. @param {any[]} kinds */
  fire(kinds) {
    const fired = kinds.filter((k) => k.kind === "fired");
    const names = [...new Set(fired.filter((k) => !k.frame).map((k) => k.of))];
    if (names.length > 0) this.#fired.textContent = names.slice(-4).join(", ");
    for (const k of fired.slice(-MOVES_MAX)) {
      const g = this.#transitions.get(k.of);
      if (!g) continue;
      this.#flash(g);
      if (!calm.matches && this.#moving < MOVES_MAX) this.#travel(k, g);
    }
    const last = fired.findLast((k) => !k.frame);
    if (this.#isFollowing && last && this.#part.selectedIndex <= 0) this.#approach(last.of);
  }

  /** @param {Element} g */
  #flash(g) {
    g.classList.add("fired-now");
    clearTimeout(this.#flashes.get(g));
    this.#flashes.set(g, window.setTimeout(() => g.classList.remove("fired-now"), FLASH_MS));
  }

  /** Lets tokens travel through a transition. @param {any} kind @param {SVGGElement} g */
  #travel(kind, g) {
    const via = this.#centres.get(g);
    if (!via) return;
    const panel = g.closest(".subnet");
    const near = (/** @type {string} */ name) => {
      const list = this.#places.get(name) ?? [];
      const one = list.find((p) => p.closest(".subnet") === panel);
      return one && this.#centres.get(one);
    };
    for (const [slot] of kind.take ?? []) this.#token(near(this.#slots[slot]), via, 0);
    for (const [slot] of kind.put ?? []) this.#token(via, near(this.#slots[slot]), MOVE_MS / 2);
    for (const place of kind.out ?? []) this.#token(via, near(this.#net.places[place].name), MOVE_MS / 2);
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
    const panel = this.#transitions.get(name)?.closest("g.subnet");
    if (!(panel instanceof SVGGElement)) return;
    const part = panel.querySelector(".subnet-name")?.textContent ?? "";
    if (this.#aim === part) return;
    this.#aim = part;
    for (const [n, g] of this.#panels) g.classList.toggle("aim", n === part);
    this.#glide(this.#around([panel], 40));
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
