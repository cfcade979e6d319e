// Tool calls of the model to the page: each is answered exactly once, or cancelled.

const RUNNING_MAX = 16; // calls at once
const OUTPUT_CHARS_MAX = 32_000; // at most 3 bytes each: within the 128 KiB of a message
const ERROR_CHARS_MAX = 1_000;

/** @typedef {Pick<import("./index.js").VoiceOptions, "tools" | "onToolCall">} ToolOptions */

/** Runs the tools of a page. It never throws, whatever a tool does, throws or returns. */
export class ToolCalls {
  #options;
  #send;
  #emit;
  /** @type {Map<string, AbortController>} */
  #running = new Map(); // by the id of the call

  /**
   * @param {ToolOptions} options
   * @param {(event: {type: "tool_result", id: string, output?: unknown, error?: string}) => void}
   *   send
   * @param {import("./voice-client.js").Emit} emit
   */
  constructor({ tools, onToolCall }, send, emit) {
    this.#options = { tools, onToolCall };
    this.#send = send;
    this.#emit = emit;
  }

  /**
   * Runs the tool that the model asks for. Resolves when the call was answered or cancelled.
   * @param {{id: string, name: string, args?: Record<string, unknown> | null}} call
   */
  async run({ id, name, args }) {
    if (this.#running.has(id)) return; // the model repeated a call that runs
    const abort = new AbortController();
    const isTooMany = this.#running.size >= RUNNING_MAX;
    this.#running.set(id, abort);
    const answer = isTooMany
      ? { error: "too many tools are running" }
      : await this.#answer({ id, name, args: args ?? {}, signal: abort.signal });
    if (this.#running.get(id) !== abort) return; // cancelled, or the call is over
    this.#running.delete(id);
    this.#send({ type: "tool_result", id, ...answer });
    this.#emit("tool_result", { id, name, ...answer });
  }

  /**
   * Cancels a call: aborts the signal of its tool and sends no result.
   * @param {string} id
   */
  cancel(id) {
    this.#running.get(id)?.abort();
    this.#running.delete(id);
  }

  /** Cancels all calls. */
  stop() {
    for (const id of [...this.#running.keys()]) this.cancel(id);
  }

  /** @param {import("./index.js").ToolCall} call */
  async #answer(call) {
    try {
      return { output: toJSON(await callTool(this.#options, call)) };
    } catch (error) {
      return { error: textOf(error) };
    }
  }
}

/**
 * Calls the tool that the model asks for. Throws when the page has none of that name.
 * @param {ToolOptions} options
 * @param {import("./index.js").ToolCall} call
 */
export function callTool({ tools = {}, onToolCall }, call) {
  const tool = Object.hasOwn(tools, call.name) ? tools[call.name] : null;
  if (tool) return tool(call.args, call);
  if (onToolCall) return onToolCall(call);
  throw new Error(`this page has no tool named ${call.name}`);
}

/**
 * The output of a tool as JSON of a bounded length. undefined becomes null.
 * @param {unknown} output
 */
function toJSON(output) {
  const text = JSON.stringify(output ?? null) ?? "null";
  if (text.length > OUTPUT_CHARS_MAX) throw new RangeError(`the output is longer than ${OUTPUT_CHARS_MAX} characters`);
  return JSON.parse(text);
}

/** @param {any} error */
function textOf(error) {
  const text = String(error?.message || error || "the tool failed");
  return text.slice(0, ERROR_CHARS_MAX);
}
