// The messages for people: for each code, one sentence that says what happened and one that says
// what to do.

const TALK_AGAIN = "Press Talk to start a new call.";

/** @type {Record<string, [message: string, advice: string]>} */
const MESSAGES = {
  insecure_context: [
    "This page may not use the microphone, because it was not loaded securely.",
    "Open it as http://localhost or over https.",
  ],
  unsupported: ["This browser cannot capture or play live audio.", "Use a current Chrome, Edge, Firefox or Safari."],
  mic_refused: [
    "The microphone was refused.",
    "Allow it for this site (the icon beside the address, or the settings of the system), then press Talk.",
  ],
  mic_missing: ["No microphone was found.", "Connect one, or choose another in the list, then press Talk."],
  mic_in_use: [
    "The microphone is in use or does not answer.",
    "Close the other program or tab that uses it, then press Talk.",
  ],
  mic_lost: ["The microphone was disconnected.", "Connect it again or choose another one. You are muted until then."],
  output_refused: ["The loudspeaker was refused.", "Allow it for this site, or choose another in the list."],
  output_missing: ["That loudspeaker was not found.", "Connect it, or choose another in the list."],
  output_failed: ["That loudspeaker does not play.", "Choose another in the list, or check the sound settings of the system."],
  output_unsupported: ["This browser has no choice of a loudspeaker.", "Choose it in the sound settings of the system."],
  audio_failed: ["The browser could not start its audio.", "Check the sound settings of the system, then press Talk."],
  server_gone: [
    "The gateway cannot be reached.",
    "Check that it is running and that the network is up, then press Talk.",
  ],
  server_lost: ["The connection to the gateway was lost.", `Check that it is still running. ${TALK_AGAIN}`],
  refused: [
    "The gateway refused this page.",
    "Pages of other origins must be allowed in its configuration; the address may also be wrong.",
  ],
  no_ready: ["The gateway answered, but the call did not start in time.", "Press Talk to try again."],
  overrun: ["The gateway sent far more audio than it may.", TALK_AGAIN],
  busy: ["All lines are busy.", "Wait a moment, then press Talk."],
  going_away: ["The gateway is shutting down.", "It should be back soon; then press Talk."],
  model_refused: ["The model refused the call.", "Whoever runs the gateway should check the key and the model's name."],
  model_timeout: ["The model did not answer in time.", "Press Talk to try again."],
  model_lost: ["The model was lost.", TALK_AGAIN],
  idle_timeout: ["The call ended because nothing was heard for a long time.", TALK_AGAIN],
  max_duration: ["The call reached its longest duration.", TALK_AGAIN],
  peer_stalled: ["This page did not take the audio in time.", `The network or the machine was too slow. ${TALK_AGAIN}`],
  hello_timeout: ["The call was not started in time.", "Press Talk to try again."],
  bad_hello: ["The gateway does not accept these settings.", "Change the settings of the call."],
  bad_audio: ["The gateway could not read the audio of this page.", "Reload the page."],
  bad_json: ["The gateway could not read a message of this page.", "Reload the page."],
  audio_before_ready: ["Audio was sent before the call was ready.", "Reload the page."],
  second_hello: ["The call was started twice.", "Reload the page."],
  event_before_hello: ["A message was sent before the call was started.", "Reload the page."],
  message_too_big: ["A message was too big.", "Reload the page."],
  transferred: ["Somebody else takes the call.", ""],
  caller_silent: ["The call ended because you were not heard for a long time.", TALK_AGAIN],
  no_consent: ["The call ended because you did not agree to be listened to.", TALK_AGAIN],
  record_lost: ["The call ended because it could not be recorded.", TALK_AGAIN],
  unauthorized: ["This page may not make this call.", "Ask whoever runs it for a token, or sign in again."],
  limit: ["You have reached your limit of calls.", "End another one, or try again later."],
  no_token: ["This page could not get permission for the call.", "Reload the page, or sign in again."],
  text_lost: ["Your text was not sent.", "The model may not listen now, or too much text is waiting. Send it again later."],
  too_fast: ["That was not sent: you type too fast.", "Wait a moment and send it again."],
  superseded: ["The call goes on over another connection.", ""],
  not_resumable: ["The connection was lost for too long.", TALK_AGAIN],
  message_lost: ["A message of this page was not taken.", ""],
  internal: ["Something went wrong in the gateway.", `It is not your fault. ${TALK_AGAIN}`],
  caller_hung_up: ["You hung up.", ""],
  done: ["The call is over.", ""],
};

const NORMAL = ["caller_hung_up", "done", "transferred", "caller_silent", "no_consent"];

// The reason that a close code of the WebSocket stands for when no bye came before it.
/** @type {Record<number, string>} */
const CLOSE_CODES = {
  1000: "done",
  1001: "going_away",
  1007: "bad_json",
  1009: "message_too_big",
  1011: "internal",
  1013: "busy",
  4000: "bad_hello",
  4001: "event_before_hello",
  4002: "model_lost",
  4003: "hello_timeout",
  4004: "peer_stalled",
  4005: "idle_timeout",
  4006: "max_duration",
  4007: "unauthorized",
  4008: "superseded",
  4009: "not_resumable",
};

/**
 * The message and the advice for a code. A message of the server replaces ours, because it names
 * the values at fault.
 * @param {string} code
 * @param {string} [serverMessage]
 * @returns {{message: string, advice: string}}
 */
export function explain(code, serverMessage) {
  const [message, advice] = Object.hasOwn(MESSAGES, code) ? MESSAGES[code] : ["The call ended.", TALK_AGAIN];
  return { message: serverMessage || message, advice };
}

/**
 * The reason of a close without a bye: server_lost when the code says nothing.
 * @param {number} code
 */
export function closeReason(code) {
  return CLOSE_CODES[code] ?? "server_lost";
}

/**
 * Whether a call that ends for this reason ended as intended.
 * @param {string} reason
 */
export function isNormal(reason) {
  return NORMAL.includes(reason);
}

/** An error with a code for programs, and a message and advice for people. */
export class VoiceError extends Error {
  /**
   * @param {string} code
   * @param {string} [serverMessage]
   * @param {ErrorOptions} [options] with the cause
   */
  constructor(code, serverMessage, options) {
    const { message, advice } = explain(code, serverMessage);
    super(message, options);
    this.name = "VoiceError";
    this.code = code;
    this.advice = advice;
  }
}
