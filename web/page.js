// The page: one VoiceClient and what it says, shown.

import { VoiceClient } from "./client.js";
import { Modes } from "./modes.js";
import { NetView } from "./netview.js";
import { PushToTalk } from "./push.js";
import { Timeline, loudness } from "./timeline.js";
import { Transcript } from "./transcript.js";
import { Keypad, Typing } from "./typing.js";
import { Way } from "./way.js";

const QUERY = new URLSearchParams(location.search);
const placed = (name) => new URL(document.querySelector(`meta[name=${name}]`).content, location.href).href;
const URL_OF_VOICE = placed("voicegw-path");
const TAP_MAX = 3_000; // messages of 100 ms: five minutes
const HIDE_WARNING_MS = 30_000;
const METER_FALL = 0.85; // per animation frame

const $ = (id) => document.getElementById(id);
const body = document.body;

const client = new VoiceClient({
  url: URL_OF_VOICE,
  showNet: QUERY.get("net") !== "0",
  raw: QUERY.get("raw") === "1",
  tap: QUERY.get("tap") === "1",
  tools: { get_time: getTime },
});
const timeline = new Timeline($("timeline"));
const transcript = new Transcript($("transcript"));
const net = new NetView($("net"), $("net-drawing"), $("net-fired"));
const push = new PushToTalk(client, $("push"));
const modes = new Modes(client, {
  line: $("mode"),
  hold: $("hold"),
  question: $("consent"),
  agree: $("agree"),
  decline: $("decline"),
});
const way = new Way(client, $("way"), { socket: URL_OF_VOICE, webrtc: placed("voicegw-webrtc-path") });
const levels = { caller: 0, model: 0 };
const speaking = { caller: false, model: false };
const heard = { rate: 0, parts: [] }; // with ?tap=1: everything that was played
const log = []; // the last events, for tests and the curious
let warningTimer = 0;
let playing = false; // a reply has begun and not ended
let halfDuplex = false; // of this call

// --- who is speaking ---

const LISTENING = "Listening. Speak whenever you like.";

function showSpeaking() {
  const deaf = modes.deaf || (client.muted ? "You are muted." : "");
  const caller = speaking.caller && deaf === "";
  body.dataset.speaking = caller && speaking.model ? "both" : caller ? "caller" : speaking.model ? "model" : "nobody";
  if (client.state === "live") $("speaking").textContent = whoSpeaks(body.dataset.speaking, deaf);
}

// What a person is told; deaf says why nobody listens to them, if nobody does.
function whoSpeaks(who, deaf) {
  if (who === "caller") return "You are speaking.";
  if (who === "both") return "You are speaking over the model.";
  if (who === "model") return `The model is speaking. ${deaf || howToInterrupt()}`;
  return deaf || (push.wanted ? "Hold the button, or the space bar, while you speak." : LISTENING);
}

function howToInterrupt() {
  if (halfDuplex) return "It cannot be interrupted.";
  return push.wanted ? "Press the button to stop it." : "Talk over it to stop it.";
}

for (const type of ["hold", "protected", "consent"]) client.on(type, showSpeaking);

// --- the state of the call ---

const STATES = {
  idle: { connection: "Not connected", speaking: "Press Talk and speak.", talk: "Talk" },
  connecting: {
    connection: "Connecting",
    speaking: "Connecting. Allow the microphone if you are asked.",
    talk: "Cancel",
  },
  live: { connection: "Connected", speaking: LISTENING, talk: "Hang up" },
  ending: { connection: "Hanging up", speaking: "Hanging up.", talk: "Hang up" },
  ended: { connection: "Not connected", speaking: "Press Talk and speak.", talk: "Talk" },
  failed: { connection: "Call failed", speaking: "Press Talk to try again.", talk: "Talk" },
};

function showState(state) {
  const words = STATES[state];
  body.dataset.state = state;
  $("connection").textContent = words.connection;
  $("speaking").textContent = words.speaking;
  $("talk-label").textContent = words.talk;
  $("talk").disabled = state === "ending";
}

function toggleCall() {
  if (client.state === "live" || client.state === "connecting") {
    client.end();
    return;
  }
  hideNotice();
  call();
}

function call() {
  forgetLastCall();
  halfDuplex = $("half-duplex").checked;
  client.configure({
    language: $("language").value.trim() || undefined,
    detection: $("detection").value || undefined,
    halfDuplex,
    deviceId: $("microphone").value || undefined,
    token: $("token").value.trim() || undefined,
    ...way.options(),
  });
  client.start().catch(() => {}); // the "end" event tells
}

function forgetLastCall() {
  transcript.clear();
  timeline.start();
  heard.parts.length = 0;
  for (const id of ["first-audio", "barge-in"]) showMeasure(id, null);
  $("reason").textContent = "None yet.";
}

client.on("state", ({ state }) => {
  if (state !== "ended") showState(state);
  if (state !== "live") return;
  if (way.isWebRTC) $("connection").textContent = "Connected over WebRTC";
  listMicrophones();
  showSpeaking();
});

client.on("ready", ({ model }) => {
  const badge = $("badge");
  badge.hidden = false;
  const named = Boolean(model?.name);
  badge.dataset.kind = !named ? "unknown" : model.embedded ? "embedded" : "google";
  if (!named) badge.textContent = "the gateway does not say where audio goes";
  else if (model.embedded) badge.textContent = "embedded model \u2013 nothing leaves this machine";
  else badge.textContent = `audio goes to Google (${model.name})`;
});

client.on("end", ({ reason, message, advice, normal }) => {
  if (way.fallsBack(reason)) {
    call();
    showNotice("warning", "No call could be made over WebRTC.", "This one goes over the WebSocket.");
    return;
  }
  showState(normal ? "ended" : "failed");
  speaking.caller = speaking.model = false;
  showSpeaking();
  setLevel("caller", 0);
  setLevel("model", 0);
  timeline.stop();
  if (playing) $("reason").textContent = REASONS[reason] ?? REASONS.call_over;
  playing = false;
  if (reason === "caller_hung_up") hideNotice();
  else showNotice(normal ? "info" : "error", message, advice);
});

// --- notices ---

function showNotice(kind, message, advice) {
  clearTimeout(warningTimer);
  $("notice").dataset.kind = kind;
  $("notice-message").textContent = message;
  $("notice-advice").textContent = advice;
  $("notice").hidden = false;
}

function hideNotice() {
  clearTimeout(warningTimer);
  $("notice").hidden = true;
}

client.on("error", ({ message, advice, fatal }) => {
  if (!fatal) showNotice("warning", message, advice); // of a fatal one, "end" tells
});

client.on("warning", () => {
  showNotice(
    "warning",
    "The microphone seems to hear the loudspeaker.",
    "Use headphones, turn the volume down, or use loudspeaker mode.",
  );
  warningTimer = setTimeout(hideNotice, HIDE_WARNING_MS);
});

// --- the conversation ---

const REASONS = {
  complete: "Finished.",
  interrupted: "You interrupted.",
  model_lost: "The model was lost.",
  call_over: "The call ended.",
};

client.on("speech", ({ state }) => {
  speaking.caller = state === "start";
  showSpeaking();
});

client.on("playout", ({ playing }) => {
  speaking.model = playing;
  showSpeaking();
});

client.on("turn", ({ state, generation, reason }) => {
  playing = state !== "end";
  if (state === "start") $("reason").textContent = "Playing now.";
  if (state === "pause") $("reason").textContent = "Paused: was that you?";
  if (state === "resume") $("reason").textContent = "Going on: that was only a noise.";
  if (state !== "end") return;
  $("reason").textContent = REASONS[reason] ?? "Ended.";
  if (reason === "interrupted") transcript.cut(generation, "You interrupted here.");
  if (reason === "model_lost") transcript.cut(generation, "The model was lost here.");
});

client.on("clear", () => timeline.cut());
client.on("transcript", (fragment) => transcript.add(fragment));
client.on("transfer", ({ to }) => transcript.note(`The call is given to ${to || "somebody else"}.`));
client.on("tool_call", ({ name }) => transcript.note(`The model asks this page for ${name}.`));
new Typing(client, $("say"), (text) => transcript.add({ who: "caller", text, final: true, generation: null }));
new Keypad(client, $("keys"), $("pressed"), () => modes.isPrivate);

// What this page can do for the model, where the gateway is configured to offer it.
function getTime() {
  const now = new Date();
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return { time: now.toLocaleTimeString(), date: now.toDateString(), timeZone };
}

client.on("net_graph", ({ svg }) => net.show(svg));
client.on("net", (event) => net.mark(event));

// --- levels ---

function setLevel(who, value) {
  levels[who] = value;
  $(`${who}-level`).style.setProperty("--level", value.toFixed(3));
}

client.on("level", ({ who, rms, atMs }) => {
  timeline.level(who, atMs, rms);
  setLevel(who, Math.max(loudness(rms), levels[who] * METER_FALL));
  const loudest = body.dataset.speaking === "model" ? levels.model : levels.caller;
  $("talk").style.setProperty("--level", loudest.toFixed(3));
});

// --- measures ---

const MEASURES = { first_audio: "first-audio", barge_in: "barge-in" };

function showMeasure(id, ms) {
  $(id).textContent = ms === null ? "\u2013" : `${ms} ms`;
  $(id).dataset.empty = String(ms === null);
}

client.on("latency", ({ kind, ms }) => showMeasure(MEASURES[kind], ms));

// --- microphone and mute ---

async function listMicrophones() {
  const select = $("microphone");
  const chosen = select.value;
  const list = await VoiceClient.microphones().catch(() => []);
  const options = list
    .filter(({ deviceId }) => deviceId !== "default")
    .map(({ deviceId, label }, i) => new Option(label || `Microphone ${i + 1}`, deviceId));
  select.replaceChildren(new Option("Default microphone", ""), ...options);
  select.value = options.some((o) => o.value === chosen) ? chosen : "";
}

$("microphone").addEventListener("change", async ({ target }) => {
  try {
    await client.setMicrophone(target.value);
  } catch (error) {
    showNotice("warning", error.message, error.advice);
  }
});
navigator.mediaDevices?.addEventListener("devicechange", listMicrophones);

client.on("mute", ({ on }) => {
  $("mute").setAttribute("aria-pressed", String(on));
  $("mute-label").textContent = on ? "Unmute" : "Mute";
  if (on) speaking.caller = false;
  showSpeaking();
});

// --- buttons and keys ---

$("talk").addEventListener("click", toggleCall);
$("mute").addEventListener("click", () => client.mute(!client.muted));
$("notice-close").addEventListener("click", hideNotice);
$("net-drawing").addEventListener("click", () => !$("net").classList.contains("large") && $("net-size").click());
$("net-size").addEventListener("click", () => {
  const large = $("net").classList.toggle("large");
  $("net-size").setAttribute("aria-pressed", String(large));
  $("net-size").textContent = large ? "Close" : "Enlarge";
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const interactive = event.target.closest("a, button, input, select, summary, textarea");
  const isTalkKey = event.key === " " || event.key === "Enter";
  if (event.repeat && isTalkKey && interactive) event.preventDefault(); // a held key would call and hang up in turns
  if (event.repeat) return;
  if (event.key === "Escape" && $("net").classList.contains("large")) $("net-size").click();
  const typing = event.target.closest("input, select, textarea");
  if (event.key.toLowerCase() === "m" && !typing) client.mute(!client.muted);
  if (event.key.toLowerCase() === "h" && !typing) modes.toggleHold();
  if (isTalkKey && !interactive) {
    event.preventDefault();
    if (event.key === " " && push.wanted) push.hold(true);
    else toggleCall();
  }
});

document.addEventListener("keyup", ({ key }) => key === " " && push.hold(false));

addEventListener("pagehide", () => client.end());

// --- the lines to copy ---

const SNIPPET = `<button id="talk">Talk</button>
<script type="module">
  import { VoiceClient } from "${new URL("./client.js", location.href).href}";
  const call = new VoiceClient({ url: "${URL_OF_VOICE.replace(/^http/, "ws")}" });
  talk.onclick = () => (call.state === "live" ? call.end() : call.start());</script>`;
$("snippet").textContent = SNIPPET;

$("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(SNIPPET);
    $("copy").textContent = "Copied";
  } catch {
    getSelection().selectAllChildren($("snippet"));
    $("copy").textContent = "Selected";
  }
  setTimeout(() => ($("copy").textContent = "Copy"), 2_000);
});

// --- for tests and the curious ---

client.on("tap", ({ pcm, rate }) => {
  heard.rate = rate;
  if (heard.parts.length < TAP_MAX) heard.parts.push(pcm);
});

for (const type of [
  "state",
  "ready",
  "speech",
  "turn",
  "transcript",
  "clear",
  "ack",
  "playout",
  "latency",
  "warning",
  "error",
  "end",
  "mute",
  "hold",
  "consent",
  "protected",
  "model",
  "transfer",
  "tool_call",
  "tool_result",
  "tool_cancel",
]) {
  client.on(type, (detail) => {
    log.push({ type, at: Math.round(performance.now()), ...detail });
    if (log.length > 500) log.shift();
  });
}

// What the playout worklet put out since the call began, as {rate, base64} of 16-bit little-endian mono PCM.
function heardSoFar() {
  const total = heard.parts.reduce((n, pcm) => n + pcm.byteLength, 0);
  const bytes = new Uint8Array(total);
  let at = 0;
  for (const pcm of heard.parts) {
    bytes.set(new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength), at);
    at += pcm.byteLength;
  }
  let text = "";
  for (let i = 0; i < total; i += 8_192) text += String.fromCharCode(...bytes.subarray(i, i + 8_192));
  return { rate: heard.rate, base64: btoa(text) };
}
heardSoFar.parts = () => heard.parts.length; // of 100 ms

/**
 * window.voicegw: `client` the VoiceClient, `stats()` its counters, `log` the last 500 events, and with ?tap=1
 * `heard()` what was played, `heard.parts()` how many parts of 100 ms that is.
 */
window.voicegw = { client, log, stats: () => client.stats, heard: heardSoFar };

if (!isSecureContext) {
  const { message, advice } = await import("./messages.js").then((m) => m.explain("insecure_context"));
  showNotice("error", message, advice);
}
listMicrophones();
