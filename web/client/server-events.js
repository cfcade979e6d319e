// The events of the gateway in a call: each one is checked, acted on, and emitted to the page.

import { explain } from "./errors.js";
import { decode } from "./protocol.js";

const UNCOUNTED = ["ready", "net", "net_graph"]; // are not sent again

/** Acts on the events of one call. */
export class ServerEvents {
  #playout;
  #toolCalls;
  #metrics;
  #stats;
  #emit;
  #nowMs;
  #on;
  #received = 0;

  /**
   * @param {object} parts
   * @param {import("./playout.js").Playout} parts.playout
   * @param {import("./tool-calls.js").ToolCalls} parts.toolCalls
   * @param {import("./call-metrics.js").CallMetrics} parts.metrics
   * @param {import("./call-stats.js").CallStats} parts.stats
   * @param {import("./voice-client.js").Emit} parts.emit
   * @param {() => number} parts.nowMs the time on the clock of the audio context
   * @param {{ready(event: import("./index.js").Ready): void, fatal(code: string, message?: string):
   *   void, bye(reason: string, message?: string): void}} on what begins and ends the call
   */
  constructor({ playout, toolCalls, metrics, stats, emit, nowMs }, on) {
    this.#playout = playout;
    this.#toolCalls = toolCalls;
    this.#metrics = metrics;
    this.#stats = stats;
    this.#emit = emit;
    this.#nowMs = nowMs;
    this.#on = on;
  }

  /** How many events came, but ready and those of the net: what the gateway asks when a call goes on. */
  get received() {
    return this.#received;
  }

  /**
   * Takes a text frame. One that cannot be read is counted.
   * @param {string} text
   */
  receive(text) {
    let event;
    try {
      event = decode(text);
    } catch (error) {
      this.#received++;
      this.#stats.badEvents++;
      this.#stats.lastBadEvent = error instanceof Error ? error.message : String(error);
      return;
    }
    if (!UNCOUNTED.includes(event.type)) this.#received++;
    this.#dispatch(event);
  }

  /** @param {import("./protocol.js").ServerEvent} event */
  #dispatch(event) {
    switch (event.type) {
      case "ready":
        return this.#on.ready(event);
      case "speech":
        return this.#onSpeech(event);
      case "turn":
        return this.#onTurn(event);
      case "transcript":
        return this.#onTranscript(event);
      case "clear":
        return this.#onClear(event);
      case "mark":
        return this.#playout.mark(event.id, event.generation);
      case "net":
        return this.#onNet(event);
      case "net_graph":
        return this.#emit("net_graph", { svg: event.svg });
      case "tool_call":
        return this.#onToolCall(event);
      case "tool_cancel":
        return this.#onToolCancel(event);
      case "hold":
      case "consent":
      case "protected":
        return this.#onMode(event);
      case "model":
        return this.#emit("model", { state: event.state });
      case "transfer":
        return this.#emit("transfer", { to: event.to ?? "" });
      case "message":
        return this.#emit("message", { name: event.name, data: event.data ?? null });
      case "error":
        return this.#onError(event);
      case "bye":
        return this.#on.bye(event.reason, event.message);
      default:
        this.#stats.unknownEvents++;
    }
  }

  /** @param {import("./protocol.js").SpeechEvent} event */
  #onSpeech({ state }) {
    this.#metrics.speech(state);
    this.#emit("speech", { state });
  }

  /** @param {import("./protocol.js").TurnEvent} event */
  #onTurn({ state, generation, reason, heard_ms }) {
    if (state === "start" || state === "resume") this.#playout.expect(generation);
    if (state === "start") this.#stats.turns++;
    if (state === "resume") this.#stats.resumes++;
    if (state === "end") {
      if (reason === "interrupted") this.#stats.interruptions++;
      this.#metrics.replyEnded(generation, reason, this.#nowMs());
    }
    this.#emit("turn", { state, generation, reason: reason ?? null, heardMs: heard_ms ?? null });
  }

  /** @param {import("./protocol.js").TranscriptEvent} event */
  #onTranscript({ who, text, final, generation }) {
    this.#emit("transcript", { who, text, final: Boolean(final), generation: generation ?? null });
  }

  /** @param {import("./protocol.js").ClearEvent} event */
  #onClear({ generation }) {
    this.#playout.clear(generation);
    this.#emit("clear", { generation });
  }

  /** @param {import("./protocol.js").NetEvent} event */
  #onNet({ at_ms, fired, marking }) {
    this.#emit("net", { atMs: at_ms ?? 0, fired: fired ?? [], marking: marking ?? {} });
  }

  /** @param {import("./protocol.js").ToolCallEvent} event */
  #onToolCall({ id, name, args }) {
    this.#emit("tool_call", { id, name, args: args ?? {} });
    this.#toolCalls.run({ id, name, args: args ?? {} });
  }

  /** @param {import("./protocol.js").ToolCancelEvent} event */
  #onToolCancel({ id }) {
    this.#toolCalls.cancel(id);
    this.#emit("tool_cancel", { id });
  }

  /** @param {import("./protocol.js").ModeEvent} event */
  #onMode({ type, state }) {
    this.#metrics.forget();
    const on = state === "start";
    if (type === "consent") this.#emit("consent", { asked: on });
    else this.#emit(type, { on });
  }

  /** @param {import("./protocol.js").ErrorEvent} event */
  #onError({ code, message, fatal }) {
    if (fatal) this.#on.fatal(code, message);
    this.#emit("error", { code, fatal: Boolean(fatal), ...explain(code, message) });
  }
}
