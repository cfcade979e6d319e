import { SentLog } from "/client/sent-log.js";
import { equal, test } from "./check.js";

test("what the gateway has missed is sent again, in order", () => {
  const log = new SentLog();
  for (const event of ["a", "b", "c"]) log.add(event);
  equal(log.after(0), ["a", "b", "c"]);
  equal(log.after(2), ["c"]);
  equal(log.after(3), []);
  equal(log.after(9), [], "a gateway that has more than was sent");
});

test("the log keeps 256 events", () => {
  const log = new SentLog();
  for (let i = 0; i < 300; i++) log.add(String(i));
  equal(log.after(0).length, 256);
  equal(log.after(298), ["298", "299"]);
});
