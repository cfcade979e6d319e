import { Reconnector } from "/client/reconnector.js";
import { equal, test } from "./check.js";

/**
 * A reconnector whose attempts end as the list says, and what it told until it was done.
 * @param {number} withinMs
 * @param {("back" | "refused" | "hangs")[]} attempts
 */
async function told(withinMs, attempts) {
  /** @type {string[]} */
  const story = [];
  let aborted = 0;
  await new Promise((done) => {
    const reconnector = new Reconnector(withinMs, {
      attempt: (signal) => {
        const how = attempts.shift() ?? "refused";
        story.push(how);
        signal.addEventListener("abort", () => aborted++);
        if (how === "back") return Promise.resolve();
        if (how === "refused") return Promise.reject(new Error("refused"));
        setTimeout(() => reconnector.lost()); // the connection of the attempt broke
        return new Promise(() => {});
      },
      began: () => story.push("began"),
      succeeded: (awayMs) => done(story.push(awayMs < withinMs ? "succeeded" : "late")),
      failed: () => done(story.push("failed")),
    });
    reconnector.lost();
  });
  return { story, aborted };
}

test("it tries again until an attempt succeeds", async () => {
  const { story, aborted } = await told(10_000, ["refused", "hangs", "back"]);
  equal(story, ["began", "refused", "hangs", "back", "succeeded"]);
  equal(aborted, 2, "attempts that were given up");
});

test("it gives up when the time is over", async () => {
  const { story } = await told(250, []);
  equal(story[0], "began");
  equal(story[story.length - 1], "failed");
  equal(story.length >= 4, true, "at least two attempts");
});

test("it does nothing more when it is stopped", async () => {
  let attempts = 0;
  /** @type {Reconnector} */
  const reconnector = new Reconnector(10_000, {
    attempt: async () => {
      attempts++;
      reconnector.stop();
      throw new Error("refused");
    },
    began: () => {},
    succeeded: () => attempts++,
    failed: () => attempts++,
  });
  reconnector.lost();
  await new Promise((done) => setTimeout(done, 300));
  equal(attempts, 1);
});
