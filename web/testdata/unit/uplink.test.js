import { Uplink } from "/uplink.js";
import { equal, test } from "./check.js";

const socketOf = (bufferedAmount) => ({
  bufferedAmount,
  sent: [],
  send(pcm) {
    this.sent.push(pcm.id);
  },
});

const BLOCKED = 1e6;
const block = (id) => ({ id });

test("blocks go out at once", () => {
  const socket = socketOf(0);
  const uplink = new Uplink(socket, 48_000);
  for (let i = 0; i < 3; i++) uplink.push(block(i), i * 20, i * 20 + 1);
  equal(socket.sent, [0, 1, 2], "sent");
});

test("a busy socket holds blocks, and those over 200 ms are dropped and counted", () => {
  const socket = socketOf(BLOCKED);
  const uplink = new Uplink(socket, 48_000);
  for (let i = 0; i < 20; i++) uplink.push(block(i), i * 20, i * 20);
  equal(socket.sent, [], "sent while busy");
  socket.bufferedAmount = 0;
  uplink.push(block(20), 400, 400);
  equal(socket.sent, [10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20], "sent");
  equal([uplink.sent, uplink.dropped], [11, 10], "counts");
});

test("a stalled page drops what it got too late", () => {
  const socket = socketOf(0);
  const uplink = new Uplink(socket, 16_000);
  for (let i = 0; i < 50; i++) uplink.push(block(i), i * 20, 1_000); // all at once after a second
  equal(uplink.dropped, 40, "dropped");
  equal(socket.sent[0], 40, "first sent");
});

test("a socket that is never empty when looked at, but moves, is alive", () => {
  const socket = socketOf(0);
  socket.send = function (pcm) {
    this.bufferedAmount += pcm.byteLength; // as in a browser: until the task is over
  };
  const uplink = new Uplink(socket, 48_000);
  for (let now = 0; now < 60_000; now += 20) {
    uplink.push({ byteLength: 1_920 }, now, now);
    equal(uplink.stalled(now), false, `stalled at ${now} ms`);
    socket.bufferedAmount = Math.max(0, socket.bufferedAmount - 1_920);
  }
  equal(uplink.sent, 3_000, "sent");
});

test("a socket that takes nothing for eight seconds is dead", () => {
  const socket = socketOf(0);
  const uplink = new Uplink(socket, 48_000);
  const push = (now) => uplink.push(block(now), now, now);
  push(0);
  socket.bufferedAmount = 500;
  push(1_000);
  equal(uplink.stalled(8_900), false, "stalled after 7.9 s");
  equal(uplink.stalled(9_100), true, "stalled after 8.1 s");
  socket.bufferedAmount = 400; // it took something
  push(9_200);
  equal(uplink.stalled(9_300), false, "stalled after progress");
  socket.bufferedAmount = 0;
  push(30_000);
  equal(uplink.stalled(60_000), false, "stalled with nothing to take");
});
