// One call: what is known of it, the moment that is shown, and the views of that moment.

import { button, create } from "../viewer/build.js";
import { Explanation } from "./explanation.js";
import { ask, follow } from "./feed.js";
import { Recording, clock, clock3 } from "./recording.js";
import { showEvents, showSilences, showTurns } from "./tables.js";
import { Timeline } from "./timeline.js";
import { Transcript } from "./transcript.js";
import { NetViewer } from "../viewer/net-viewer.js";
import { CUT_SHOWN, Storyboard } from "../viewer/storyboard.js";

const element = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));
const TABLES_MS = 250; // between two drawings of the tables

export class CallView {
  /** @type {Recording | null} */ rec = null;
  #abort = new AbortController();
  #board = new Storyboard(element("board"));
  #explanation = new Explanation({ at: element("why-at"), text: element("why-text"), lists: element("why-lists") });
  #timeline = new Timeline({ canvas: element("canvas"), names: element("lane-names") }, (t) => this.seek(t));
  #net = new NetViewer(element("net-viewer"), element("net-tools"), true);
  #transcript = new Transcript({ panel: element("transcript"), note: element("transcript-note") }, (t) => this.seek(t));
  #t = 0;
  #shown = -1; // events shown
  #path = ""; // of the API of the call
  #isLive = false;
  #isPlaying = false;
  #isRunning = false;
  #heard = 0; // when the last batch came
  #tick = 0;
  #tables = { at: 0, key: "" };
  #say;

  /** @param {(state: string, trouble?: string) => void} say */
  constructor(say) {
    this.#say = say;
    element("play").addEventListener("click", () => this.#play(!this.#isPlaying));
    element("live").addEventListener("click", () => this.#goLive());
    element("step-back").addEventListener("click", () => this.#step(-1));
    element("step-on").addEventListener("click", () => this.#step(1));
    element("scrubber").addEventListener("input", () => this.seek(Number(element("scrubber").value)));
    element("zoom-in").addEventListener("click", () => this.#timeline.zoom(0.5, this.#t, this.now()));
    element("zoom-out").addEventListener("click", () => this.#timeline.zoom(2, this.#t, this.now()));
    element("zoom-all").addEventListener("click", () => this.rec && this.#timeline.whole(this.rec.start, this.now()));
    element("make-link").addEventListener("click", () => this.#link());
    for (const id of ["filter", "frames"]) element(id).addEventListener("input", () => (this.#tables.key = ""));
  }

  /** Opens a call. @param {string} path of its API: calls/ID, archives/NAME; call on the page of a shared one */
  async open(path) {
    this.close();
    const isRunning = path.startsWith("calls/");
    const isShared = path === "call";
    element("share").hidden = isRunning;
    element("share").href = `./api/${path}/report`;
    element("make-link").hidden = isRunning || isShared;
    element("link").hidden = true;
    element("said").hidden = isShared;
    this.#path = path;
    this.#transcript.open(isShared ? "" : path);
    const signal = (this.#abort = new AbortController()).signal;
    this.#say("Loading");
    try {
      const why = await follow(`${path}/feed`, signal, (name, data) => this.#take(name, data));
      this.#over(why);
    } catch (error) {
      if (!signal.aborted) this.#over(error instanceof Error ? error.message : String(error));
    }
  }

  /** Makes a signed link to the report of the archive that is shown. */
  async #link() {
    const from = this.#path;
    try {
      const { path, until } = await ask(`${from}/link`);
      if (from !== this.#path) return;
      const link = create("a", "", new URL(path, location.href).href);
      link.href = path;
      const copy = button("Copy", async () => {
        await navigator.clipboard.writeText(link.href);
        copy.textContent = "Copied";
      });
      copy.hidden = !navigator.clipboard; // as on a page without TLS
      const [days, end] = [Math.round((Date.parse(until) - Date.now()) / 86_400_000), new Date(until).toLocaleString()];
      element("link").replaceChildren(`For ${days} days, until ${end}, this link shows the call to whoever has it, without what was said and without telephone numbers: `, link, " ", copy);
      element("link").hidden = false;
    } catch (error) {
      this.#say("", error instanceof Error ? error.message : String(error));
    }
  }

  close() {
    this.#abort.abort();
    cancelAnimationFrame(this.#tick);
    this.rec = null;
    this.#transcript.open("");
    this.#net.clear();
  }

  /** @param {string} name @param {any} data */
  #take(name, data) {
    if (name === "head") this.#begin(data);
    else if (name === "batch" && this.rec) {
      const first = this.rec.times.length === 0 && !this.#isRunning;
      this.rec.apply(data);
      this.#heard = performance.now();
      if (first) this.#timeline.whole(0, this.rec.end);
    }
  }

  /** @param {any} head */
  #begin(head) {
    this.rec = new Recording(head);
    this.#isRunning = head.running;
    this.#t = head.at;
    this.#shown = -1;
    this.#drawn = "";
    this.#tables = { at: 0, key: "" };
    const { call } = head;
    element("call-title").textContent = `Call ${call.id}`;
    element("call-facts").textContent = [call.endpoint, call.from && `from ${call.from}`, call.to && `to ${call.to}`, call.client, call.began && `began ${new Date(call.began).toLocaleString()}`].filter(Boolean).join(" · ");
    element("since").hidden = !head.since;
    element("since").textContent = head.since ? `Shown from ${clock(head.at)} on, when you opened it: ${head.since}.` : "";
    element("live").hidden = !head.running;
    element("scrubber").min = String(Math.floor(head.at));
    this.#timeline.from = Math.max(0, head.at - 2000);
    this.#timeline.to = this.#timeline.from + 20_000;
    this.#isPlaying = false;
    this.#goLive();
    this.#say(head.running ? "Live" : "Archived");
    const rec = this.rec;
    ask(`nets/${encodeURIComponent(head.net)}`).then((net) => {
      if (this.rec !== rec) return;
      rec.learn(net);
      const words = [...net.places.map((/** @type {any} */ p) => [p.name, p.means]), ...net.transitions.map((/** @type {any} */ t) => [t.name, t.does])];
      this.#net.load(net.svg, new Map(words));
      this.#shown = -1;
      this.#drawn = "";
    }, (error) => this.#say("", error.message));
    const draw = () => {
      this.#tick = requestAnimationFrame(draw);
      this.#draw();
    };
    cancelAnimationFrame(this.#tick);
    this.#tick = requestAnimationFrame(draw);
  }

  /** @param {string} why */
  #over(why) {
    const was = this.#isRunning;
    this.#isRunning = false;
    element("live").hidden = true;
    this.#transcript.end();
    if (was && this.rec && !why) this.#offerArchive(this.rec.head);
    else if (!was && this.rec) this.#showLongest();
    this.#say(!this.rec ? "Not available" : !was ? "Archived" : why ? "Disconnected" : "The call is over", why);
  }

  /** Says where a call that ended is found, if it is archived. @param {any} head */
  #offerArchive({ call, since }) {
    if (since) return;
    const link = create("a", "", "its archive");
    link.href = `#archives/${call.id}`;
    element("since").replaceChildren("The call has ended. All of it is in ", link, ".");
    element("since").hidden = false;
  }

  /** Shows an archived call at the longest silence in which somebody waited; without one, at its beginning. */
  #showLongest() {
    const longest = this.rec?.longestSilence();
    this.seek(longest ? (longest.from + longest.to) / 2 : 0);
  }

  /** The time of the call now, also between two batches. */
  now() {
    if (!this.rec) return 0;
    return this.rec.end + (this.#isRunning ? Math.min(performance.now() - this.#heard, 20_000) : 0);
  }

  #goLive() {
    this.#isLive = true;
    element("live").setAttribute("aria-pressed", "true");
  }

  /** @param {boolean} isPlaying */
  #play(isPlaying) {
    this.#isPlaying = isPlaying;
    this.#leave();
    if (isPlaying && this.#t >= this.now() - 50) this.#t = this.rec?.start ?? 0;
    element("play").textContent = isPlaying ? "Pause" : "Play";
    element("play").setAttribute("aria-pressed", String(isPlaying));
  }

  #leave() {
    this.#isLive = false;
    element("live").setAttribute("aria-pressed", "false");
  }

  /** @param {number} t */
  seek(t) {
    this.#leave();
    if (this.#isPlaying) this.#play(false);
    this.#t = Math.min(Math.max(t, this.rec?.start ?? 0), this.now());
    this.#timeline.reach(this.#t);
  }

  /** Goes to the event before or after, audio frames left out. @param {number} by */
  #step(by) {
    const rec = this.rec;
    if (!rec) return;
    const n = rec.count(this.#t);
    const isDecision = (/** @type {number} */ i) => !rec.kinds[rec.codes[i]].frame;
    let i = by > 0 ? n : n - 1;
    const here = by < 0 ? rec.times[n - 1] : 0;
    while (i >= 0 && i < rec.times.length && (!isDecision(i) || (by < 0 && rec.times[i] >= here))) i += by;
    if (i >= 0 && i < rec.times.length) this.seek(rec.times[i]);
  }

  #last = performance.now();
  #drawn = ""; // what the newest drawing shows

  #draw() {
    const rec = this.rec;
    if (!rec) return;
    const passed = performance.now() - this.#last;
    this.#last = performance.now();
    const now = this.now();
    if (this.#isLive) this.#t = this.#isRunning ? now : rec.end;
    else if (this.#isPlaying) {
      this.#t = Math.min(this.#t + Math.min(passed, 200), now);
      if (this.#t >= now && !this.#isRunning) this.#play(false);
    }
    if (this.#isLive || this.#isPlaying) this.#timeline.reach(this.#t);
    const n = rec.count(this.#t);
    const key = `${this.#t} ${now} ${n} ${this.#timeline.key()}`;
    this.#drawTables(rec, n);
    if (key === this.#drawn) return;
    this.#drawn = key;
    const cut = rec.lastIn("cut", this.#t);
    const isStalled = rec.causeAt(this.#t)?.key === "reply_stalled";
    this.#board.light(isStalled ? "stalled" : rec.spanAt("phase", this.#t)?.note ?? "", cut !== null && this.#t - cut.to < CUT_SHOWN);
    this.#explanation.show(rec, this.#t, this.#isLive && this.#isRunning);
    this.#timeline.draw(rec, this.#t, now);
    this.#moveNet(rec, n);
    const slider = element("scrubber");
    slider.max = String(Math.ceil(now));
    if (document.activeElement !== slider || this.#isLive || this.#isPlaying) slider.value = String(this.#t);
    slider.setAttribute("aria-valuetext", clock3(this.#t));
    element("clock").textContent = clock3(this.#t);
  }

  /** @param {Recording} rec @param {number} n */
  #moveNet(rec, n) {
    if (n === this.#shown) return;
    const isNext = this.#shown >= 0 && n > this.#shown && n - this.#shown < 400;
    if (isNext) this.#net.fire(rec.firings(this.#shown, n));
    else {
      const last = rec.lastFiring(n);
      this.#net.jump(rec.firings(last, last + 1));
    }
    this.#net.mark(rec.tokens(n));
    this.#shown = n;
  }

  /** @param {Recording} rec @param {number} n */
  #drawTables(rec, n) {
    const filter = { text: element("filter").value, frames: element("frames").checked };
    this.#transcript.show(this.#t);
    const key = `${this.#isLive || this.#t} ${n} ${rec.turns.length} ${rec.silences.length} ${rec.end} ${filter.text} ${filter.frames}`;
    if (performance.now() - this.#tables.at < TABLES_MS || key === this.#tables.key) return;
    if (element("call").querySelector(".turns:hover, .silences:hover, .lines:hover") && this.#isLive) return; // somebody is about to press
    this.#tables = { at: performance.now(), key };
    showTurns(element("turns"), rec, this.#t, (t) => this.seek(t));
    showSilences(element("silences"), rec, this.#t, (t) => this.seek(t));
    showEvents(element("events"), rec, this.#t, n, filter);
  }
}
