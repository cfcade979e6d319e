// What the page says about sessions, events and calls.

/**
 * @typedef {import("./api.js").SessionEvent} SessionEvent
 * @typedef {import("./api.js").Session} Session
 * @typedef {import("./api.js").Block} Block
 * @typedef {import("./api.js").StopReason} StopReason
 * @typedef {import("./conversation.js").Call} Call
 * @typedef {import("./conversation.js").State} State
 *
 * @typedef {"good" | "info" | "warning" | "error" | "none"} Tone
 * @typedef {{ text: string, tone: Tone }} Words
 */

/** @type {Record<string, string>} */
const ERRORS = {
  model_overloaded_error: "The model is overloaded",
  model_rate_limited_error: "The model takes no more requests for now",
  model_request_failed_error: "The request to the model failed",
  mcp_connection_failed_error: "A tool server cannot be reached",
  mcp_authentication_failed_error: "A tool server refuses the gateway",
  billing_error: "The account at the model\u2019s provider has no credit",
  tool_use_limit_reached_error: "The agent has called too many tools",
};

/** @type {Record<string, string>} */
const RETRIES = {
  retrying: "The gateway tries again.",
  exhausted: "The turn has ended. Send a message to try again.",
  terminal: "The session has ended.",
};

/** @type {Record<string, Words>} */
const REASONS = {
  retries_exhausted: { text: "The agent gave up this turn", tone: "error" },
  budget_reached: { text: "The budget of the session is used up", tone: "warning" },
  refusal: { text: "The model refused to answer", tone: "warning" },
};

/** @type {Record<string, Words>} */
const DETAILS = {
  interrupted: { text: "The turn was interrupted", tone: "warning" },
  max_tokens: { text: "The answer was cut: it reached the model\u2019s limit", tone: "warning" },
  reask_budget: { text: "The model was asked again too often", tone: "warning" },
};

/** @type {Record<string, Words>} */
const STATUSES = {
  running: { text: "Running", tone: "info" },
  rescheduling: { text: "Tries again soon", tone: "warning" },
  terminated: { text: "Ended", tone: "none" },
  idle: { text: "Idle", tone: "good" },
};

/**
 * The status of a session. Only its events tell whether it waits for the person.
 * @param {Pick<Session, "status" | "paused" | "archived_at"> & { stop?: StopReason | null }} session
 * @returns {Words}
 */
export function statusWords({ status, paused, archived_at: archived, stop }) {
  if (archived) return { text: "Archived", tone: "none" };
  if (status === "idle" && stop?.type === "requires_action" && !paused) {
    return { text: "Waits for you", tone: "warning" };
  }
  const words = STATUSES[status] ?? { text: status, tone: "none" };
  return paused && status !== "terminated" ? { text: `${words.text}, paused`, tone: "warning" } : words;
}

/**
 * The status of the session that is open.
 * @param {State} state
 * @returns {Words}
 */
export function stateWords({ session, status, stop, deleted }) {
  if (deleted) return { text: "Deleted", tone: "none" };
  if (!session) return { text: "Loading", tone: "none" };
  return statusWords({ ...session, status, stop });
}

/**
 * @param {Session["usage"]} usage
 * @returns {string}
 */
export function usageWords({ input_tokens: taken, output_tokens: made }) {
  const number = new Intl.NumberFormat();
  return `${number.format(taken)} tokens in, ${number.format(made)} out`;
}

/**
 * The name of a session.
 * @param {Session} session
 */
export function titleOf({ title, agent, id }) {
  return title || `${agent.name} \u2026${id.slice(-6)}`;
}

/**
 * The words of an event that is neither a message nor of a call. One that the page does not know has its
 * type.
 * @param {SessionEvent} event
 * @returns {Words}
 */
export function noteWords(event) {
  const { type, processed_at: time, stop_reason: stop } = event;
  switch (type) {
    case "user.interrupt":
      return { text: time ? "You interrupted" : "You interrupt", tone: "info" };
    case "session.error":
      return errorWords(event);
    case "session.status_rescheduled":
      return { text: "The turn is tried again after a pause", tone: "warning" };
    case "session.status_terminated":
      return { text: "The session has ended. It stays readable.", tone: "info" };
    case "session.status_idle":
      return DETAILS[stop?.detail ?? ""] ?? REASONS[stop?.type ?? ""] ?? unknown(type, stop?.detail ?? stop?.type);
    default:
      return unknown(type, "");
  }
}

/**
 * @param {string} type
 * @param {string | undefined} more
 * @returns {Words}
 */
function unknown(type, more) {
  return { text: more ? `${type}: ${more}` : type, tone: "none" };
}

/**
 * @param {SessionEvent} event
 * @returns {Words}
 */
function errorWords({ error }) {
  const what = ERRORS[error?.type ?? ""] ?? "The session reports an error";
  const server = error?.mcp_server_name ? ` (${error.mcp_server_name})` : "";
  const message = error?.message ? `: ${error.message}` : "";
  const retry = RETRIES[error?.retry_status?.type ?? ""] ?? "";
  const end = /[.!?]$/.test(message) ? "" : ".";
  const text = `${what}${server}${message}${end} ${retry}`.trim();
  return { text, tone: error?.retry_status?.type === "retrying" ? "warning" : "error" };
}

/** @type {[string, Words][]} */
const OUTCOMES = [ // by how the error of a result begins
  ["outcome_unknown", { text: "Outcome unknown: the gateway stopped during this call", tone: "warning" }],
  ["cancelled", { text: "Cancelled", tone: "none" }],
  ["timed_out", { text: "Timed out", tone: "error" }],
  ["denied", { text: "Not allowed", tone: "none" }],
];

/**
 * How a call stands.
 * @param {Call} call
 * @param {"result" | "decision" | ""} waits
 * @param {boolean} isOpen whether the turn of the call goes on
 * @returns {Words}
 */
export function callWords({ use, decision, result }, waits, isOpen) {
  if (waits === "result") return { text: "Waits for your result", tone: "warning" };
  if (waits === "decision") return { text: "Waits for your decision", tone: "warning" };
  const denied = decision?.result === "deny";
  if (denied) return { text: "You denied it", tone: "none" };
  if (result) {
    const text = contentText(result.content);
    const failure = /^\{"error":"([a-z_]+)/.exec(text)?.[1] ?? "";
    const outcome = result.is_error && OUTCOMES.find(([name]) => name === failure)?.[1];
    return outcome || (result.is_error ? { text: "Failed", tone: "error" } : { text: "Done", tone: "good" });
  }
  if (!isOpen) return { text: "No result", tone: "none" };
  if (decision) return { text: "You allowed it", tone: "info" };
  return use?.evaluated_permission === "deny" ? { text: "Not allowed", tone: "none" } : { text: "Runs", tone: "info" };
}

/**
 * A content as text: its texts, and a line for each part that is none.
 * @param {Block[] | undefined} content
 * @returns {string}
 */
export function contentText(content) {
  if (!Array.isArray(content)) return "";
  return content.map((b) => (typeof b.text === "string" ? b.text : blockLine(b))).join("\n");
}

/** @param {Block} block */
function blockLine({ type, title, source }) {
  const what = [title, source?.media_type, source?.url].filter(Boolean).join(", ");
  return what ? `[${type}: ${what}]` : `[${type}]`;
}

/**
 * Text that may be JSON, laid out to be read.
 * @param {string} text
 */
export function laidOut(text) {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/**
 * A time in a few characters: of today the time, of other days the date.
 * @param {string} time
 * @param {Date} now
 */
export function shortTime(time, now) {
  const at = new Date(time);
  const isToday = at.toDateString() === now.toDateString();
  return isToday ? at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
    : at.toLocaleDateString([], { day: "numeric", month: "short" });
}
