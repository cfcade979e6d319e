// Connects a call again whose connection broke, for as long as the gateway keeps the call.

const FIRST_WAIT_MS = 100;
const WAIT_MAX_MS = 3_000;
const ATTEMPT_MAX_MS = 10_000;

/**
 * What a Reconnector calls. `attempt` connects; it rejects when that failed. Its signal is aborted
 * when the attempt is given up.
 * @typedef {{attempt(signal: AbortSignal): Promise<void>, began(): void, succeeded(awayMs: number):
 *   void, failed(): void}} Handlers
 */

/** Tries again, each time after twice the wait, until an attempt succeeds or the time is over. */
export class Reconnector {
  #withinMs;
  #on;
  #running = false;
  #stopped = false;
  /** @type {AbortController | null} */
  #attempt = null;

  /**
   * @param {number} withinMs how long the gateway keeps the call
   * @param {Handlers} on
   */
  constructor(withinMs, on) {
    this.#withinMs = withinMs;
    this.#on = on;
  }

  /** The call has no connection now. */
  get running() {
    return this.#running;
  }

  /** The connection of the call broke, or that of the attempt that runs. */
  lost() {
    if (this.#running) this.#attempt?.abort();
    else this.#run();
  }

  stop() {
    this.#stopped = true;
    this.#attempt?.abort();
  }

  async #run() {
    const lostAt = performance.now();
    const leftMs = () => lostAt + this.#withinMs - performance.now();
    this.#running = true;
    this.#on.began();
    for (let wait = FIRST_WAIT_MS; !this.#stopped && leftMs() > 0; wait = Math.min(2 * wait, WAIT_MAX_MS)) {
      if (await this.#succeeds(Math.min(ATTEMPT_MAX_MS, leftMs()))) {
        this.#running = false;
        if (!this.#stopped) this.#on.succeeded(performance.now() - lostAt);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, Math.min(wait, Math.max(0, leftMs()))));
    }
    if (!this.#stopped) this.#on.failed();
  }

  /**
   * Makes one attempt, which may last so long.
   * @param {number} mostMs
   * @returns {Promise<boolean>}
   */
  async #succeeds(mostMs) {
    const attempt = (this.#attempt = new AbortController());
    const timer = setTimeout(() => attempt.abort(), mostMs);
    const givenUp = new Promise((resolve) => attempt.signal.addEventListener("abort", resolve, { once: true }));
    const done = this.#on.attempt(attempt.signal).then(
      () => !attempt.signal.aborted,
      () => false,
    );
    const isBack = await Promise.race([done, givenUp.then(() => false)]);
    clearTimeout(timer);
    if (!isBack) attempt.abort();
    return isBack;
  }
}
