// Tools of the page: each call the model makes is answered exactly once, or cancelled.

const RUNNING_MAX = 16; // calls at once
const OUTPUT_CHARS_MAX = 32_000; // at most 3 bytes each: within the 128 KiB of a message
const ERROR_CHARS_MAX = 1_000;

/** Runs tools. Whatever a tool does, throws or returns, nothing is thrown here. */
export class Tools {
  #tools;
  #onToolCall;
  #send;
  #emit;
  #running = new Map(); // id -> AbortController

  /**
   * @param {Pick<import("./client.js").VoiceOptions, "tools" | "onToolCall">} options
   * @param {(event: object) => void} send
   * @param {(type: string, detail: object) => void} emit
   */
  constructor({ tools = {}, onToolCall }, send, emit) {
    this.#tools = tools;
    this.#onToolCall = onToolCall;
    this.#send = send;
    this.#emit = emit;
  }

  /** Runs the tool that was asked for; resolves when it was answered or given up. */
  async call({ id, name, args }) {
    if (this.#running.has(id)) return; // it is answered already
    const run = Object.hasOwn(this.#tools, name) ? this.#tools[name] : null;
    const abort = new AbortController();
    const answered = this.#running.size < RUNNING_MAX;
    this.#running.set(id, abort);
    let answer;
    try {
      if (!answered) throw new Error("too many tools are running");
      answer = { output: toJSON(await this.#run(run, { id, name, args: args ?? {}, signal: abort.signal })) };
    } catch (error) {
      answer = { error: words(error) };
    }
    if (this.#running.get(id) !== abort) return; // cancelled, or the call is over
    this.#running.delete(id);
    this.#send({ type: "tool_result", id, ...answer });
    this.#emit("tool_result", { id, name, ...answer });
  }

  /** The result of a call is not wanted any more: its signal says so. */
  cancel(id) {
    this.#running.get(id)?.abort();
    this.#running.delete(id);
  }

  /** Cancels all. */
  stop() {
    for (const id of [...this.#running.keys()]) this.cancel(id);
  }

  #run(tool, call) {
    if (tool) return tool(call.args, call);
    if (this.#onToolCall) return this.#onToolCall(call);
    throw new Error(`this page has no tool named ${call.name}`);
  }
}

// What goes over the wire: JSON that is not too long. Nothing at all becomes null.
function toJSON(output) {
  const text = JSON.stringify(output ?? null) ?? "null";
  if (text.length > OUTPUT_CHARS_MAX) throw new RangeError(`the output is longer than ${OUTPUT_CHARS_MAX} characters`);
  return JSON.parse(text);
}

function words(error) {
  const text = String(error?.message || error || "the tool failed");
  return text.slice(0, ERROR_CHARS_MAX);
}
