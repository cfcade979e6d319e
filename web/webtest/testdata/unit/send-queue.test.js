import { SendQueue } from "/client/send-queue.js";
import { equal, test } from "./check.js";

/** @param {number} bufferedAmount */
const socketOf = (bufferedAmount) => ({
  bufferedAmount,
  sent: /** @type {number[]} */ ([]),
  /** @param {ArrayBuffer} pcm */
  send(pcm) {
    this.sent.push(new Uint32Array(pcm)[0]);
  },
});

const BLOCKED = 1e6;

/**
 * A block with its number in it.
 * @param {number} id
 */
const block = (id) => Uint32Array.of(id).buffer;

test("blocks go out at once", () => {
  const socket = socketOf(0);
  const queue = new SendQueue(socket, 48_000);
  for (let i = 0; i < 3; i++) queue.push(block(i), i * 20, i * 20 + 1);
  equal(socket.sent, [0, 1, 2], "sent");
});

test("a busy socket holds blocks, and those over 200 ms are dropped and counted", () => {
  const socket = socketOf(BLOCKED);
  const queue = new SendQueue(socket, 48_000);
  for (let i = 0; i < 20; i++) queue.push(block(i), i * 20, i * 20);
  equal(socket.sent, [], "sent while busy");
  socket.bufferedAmount = 0;
  queue.push(block(20), 400, 400);
  equal(socket.sent, [10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20], "sent");
  equal([queue.sent, queue.dropped], [11, 10], "counts");
});

test("a stalled page drops what it got too late", () => {
  const socket = socketOf(0);
  const queue = new SendQueue(socket, 16_000);
  for (let i = 0; i < 50; i++) queue.push(block(i), i * 20, 1_000); // all at once after a second
  equal(queue.dropped, 40, "dropped");
  equal(socket.sent[0], 40, "first sent");
});

test("a socket that is never empty when looked at, but moves, is alive", () => {
  const socket = socketOf(0);
  socket.send = function (pcm) {
    this.bufferedAmount += pcm.byteLength; // as in a browser: until the task is over
  };
  const queue = new SendQueue(socket, 48_000);
  for (let now = 0; now < 60_000; now += 20) {
    queue.push(new ArrayBuffer(1_920), now, now);
    equal(queue.stalled(now), false, `stalled at ${now} ms`);
    socket.bufferedAmount = Math.max(0, socket.bufferedAmount - 1_920);
  }
  equal(queue.sent, 3_000, "sent");
});

test("a socket that takes nothing for eight seconds is dead", () => {
  const socket = socketOf(0);
  const queue = new SendQueue(socket, 48_000);
  const push = (/** @type {number} */ now) => queue.push(block(now), now, now);
  push(0);
  socket.bufferedAmount = 500;
  push(1_000);
  equal(queue.stalled(8_900), false, "stalled after 7.9 s");
  equal(queue.stalled(9_100), true, "stalled after 8.1 s");
  socket.bufferedAmount = 400; // it took something
  push(9_200);
  equal(queue.stalled(9_300), false, "stalled after progress");
  socket.bufferedAmount = 0;
  push(30_000);
  equal(queue.stalled(60_000), false, "stalled with nothing to take");
});
