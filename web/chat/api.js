// The sessions API of the gateway, as docs/managed.md describes it.

/**
 * @typedef {{ type: string, text?: string, title?: string, source?: { type: string, media_type?: string, data?: string,
 *   url?: string } }} Block a part of a content
 *
 * @typedef {{ type: string, id?: string, seq?: number, processed_at?: string | null, content?: Block[], name?: string,
 *   input?: unknown, tool_use_id?: string, custom_tool_use_id?: string, mcp_tool_use_id?: string,
 *   mcp_server_name?: string, is_error?: boolean, result?: string, deny_message?: string,
 *   evaluated_permission?: string, stop_reason?: StopReason, error?: Failure, usage?: Usage,
 *   event?: { type: string, id: string }, event_id?: string, delta?: { content?: Block } }} SessionEvent
 *
 * @typedef {{ type: string, event_ids?: string[], detail?: string }} StopReason
 * @typedef {{ type: string, message: string, mcp_server_name?: string, retry_status?: { type: string } }} Failure
 * @typedef {{ input_tokens: number, output_tokens: number }} Usage
 *
 * @typedef {{ id: string, name: string, model: { id: string }, metadata?: Record<string, string> }} Agent
 *
 * @typedef {{ id: string, status: string, paused: boolean, agent: Agent, title: string | null, usage: Usage,
 *   last_seq: number, created_at: string, archived_at: string | null }} Session
 */

/**
 * @template T
 * @typedef {{ data: T[], next_page: string | null }} Page
 */

const PATIENCE_MS = 30_000; // for one attempt
const ATTEMPTS = 8;
const PAUSE_MS = 500; // before the second attempt; it doubles
const PAUSE_MAX_MS = 8_000;

/** Why a request failed. The message is for people. */
export class APIError extends Error {
  /**
   * @param {number} status of HTTP; 0 if the gateway did not answer
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }

  /** Whether the same request may succeed later. */
  get isPassing() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/**
 * How long to wait before an attempt: half a second, doubling to 8 s, less up to a quarter by chance.
 * @param {number} failures so far, from 0
 * @param {number} chance from 0 to 1
 */
export function pauseMs(failures, chance) {
  return Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** failures) * (1 - chance / 4);
}

/**
 * Waits, and rejects when the signal aborts.
 * @param {number} ms
 * @param {AbortSignal} [signal]
 * @returns {Promise<void>}
 */
export function wait(ms, signal) {
  return new Promise((done, failed) => {
    if (signal?.aborted) return failed(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      failed(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      done();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** A key that makes a request safe to repeat. */
export function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
}

/** @typedef {{ body?: unknown, key?: string, attempts?: number, signal?: AbortSignal | undefined }} Options */

/** Asks the gateway. Every method rejects with an APIError, or with the reason of its signal. */
export class SessionsAPI {
  #base;
  #fetch;
  #pause;
  /** The key that requests carry; "" sends none. */
  token = "";
  /** Called when the gateway refuses the key. */
  onUnauthorized = () => {};

  /**
   * @param {string} base the URL that ends in /v1/
   * @param {typeof globalThis.fetch} [fetch]
   * @param {typeof wait} [pause]
   */
  constructor(base, fetch = (...args) => globalThis.fetch(...args), pause = wait) {
    this.#base = base;
    this.#fetch = fetch;
    this.#pause = pause;
  }

  /** @returns {Promise<Page<Agent>>} */
  agents() {
    return this.#ask("GET", "agents?limit=1000");
  }

  /**
   * @param {unknown} definition
   * @returns {Promise<Agent>}
   */
  createAgent(definition) {
    return this.#ask("POST", "agents", { body: definition, attempts: 1 });
  }

  /**
   * The sessions, the newest first.
   * @param {number} limit
   * @param {boolean} archived whether to include those that are archived
   * @returns {Promise<Page<Session>>}
   */
  sessions(limit, archived) {
    return this.#ask("GET", `sessions?limit=${limit}&include_archived=${archived}`);
  }

  /**
   * Starts a session. A key makes it safe to repeat.
   * @param {unknown} request
   * @param {string} key
   * @returns {Promise<Session>}
   */
  start(request, key) {
    return this.#ask("POST", "sessions", { body: request, key, attempts: 1 });
  }

  /**
   * @param {string} id
   * @param {AbortSignal} [signal]
   * @param {number} [attempts]
   * @returns {Promise<Session>}
   */
  session(id, signal, attempts = ATTEMPTS) {
    return this.#ask("GET", path(id), { signal, attempts });
  }

  /**
   * @param {string} id
   * @param {"pause" | "resume" | "archive"} verb
   * @returns {Promise<Session>}
   */
  steer(id, verb) {
    return this.#ask("POST", `${path(id)}/${verb}`);
  }

  /**
   * A page of the events of a session, the newest first.
   * @param {string} id
   * @param {number} limit
   * @param {string | null} page the next_page of the page before
   * @param {AbortSignal} [signal]
   * @returns {Promise<Page<SessionEvent>>}
   */
  events(id, limit, page, signal) {
    const after = page ? `&page=${encodeURIComponent(page)}` : "";
    return this.#ask("GET", `${path(id)}/events?order=desc&limit=${limit}${after}`, { signal });
  }

  /**
   * Sends events of the user. The key makes it safe to repeat: all attempts send once.
   * @param {string} id
   * @param {SessionEvent[]} events
   * @param {string} key
   * @returns {Promise<SessionEvent[]>} the events as accepted
   */
  async send(id, events, key) {
    const { data } = await this.#ask("POST", `${path(id)}/events`, { body: { events }, key });
    return data;
  }

  /**
   * Opens the stream of what follows an event, with parts of messages as they come.
   * @param {string} id
   * @param {number} lastSeq
   * @param {AbortSignal} signal
   */
  async stream(id, lastSeq, signal) {
    const response = await this.#attempt("GET", `${path(id)}/events/stream?event_deltas%5B%5D=agent.message`, signal,
      { "Last-Event-ID": String(lastSeq) });
    if (!response.body) throw new APIError(0, "This browser cannot read streams.");
    return response.body;
  }

  /**
   * Asks until an answer is there that will not change.
   * @param {string} method
   * @param {string} to
   * @param {Options} [options]
   * @returns {Promise<any>}
   */
  async #ask(method, to, { body, key, attempts = ATTEMPTS, signal } = {}) {
    /** @type {Record<string, string>} */
    const headers = {};
    if (key) headers["Idempotency-Key"] = key;
    for (let failures = 0; ; failures++) {
      const limit = AbortSignal.timeout(PATIENCE_MS);
      try {
        const both = signal ? AbortSignal.any([signal, limit]) : limit;
        const response = await this.#attempt(method, to, both, headers, body);
        return await response.json().catch(() => Promise.reject(unreachable()));
      } catch (error) {
        signal?.throwIfAborted();
        const why = error instanceof APIError ? error : unreachable();
        if (!why.isPassing || failures + 1 >= attempts) throw why;
        await this.#pause(pauseMs(failures, Math.random()), signal);
      }
    }
  }

  /**
   * @param {string} method
   * @param {string} to
   * @param {AbortSignal} signal
   * @param {Record<string, string>} headers
   * @param {unknown} [body]
   */
  async #attempt(method, to, signal, headers, body) {
    if (this.token) headers["Authorization"] = `Bearer ${this.token}`;
    /** @type {RequestInit} */
    const init = { method, headers, signal, cache: "no-store", credentials: "omit" };
    if (body !== undefined) {
      headers["Content-Type"] = "application/json";
      init.body = JSON.stringify(body);
    }
    const response = await this.#fetch(this.#base + to, init).catch((error) => {
      throw signal.aborted ? error : unreachable();
    });
    if (response.ok) return response;
    if (response.status === 401) this.onUnauthorized();
    throw new APIError(response.status, await reasonOf(response));
  }
}

const unreachable = () => new APIError(0, "The gateway does not answer.");

/** @param {string} id */
const path = (id) => `sessions/${encodeURIComponent(id)}`;

/**
 * What the gateway says about a refusal.
 * @param {Response} response
 */
async function reasonOf(response) {
  const text = await response.text().catch(() => "");
  try {
    const { message } = JSON.parse(text).error;
    if (typeof message === "string" && message) return message;
  } catch {
    // it is not JSON of the API: of a proxy, or of another server
  }
  return `The gateway answered with status ${response.status}.`;
}
