// The page: one VoiceClient, and the views that show its events.

import { VoiceClient, VoiceError } from "../client/index.js";
import { CallControls } from "./call-controls.js";
import { CallModes } from "./call-modes.js";
import { DebugLog } from "./debug-log.js";
import { DeviceList } from "./device-list.js";
import { byId, metaURL } from "./elements.js";
import { showSnippet } from "./embed-snippet.js";
import { Keypad } from "./keypad.js";
import { Meters } from "./meters.js";
import { showModel } from "./model-badge.js";
import { NetView } from "./net-view.js";
import { Notice } from "./notice.js";
import { PushToTalk } from "./push-to-talk.js";
import { ReplyStatus } from "./reply-status.js";
import { SettingsForm } from "./settings-form.js";
import { addShortcuts } from "./shortcuts.js";
import { SpeakingStatus } from "./speaking-status.js";
import { TextInput } from "./text-input.js";
import { Timeline } from "./timeline.js";
import { TranscriptView } from "./transcript-view.js";
import { TransportChoice } from "./transport-choice.js";

const ECHO_WARNING_MS = 30_000;

const query = new URLSearchParams(location.search);
const urls = { websocket: metaURL("voicegw-path"), webrtc: metaURL("voicegw-webrtc-path") };
const client = new VoiceClient({
  url: urls.websocket,
  showNet: query.get("net") !== "0",
  raw: query.get("raw") === "1",
  tap: query.get("tap") === "1",
  tools: { get_time: getTime },
});

// --- the views; those that show the same element come in the order in which they write it ---

const notice = new Notice();
const settings = new SettingsForm();
const transport = new TransportChoice(client, byId("transport", HTMLSelectElement), urls);
const onRefused = (/** @type {string} */ message, /** @type {string} */ advice) => notice.show("warning", message, advice);
const microphones = new DeviceList(
  client,
  byId("microphone", HTMLSelectElement),
  { name: "Microphone", list: VoiceClient.microphones, choose: (id) => client.setMicrophone(id) },
  onRefused,
);
const outputs = new DeviceList(
  client,
  byId("output", HTMLSelectElement),
  { name: "Loudspeaker", list: VoiceClient.outputs, choose: (id) => client.setOutput(id) },
  onRefused,
);
const volume = byId("volume", HTMLInputElement);
volume.addEventListener("input", () => client.setVolume(volume.valueAsNumber / 100));
const modes = new CallModes(client, {
  banner: byId("mode", HTMLElement),
  hold: byId("hold", HTMLButtonElement),
  question: byId("consent", HTMLElement),
  agree: byId("agree", HTMLElement),
  decline: byId("decline", HTMLElement),
});
const push = new PushToTalk(client, byId("push", HTMLButtonElement));
const controls = new CallControls(client, transport, () => {
  notice.hide();
  call();
});
let isHalfDuplex = false; // of this call
new SpeakingStatus(client, modes, push, () => isHalfDuplex);
const reply = new ReplyStatus(client);
const meters = new Meters();
const timeline = new Timeline(byId("timeline", HTMLCanvasElement));
const transcript = new TranscriptView(byId("transcript", HTMLElement));
const net = new NetView({
  panel: byId("net", HTMLElement),
  viewer: byId("net-viewer", HTMLElement),
  tools: byId("net-tools", HTMLElement),
  size: byId("net-size", HTMLElement),
  board: byId("board", HTMLElement),
});
new TextInput(client, byId("say", HTMLFormElement));
new Keypad(client, byId("keys", HTMLElement), byId("pressed", HTMLOutputElement), () => modes.isPrivate);
addShortcuts({ controls, modes, push, net });
showSnippet(urls.websocket);

// --- the call ---

function call() {
  timeline.start();
  reply.reset();
  debug.reset();
  const devices = { deviceId: microphones.deviceId, outputId: outputs.deviceId };
  const options = { ...settings.options(), ...transport.options(), ...devices };
  isHalfDuplex = options.halfDuplex ?? false;
  client.configure(options);
  client.start().catch(() => {}); // the event "end" reports it
}

client.on("end", ({ reason, message, advice, normal }) => {
  if (transport.fallBack(reason)) {
    call();
    notice.show("warning", "No call could be made over WebRTC.", "This one goes over the WebSocket.");
    return;
  }
  controls.showEnd(normal);
  net.over();
  meters.reset();
  timeline.stop();
  reply.close(reason);
  if (reason === "caller_hung_up") notice.hide();
  else notice.show(normal ? "info" : "error", message, advice);
});

client.on("error", ({ message, advice, fatal }) => {
  if (!fatal) notice.show("warning", message, advice); // "end" reports a fatal one
});

client.on("warning", () => {
  const advice = "Use headphones, turn the volume down, or use loudspeaker mode.";
  notice.warnFor("The microphone seems to hear the loudspeaker.", advice, ECHO_WARNING_MS);
});

client.on("ready", ({ model }) => showModel(byId("badge", HTMLElement), model));
client.on("level", ({ who, rms, atMs }) => {
  timeline.level(who, atMs, rms);
  meters.level(who, rms);
});
client.on("clear", () => timeline.cut());
client.on("net_graph", ({ svg }) => net.show(svg));
client.on("net", (event) => net.mark(event));

// --- the transcript ---

client.on("turns", ({ changed }) => transcript.show(changed));
client.on("transfer", ({ to }) => transcript.note(`The call is transferred to ${to || "somebody else"}.`));
client.on("tool_call", ({ name }) => transcript.note(`The model asks this page for ${name}.`));

// A tool of this page, where the gateway's configuration offers it to the model.
function getTime() {
  const now = new Date();
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return { time: now.toLocaleTimeString(), date: now.toDateString(), timeZone };
}

addEventListener("pagehide", () => client.end());

const debug = new DebugLog(client);
Object.assign(window, { voicegw: debug.inspector });

if (!isSecureContext) {
  const { message, advice } = new VoiceError("insecure_context");
  notice.show("error", message, advice);
}
