// The way of microphone blocks to the socket: never late by more than 200 ms. Pure: time comes by parameter.

const STALE_MS = 200; // a block older than this is worth nothing to a conversation
const SOCKET_MS = 60; // of audio may wait inside the socket, where nothing can be taken back
const STALL_MS = 8_000; // a socket that took nothing for so long is dead, whatever it says

/** Holds blocks while the socket is busy, and drops those that became stale. */
export class Uplink {
  /** Blocks sent and blocks dropped as stale. */
  sent = 0;
  dropped = 0;

  #socket;
  #socketBytesMax;
  #held = [];
  #lastBuffered = 0;
  #progressAt = null;

  /**
   * @param {{send(data: ArrayBuffer): void, readonly bufferedAmount: number}} socket
   * @param {number} rate Hz
   */
  constructor(socket, rate) {
    this.#socket = socket;
    this.#socketBytesMax = (rate * 2 * SOCKET_MS) / 1000;
  }

  /**
   * Sends what may be sent now, this block last.
   * @param {ArrayBuffer} pcm
   * @param {number} capturedMs when the block was captured, on the clock of nowMs
   * @param {number} nowMs
   */
  push(pcm, capturedMs, nowMs) {
    this.#watch(nowMs);
    this.#held.push({ pcm, capturedMs });
    while (this.#held.length > 0) {
      if (nowMs - this.#held[0].capturedMs > STALE_MS) {
        this.#held.shift();
        this.dropped++;
      } else if (this.#socket.bufferedAmount <= this.#socketBytesMax) {
        this.#socket.send(this.#held.shift().pcm);
        this.sent++;
      } else {
        break;
      }
    }
    this.#lastBuffered = this.#socket.bufferedAmount;
  }

  /** Whether the socket has taken nothing for eight seconds. */
  stalled(nowMs) {
    return this.#progressAt !== null && nowMs - this.#progressAt > STALL_MS;
  }

  // What was sent last time is gone from the socket by now, or some of what waits before it.
  #watch(nowMs) {
    const buffered = this.#socket.bufferedAmount;
    if (buffered === 0) this.#progressAt = null;
    else if (this.#progressAt === null || buffered < this.#lastBuffered) this.#progressAt = nowMs;
  }
}
