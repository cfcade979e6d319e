import { APIError } from "/chat/chat/api.js";
import { EventStream } from "/chat/chat/event-stream.js";
import { equal, test } from "./check.js";

/** @typedef {import("/chat/chat/api.js").SessionEvent} SessionEvent */

/** @param {number[]} seqs */
const events = (...seqs) => seqs.map((seq) => `id: ${seq}\ndata: {"type":"x","seq":${seq}}\n\n`).join("");

/**
 * Follows a stream whose connections are as the list says, to its end: what the connection has, or the
 * status that refuses it. The last has session.deleted.
 * @param {(string | number)[]} connections
 */
async function follow(connections) {
  let last = 0;
  /** @type {(string | number)[]} */
  const story = [];
  const end = `data: {"type":"session.deleted"}\n\n`;
  await new Promise((done) => {
    const stream = new EventStream({
      open: async () => {
        story.push(`from ${last}`);
        const next = connections.shift() ?? end;
        if (typeof next === "number") throw new APIError(next, "refused");
        return new Blob([next]).stream();
      },
      take: ({ seq = 0 }) => {
        if (seq > last + 1) return false;
        if (seq > last) story.push((last = seq));
        return true;
      },
      changed: (state) => {
        if (state === "reconnecting") setTimeout(() => stream.hurry());
        if (state === "off") setTimeout(() => done(0));
      },
      failed: (error) => story.push(`failed ${error.status}`),
    });
  });
  return story;
}

test("it goes on behind the last event, whenever a connection ends", async () => {
  equal(await follow([events(1, 2), "", events(3) + "id: 4\ndata: {\"type\"", 503, 0, events(2, 3, 4)]),
    ["from 0", 1, 2, "from 2", "from 2", 3, "from 3", "from 3", "from 3", 4, "from 4"]);
});

test("a gap makes it connect again", async () => {
  equal(await follow([events(1, 3), events(2, 3)]), ["from 0", 1, "from 1", 2, 3, "from 3"]);
});

test("an error in the stream and what is no JSON make it connect again", async () => {
  equal(await follow(["event: error\ndata: {}\n\n", "data: {\n\n", events(1)]),
    ["from 0", "from 0", "from 0", 1, "from 1"]);
});

test("a refusal ends it", async () => {
  equal(await follow([events(1), 404]), ["from 0", 1, "from 1", "failed 404"]);
});

test("it does nothing more when it is stopped", async () => {
  let opened = 0;
  /** @type {EventStream} */
  const stream = new EventStream({
    open: async () => {
      opened++;
      stream.stop();
      throw new TypeError("lost");
    },
    take: () => true,
    changed: () => {},
    failed: () => opened++,
  });
  await new Promise((done) => setTimeout(done, 700));
  equal(opened, 1);
});
