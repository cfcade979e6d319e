import { VoiceClient } from "/client/index.js";
import { equal, test } from "./check.js";

/** A client, and what a listener was told. */
function world() {
  const client = new VoiceClient();
  /** @type {boolean[]} */
  const told = [];
  const listener = (/** @type {{on: boolean}} */ { on }) => told.push(on);
  return { client, told, listener };
}

test("a listener that was added twice is called once", () => {
  const { client, told, listener } = world();
  client.on("mute", listener);
  client.on("mute", listener);
  client.mute(true);
  equal(told, [true]);
});

test("off removes a listener, of the one type alone", () => {
  const { client, told, listener } = world();
  const other = (/** @type {object} */ _, /** @type {CustomEvent} */ event) => told.push(event.type === "hold");
  client.on("mute", listener);
  client.on("mute", other);
  client.off("hold", other);
  client.off("mute", listener);
  client.mute(true);
  equal(told, [false]);
});

test("what on returns removes the listener, and off of an unknown one does nothing", () => {
  const { client, told, listener } = world();
  client.off("mute", listener);
  const remove = client.on("mute", listener);
  client.mute(true);
  remove();
  remove();
  client.mute(false);
  equal(told, [true]);
});

test("a listener that another one removes is not called", () => {
  const { client, told, listener } = world();
  client.on("mute", () => client.off("mute", listener));
  client.on("mute", listener);
  client.mute(true);
  equal(told, []);
  equal(client.turns, [], "turns without a call");
});

test("a message that no gateway takes is refused at once, and others need a call", () => {
  const { client } = world();
  const circle = {};
  Object.assign(circle, { circle });
  for (const [name, data] of [
    ["", 1],
    ["two words", 1],
    ["x".repeat(65), 1],
    ["x", "é".repeat(32_768)],
    ["x", () => {}],
    ["x", circle],
  ]) {
    let refused = false;
    try {
      client.send(/** @type {string} */ (name), data);
    } catch {
      refused = true;
    }
    equal(refused, true, `${String(name).slice(0, 10)} with ${typeof data}`);
  }
  equal(client.send("cart.changed", { items: 3 }), false);
  equal(client.send("none"), false);
});
