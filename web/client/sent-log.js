// The events that a call has sent: those that a broken connection lost are sent again. Pure.

const KEPT_MAX = 256;

/** Keeps the last events. */
export class SentLog {
  /** @type {string[]} */
  #kept = [];
  #forgotten = 0; // events before them

  /** @param {string} event as JSON */
  add(event) {
    this.#kept.push(event);
    if (this.#kept.length > KEPT_MAX) this.#forgotten += this.#kept.splice(0, 1).length;
  }

  /**
   * The events that the gateway has missed, which has got the first `received`: all that are kept if
   * it misses more.
   * @param {number} received
   */
  after(received) {
    return this.#kept.slice(Math.max(0, received - this.#forgotten));
  }
}
