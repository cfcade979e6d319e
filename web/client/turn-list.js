// The turns of a call, put together from its events: what each side said, and how much of each
// reply was played.

const KEPT_MAX = 1_000; // turns
const TEXT_MAX = 100_000; // characters of a turn: more are dropped
const PACE_MS = 65; // of speech per unit of text, until a reply of this call was played to its end
const PACE_FROM_MS = 1_000; // a shorter reply says too little about the pace
const WORD_MAX = 16; // characters: a longer word may be split
const WIDE_FROM = 0x2e80; // Chinese, Japanese, Korean: one character is spoken for about as long as three letters
const WIDE_UNITS = 3;

/**
 * @typedef {import("./index.js").Turn} Turn
 * @typedef {import("./index.js").VoiceEvents} VoiceEvents
 * @typedef {{-readonly [K in keyof Turn]: Turn[K]}} Draft
 * @typedef {{generation: number, playedMs: number, end: Turn["end"]}} Reply
 */

/**
 * Keeps the last 1,000 turns of one call. It makes a new list and a new Turn for each change, so
 * that both can be compared by identity, and passes them to onChange.
 */
export class TurnList {
  #onChange;
  /** @type {readonly Turn[]} */
  #turns = [];
  #lastId = 0;
  /** @type {Reply | null} */
  #reply = null; // the newest one
  #pace = { ms: 0, units: 0 }; // of replies that were played to their end

  /** @param {(turns: readonly Turn[], changed: Turn) => void} onChange */
  constructor(onChange) {
    this.#onChange = onChange;
  }

  /** All turns, oldest first. */
  get turns() {
    return this.#turns;
  }

  /**
   * Takes an event of the call.
   * @template {keyof VoiceEvents} K
   * @param {K} type
   * @param {VoiceEvents[K]} detail
   */
  take(type, detail) {
    const event = /** @type {any} */ (detail);
    if (type === "transcript") this.#onTranscript(event);
    else if (type === "turn") this.#onTurn(event);
    else if (type === "ack") this.#onAck(event);
    else if (type === "end") this.#onEnd();
  }

  /**
   * The caller typed a text.
   * @param {string} text
   */
  typed(text) {
    this.#begin({ who: "caller", text, final: true, typed: true });
  }

  /** @param {VoiceEvents["transcript"]} fragment */
  #onTranscript({ who, text, final, generation }) {
    const turn = who === "caller" ? this.#openSpeech(generation) : this.#openReply(generation);
    if (turn) return this.#change(turn, { text: joined(turn.text, text), final: final || turn.end !== null });
    if (text.trim() === "") return;
    if (who === "caller") return this.#begin({ who, generation, text, final });
    const { playedMs, end } = this.#replyOf(generation);
    this.#begin({ who, generation, text, final: final || end !== null, playedMs, end });
  }

  /** @param {VoiceEvents["turn"]} event */
  #onTurn({ state, generation, reason, heardMs }) {
    if (state === "start") this.#reply = { generation, playedMs: 0, end: null };
    if (state !== "end") return;
    const playedMs = Math.max(heardMs ?? 0, this.#replyOf(generation).playedMs);
    const end = reason ?? "complete";
    this.#reply = { generation, playedMs, end };
    const turn = this.#openReply(generation);
    if (turn && end === "complete") this.#learnPace(turn.text, playedMs);
    if (turn) this.#change(turn, { playedMs, end, final: true });
    else if (playedMs > 0) this.#begin({ who: "model", generation, playedMs, end, final: true });
  }

  /** @param {VoiceEvents["ack"]} event */
  #onAck({ generation, playedMs }) {
    if (this.#reply?.generation !== generation || this.#reply.end) return;
    this.#reply.playedMs = playedMs;
    const turn = this.#openReply(generation);
    if (turn && turn.playedMs !== playedMs) this.#change(turn, { playedMs });
  }

  /** The call is over: so is every turn. */
  #onEnd() {
    for (const turn of this.#turns) {
      if (turn.who === "model" && turn.end === null) this.#change(turn, { end: "call_over", final: true });
      else if (!turn.final) this.#change(turn, { final: true });
    }
  }

  /**
   * What the caller is saying.
   * @param {number | null} generation
   */
  #openSpeech(generation) {
    const turn = this.#turns.findLast((t) => t.who === "caller");
    return turn && !turn.final && turn.generation === generation ? turn : undefined;
  }

  /**
   * The reply of a generation, also after its end: its text may come later.
   * @param {number | null} generation
   */
  #openReply(generation) {
    const turn = this.#turns.findLast((t) => t.who === "model" && t.generation === generation);
    return generation === null && turn?.final ? undefined : turn;
  }

  /**
   * How much of a reply was played, and why it ended.
   * @param {number | null} generation
   * @returns {Reply}
   */
  #replyOf(generation) {
    if (generation !== null && this.#reply?.generation === generation) return this.#reply;
    return { generation: generation ?? 0, playedMs: 0, end: null };
  }

  /** @param {Partial<Draft> & Pick<Draft, "who">} fields */
  #begin(fields) {
    const before = this.#turns.findLast((t) => t.who === fields.who);
    if (before && !before.final) this.#change(before, { final: true });
    /** @type {Draft} */
    const turn = {
      id: ++this.#lastId,
      generation: null,
      text: "",
      final: false,
      typed: false,
      playedMs: null,
      end: null,
      cutAt: null,
      ...fields,
    };
    turn.cutAt = this.#cutAt(turn);
    this.#turns = [...this.#turns.slice(-(KEPT_MAX - 1)), turn];
    this.#onChange(this.#turns, turn);
  }

  /**
   * @param {Turn} turn
   * @param {Partial<Draft>} fields
   */
  #change(turn, fields) {
    const changed = { ...turn, ...fields };
    changed.cutAt = this.#cutAt(changed);
    this.#turns = this.#turns.map((t) => (t === turn ? changed : t));
    this.#onChange(this.#turns, changed);
  }

  /**
   * @param {string} text
   * @param {number} playedMs
   */
  #learnPace(text, playedMs) {
    const units = unitsOf(text);
    if (playedMs < PACE_FROM_MS || units === 0) return;
    this.#pace.ms += playedMs;
    this.#pace.units += units;
  }

  /**
   * Where the text of a reply was cut, at the start of a word. The gateway does not say when which
   * word is spoken, so this is an estimate by the pace of the replies before.
   * @param {Turn} turn
   */
  #cutAt({ text, playedMs, end }) {
    if (end === null || end === "complete") return null;
    const { ms, units } = this.#pace;
    const at = wordAt(text, (playedMs ?? 0) / (units > 0 ? ms / units : PACE_MS));
    return at < text.length ? at : null;
  }
}

/**
 * @param {string} text
 * @param {string} fragment
 */
function joined(text, fragment) {
  return text + fragment.slice(0, Math.max(0, TEXT_MAX - text.length));
}

/**
 * How long a text takes to say, in units of about one letter.
 * @param {string} text
 */
function unitsOf(text) {
  let units = 0;
  for (const character of text) units += unitsOfOne(character);
  return units;
}

/** @param {string} character */
function unitsOfOne(character) {
  return (character.codePointAt(0) ?? 0) >= WIDE_FROM ? WIDE_UNITS : 1;
}

/**
 * The index of the word that is being said after so many units.
 * @param {string} text
 * @param {number} units
 */
function wordAt(text, units) {
  let at = 0;
  for (const character of text) {
    units -= unitsOfOne(character);
    if (units < 0) return wordStart(text, at);
    at += character.length;
  }
  return text.length;
}

/**
 * @param {string} text
 * @param {number} at
 */
function wordStart(text, at) {
  for (let i = at; i >= Math.max(0, at - WORD_MAX); i--) {
    if (i === 0 || /\s/.test(text[i - 1])) return i;
  }
  return at;
}
