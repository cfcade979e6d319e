// What a call is doing, by the marking of its net: package console has the same rules in spots.go, and
// its tests compare the two.

/** Phases in the order in which they are looked for, and the places that show each. */
const PHASES = [
  ["ending", ["ending"]],
  ["held", ["held"]],
  ["protected", ["protected"]],
  ["paused", ["confirming"]],
  ["speaking", ["replying"]],
  ["consent", ["unconsented"]],
  ["caller", ["speaking", "in_turn"]],
];

/** @param {Readonly<Record<string, number>>} marking tokens by place */
export function phaseOf(marking) {
  const has = (/** @type {string[]} */ places) => places.some((p) => (marking[p] ?? 0) > 0);
  for (const [phase, places] of PHASES) if (has(/** @type {string[]} */ (places))) return String(phase);
  if (!has(["online"])) return has(["link/connected_before"]) ? "offline" : "connecting";
  if (Object.keys(marking).some((p) => p.startsWith("tool_running_") && has([p]))) return "tool";
  return has(["reply_pending", "unanswered"]) ? "thinking" : "listening";
}

/** Whether a transition interrupts a reply. @param {string} name */
export function isCut(name) {
  return /^(turns\/(barge_in|interrupt)|text\/type_(in_pause|over_reply))/.test(name);
}
