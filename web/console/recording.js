// A recording is what is known of one call: its events, and what the gateway concluded from them.
// Times are milliseconds since the call began. It is pure: nothing here touches the page.

const KEYFRAME = 1000; // events between two kept markings

export class Recording {
  /** @type {any[]} */ kinds = [];
  /** @type {number[]} */ times = [];
  /** @type {number[]} */ codes = [];
  /** @type {Map<string, any[]>} */ lanes = new Map();
  /** @type {any[]} */ turns = [];
  /** @type {any[]} */ causes = [];
  /** @type {any[]} */ silences = [];
  /** @type {[number, number][]} */ pairs = []; // slots of fresh tokens, and of those that have become stale
  /** @type {any[]} */ #places = [];
  /** @type {string[]} */ #slots = []; // the place of each slot
  /** @type {Int32Array[]} */ #keys = [];
  #marking;
  end = 0;

  /** @param {any} head */
  constructor(head) {
    this.head = head;
    this.start = head.at;
    this.end = head.at;
    this.#marking = Int32Array.from(head.marking);
    this.#keys.push(this.#marking.slice());
  }

  /** @param {{ places: any[] }} net */
  learn(net) {
    this.#places = net.places;
    for (const p of net.places) {
      for (let s = 0; s < p.slots; s++) this.#slots[p.slot + s] = p.name;
      if (p.gen) for (let s = p.slot; s < p.slot + p.slots; s += 2) this.pairs.push([s, s + 1]);
    }
  }

  /** @param {any} batch */
  apply(batch) {
    this.kinds.push(...(batch.kinds ?? []));
    const events = batch.events ?? [];
    for (let i = 0; i < events.length; i += 2) {
      this.times.push(events[i] / 1000);
      this.codes.push(events[i + 1]);
      move(this.#marking, this.kinds[events[i + 1]], this.pairs);
      if (this.times.length % KEYFRAME === 0) this.#keys.push(this.#marking.slice());
    }
    for (const span of batch.spans ?? []) {
      let lane = this.lanes.get(span.lane);
      if (!lane) this.lanes.set(span.lane, (lane = []));
      lane[span.n] = span;
    }
    for (const turn of batch.turns ?? []) this.turns[turn.n] = turn;
    for (const silence of batch.silences ?? []) this.silences[silence.n] = silence;
    this.causes.push(...(batch.causes ?? []));
    this.end = Math.max(this.end, batch.at);
  }

  /** How many events happened up to a time. @param {number} t */
  count(t) {
    return before(this.times, t + 0.001);
  }

  /** The marking after so many events. @param {number} n */
  marking(n) {
    const key = Math.min(Math.floor(n / KEYFRAME), this.#keys.length - 1);
    const marking = this.#keys[key].slice();
    for (let i = key * KEYFRAME; i < n; i++) move(marking, this.kinds[this.codes[i]], this.pairs);
    return marking;
  }

  /** How many tokens each place has after so many events; it has none that is empty. @param {number} n */
  tokens(n) {
    /** @type {Record<string, number>} */
    const tokens = {};
    this.marking(n).forEach((count, slot) => {
      const place = this.#slots[slot];
      if (count > 0 && place) tokens[place] = (tokens[place] ?? 0) + count;
    });
    return tokens;
  }

  /** The firings among events, from one number to another. @param {number} from @param {number} to */
  firings(from, to) {
    const list = [];
    for (let i = Math.max(from, 0); i < to; i++) {
      const { kind, of, frame, take = [], put = [], out = [] } = this.kinds[this.codes[i]];
      if (kind !== "fired") continue;
      const placesOf = (/** @type {[number, number][]} */ slots) => slots.map(([slot]) => this.#slots[slot]);
      list.push({ of, frame, from: placesOf(take), to: [...placesOf(put), ...out.map((/** @type {number} */ p) => this.#places[p]?.name)] });
    }
    return list;
  }

  /** The number of the newest firing among so many events that moves more than audio; -1: none. @param {number} n */
  lastFiring(n) {
    for (let i = n - 1; i >= 0; i--) {
      const { kind, frame } = this.kinds[this.codes[i]];
      if (kind === "fired" && !frame) return i;
    }
    return -1;
  }

  /** @param {string} lane @param {number} t */
  spanAt(lane, t) {
    const list = this.lanes.get(lane) ?? [];
    for (let i = list.length - 1; i >= 0; i--) {
      const s = list[i];
      if (s && s.from <= t + 0.05) return s.open || t < s.to || (s.from === s.to && t - s.to < 1) ? s : null;
    }
    return null;
  }

  /** The newest span of a lane that began by a time. @param {string} lane @param {number} t */
  lastIn(lane, t) {
    return (this.lanes.get(lane) ?? []).findLast((s) => s && s.from <= t) ?? null;
  }

  /** The longest silence in which somebody waited; undefined if there was none. */
  longestSilence() {
    const waits = this.silences.filter((s) => s && s.key !== "caller_silent");
    return waits.sort((a, b) => b.to - b.from - (a.to - a.from))[0];
  }

  /** @param {number} t */
  causeAt(t) {
    const i = before(this.causes, t + 0.051, (c) => c.from);
    return i > 0 ? this.causes[i - 1] : null;
  }
}

/**
 * Moves the tokens as an event does.
 * @param {Int32Array} m @param {any} kind @param {[number, number][]} pairs
 */
export function move(m, kind, pairs) {
  for (const [slot, n] of kind.take ?? []) m[slot] -= n;
  for (const slot of kind.zero ?? []) m[slot] = 0;
  if (kind.ages) {
    for (const [fresh, stale] of pairs) {
      m[stale] += m[fresh];
      m[fresh] = 0;
    }
  }
  for (const [slot, n] of kind.put ?? []) m[slot] += n;
}

/**
 * How many entries of a sorted list come before a value.
 * @template T
 * @param {T[]} list @param {number} value @param {(entry: T) => number} [of]
 */
function before(list, value, of = Number) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (of(list[mid]) < value) low = mid + 1;
    else high = mid;
  }
  return low;
}

/** A time of the call: "1:02.3". @param {number} ms */
export function clock(ms) {
  const tenths = Math.round(Math.max(0, ms) / 100);
  return `${Math.floor(tenths / 600)}:${String(Math.floor(tenths / 10) % 60).padStart(2, "0")}.${tenths % 10}`;
}

/** A time of the call to the millisecond: "1:02.345". @param {number} ms */
export function clock3(ms) {
  const whole = Math.floor(ms);
  const seconds = Math.floor(whole / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}.${String(whole % 1000).padStart(3, "0")}`;
}

/** A length: "3.2 s", "240 ms". @param {number} ms */
export function span(ms) {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
