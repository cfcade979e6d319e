// The queue of microphone blocks before the socket: no block is sent more than 200 ms late. Pure:
// the time is a parameter.

const STALE_MS = 200; // an older block is worth nothing to a conversation
const SOCKET_MS = 60; // of audio may wait inside the socket, where nothing can be taken back
const STALL_MS = 8_000; // a socket that sent nothing for so long is dead, whatever its state says

/** Holds blocks while the socket is busy, and drops the stale ones. */
export class SendQueue {
  /** Blocks sent so far. */
  sent = 0;
  /** Blocks dropped because they were stale. */
  dropped = 0;

  #socket;
  #socketBytesMax;
  /** @type {{pcm: ArrayBuffer, capturedMs: number}[]} */
  #held = [];
  #lastBuffered = 0;
  /** @type {number | null} */
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
   * Sends the held blocks that may be sent now, and then this block.
   * @param {ArrayBuffer} pcm
   * @param {number} capturedMs when the block was captured, on the clock of nowMs
   * @param {number} nowMs
   */
  push(pcm, capturedMs, nowMs) {
    this.#watch(nowMs);
    this.#held.push({ pcm, capturedMs });
    for (let block = this.#held[0]; block; block = this.#held[0]) {
      const stale = nowMs - block.capturedMs > STALE_MS;
      if (!stale && this.#socket.bufferedAmount > this.#socketBytesMax) break;
      this.#held.shift();
      if (stale) {
        this.dropped++;
      } else {
        this.#socket.send(block.pcm);
        this.sent++;
      }
    }
    this.#lastBuffered = this.#socket.bufferedAmount;
  }

  /**
   * Whether the socket has sent nothing for eight seconds.
   * @param {number} nowMs
   */
  stalled(nowMs) {
    return this.#progressAt !== null && nowMs - this.#progressAt > STALL_MS;
  }

  /**
   * Notes progress: the buffer of the socket is empty, or has shrunk since the last push.
   * @param {number} nowMs
   */
  #watch(nowMs) {
    const buffered = this.#socket.bufferedAmount;
    if (buffered === 0) this.#progressAt = null;
    else if (this.#progressAt === null || buffered < this.#lastBuffered) this.#progressAt = nowMs;
  }
}
