// One call, from the press of the button to the release of the microphone.

import { Latency } from "./latency.js";
import { VoiceError, closeReason, explain, isNormal } from "./messages.js";
import { openMicrophone } from "./microphone.js";
import { SUBPROTOCOL, decode, hello } from "./protocol.js";
import { SelfHearing } from "./selfhearing.js";
import { Uplink } from "./uplink.js";
import { loadWorklets } from "./worklets.js";

const BLOCK_MS = 20;
const OPEN_TIMEOUT_MS = 10_000; // for the socket
const READY_TIMEOUT_MS = 30_000; // for the model behind it
const BYE_TIMEOUT_MS = 2_000; // for the gateway to close after a bye
const PROBE_TIMEOUT_MS = 3_000;
const MUTED_EVERY_MS = 20_000; // a silent client says so again: the gateway ends a call that says nothing for 60 s
const KEPT_MAX = 1_000; // measured latencies of one kind

/** The counters of a call, described in client.d.ts. */
export function newStats() {
  return {
    call: "",
    contextRate: 0,
    inputRate: 0,
    outputRate: 0,
    framesSent: 0,
    framesReceived: 0,
    framesCleared: 0,
    micDropped: 0,
    acks: 0,
    playedMs: 0,
    turns: 0,
    resumes: 0,
    clears: 0,
    interruptions: 0,
    underruns: 0,
    selfHearing: 0,
    unknownEvents: 0,
    badEvents: 0,
    lastBadEvent: "",
    firstAudioMs: [],
    bargeInSilenceMs: [],
    closed: "",
  };
}

/** Owns the microphone, the audio context and the socket of one call, and says what happens by `emit(type, detail)`. */
export class Call {
  /** Resolves with the gateway's ready; rejects with a VoiceError when the call ends before. */
  ready;
  /** Resolves with {reason, message, advice, normal} when everything is released. */
  over;

  #options;
  #stats;
  #emit;
  #muted;
  #microphoneGone = false;
  #finish; // resolves over
  #abort; // rejects ready
  #ended = false;
  #hungUp = false;
  #bye = null; // {reason, said}: the last words, ours or the server's
  #context = null;
  #stream = null;
  #source = null;
  #capture = null;
  #playout = null;
  #socket = null;
  #uplink = null;
  #generation = 0; // of the audio that arrives now
  #playing = false;
  #latency = new Latency();
  #selfHearing = new SelfHearing();
  #timers = new Set();
  #silentTimer = 0;

  static #events = {
    speech: (call, event) => call.#onSpeech(event),
    turn: (call, event) => call.#onTurn(event),
    transcript: (call, event) => call.#onTranscript(event),
    clear: (call, event) => call.#onClear(event),
    mark: (call, event) => call.#playout?.port.postMessage({ mark: event.id, generation: event.generation }),
    net: (call, event) => call.#onNet(event),
    net_graph: (call, event) => call.#emit("net_graph", { svg: event.svg }),
    tool_call: (call, event) => call.#emit("tool_call", event),
    error: (call, event) => call.#onError(event),
    bye: (call, event) => call.#onBye(event),
  };

  static #reports = {
    ack: (call, report) => call.#onAck(report),
    start: (call, report) => call.#onPlayoutStart(report),
    audible: (call, report) => call.#onAudible(report),
    stop: (call, report) => call.#onPlayoutStop(report),
    level: (call, report) => call.#onLevel(report),
    tap: (call, report) => call.#emit("tap", { ...report, rate: call.#context.sampleRate }),
    overrun: (call) => call.#close({ reason: "overrun" }),
  };

  /**
   * Starts at once.
   * @param {import("./client.js").VoiceOptions} options with an absolute url
   * @param {boolean} muted
   * @param {ReturnType<typeof newStats>} stats kept up to date by the call
   * @param {(type: string, detail: object) => void} emit
   */
  constructor(options, muted, stats, emit) {
    this.#options = options;
    this.#muted = muted;
    this.#stats = stats;
    this.#emit = emit;
    this.over = new Promise((resolve) => (this.#finish = resolve));
    const aborted = new Promise((_, reject) => (this.#abort = reject));
    this.ready = Promise.race([this.#start(), aborted]);
    this.ready.catch((error) => this.#fail(error));
  }

  /** Says goodbye, falls silent at once and closes when the server did, or after two seconds. */
  hangUp() {
    if (this.#ended || this.#hungUp) return;
    this.#hungUp = true;
    this.#bye = { reason: "caller_hung_up" };
    this.#send({ type: "bye", reason: "caller_hung_up" });
    this.#releaseAudio();
    if (this.#socket?.readyState === WebSocket.OPEN) this.#after(BYE_TIMEOUT_MS, () => this.#close(this.#bye));
    else this.#close(this.#bye);
  }

  /** @param {boolean} on */
  mute(on) {
    this.#muted = on;
    for (const track of this.#stream?.getAudioTracks() ?? []) track.enabled = !on;
    this.#saySilence();
    if (on) this.#emit("level", { who: "caller", rms: 0, atMs: this.#nowMs() });
  }

  /** Changes the microphone; rejects with a VoiceError and keeps the old one when it cannot be had. */
  async setMicrophone(deviceId) {
    const stream = await openMicrophone({ ...this.#options, deviceId });
    if (this.#ended) {
      stopTracks(stream);
      return;
    }
    this.#useStream(stream);
    this.#saySilence();
  }

  // --- the start ---

  async #start() {
    try {
      await this.#openAudio();
      await this.#openSocket();
      return await this.#agree();
    } catch (cause) {
      throw cause instanceof VoiceError ? cause : new VoiceError("audio_failed", undefined, { cause });
    }
  }

  // The context is made before anything is awaited: only then does a click count as permission to play.
  async #openAudio() {
    if (globalThis.AudioContext) this.#context = new AudioContext({ latencyHint: "interactive" });
    const stream = await openMicrophone(this.#options);
    if (this.#ended) {
      stopTracks(stream);
      throw new VoiceError("caller_hung_up");
    }
    this.#useStream(stream);
    this.#stats.contextRate = this.#context.sampleRate;
    await Promise.all([this.#context.resume(), loadWorklets(this.#context)]);
    this.#context.onstatechange = () => this.#keepRunning();
  }

  // A phone call or a locked screen may suspend the context.
  #keepRunning() {
    if (!this.#ended && !this.#hungUp && this.#context.state !== "running") this.#context.resume().catch(() => {});
  }

  #useStream(stream) {
    if (this.#stream) stopTracks(this.#stream);
    this.#stream = stream;
    this.#microphoneGone = false;
    const [track] = stream.getAudioTracks();
    track.enabled = !this.#muted;
    track.addEventListener("ended", () => this.#onMicrophoneGone(stream));
    this.#source?.disconnect();
    this.#source = new MediaStreamAudioSourceNode(this.#context, { mediaStream: stream });
    if (this.#capture) this.#source.connect(this.#capture);
    this.#emit("microphone", { label: track.label, deviceId: track.getSettings().deviceId ?? "" });
  }

  #onMicrophoneGone(stream) {
    if (this.#ended || stream !== this.#stream) return;
    this.#microphoneGone = true;
    this.#saySilence();
    this.#emit("error", { code: "mic_lost", fatal: false, ...explain("mic_lost") });
  }

  #openSocket() {
    if (this.#ended) throw new VoiceError("caller_hung_up");
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(this.#options.url, SUBPROTOCOL);
      socket.binaryType = "arraybuffer";
      this.#socket = socket;
      const timer = this.#after(OPEN_TIMEOUT_MS, () => reject(new VoiceError("server_gone")));
      socket.onopen = () => {
        clearTimeout(timer);
        resolve();
      };
      socket.onclose = async () => reject(new VoiceError(await whyRefused(this.#options.url)));
    });
  }

  #agree() {
    return new Promise((resolve, reject) => {
      const timer = this.#after(READY_TIMEOUT_MS, () => reject(new VoiceError("no_ready")));
      const onReady = (ready) => {
        clearTimeout(timer);
        resolve(ready);
      };
      this.#socket.onmessage = ({ data }) => this.#receive(data, onReady);
      this.#socket.onclose = ({ code }) => this.#close(this.#bye ?? { reason: closeReason(code) });
      this.#send(hello(this.#context.sampleRate, this.#options));
    });
  }

  #stand(ready, onReady) {
    if (this.#capture) return; // a second ready changes nothing
    Object.assign(this.#stats, { call: ready.call, inputRate: ready.input_rate, outputRate: ready.output_rate });
    this.#uplink = new Uplink(this.#socket, ready.input_rate);
    this.#startPlayout(ready.output_rate);
    this.#startCapture(ready.input_rate);
    if (this.#muted) this.#saySilence();
    this.#emit("ready", ready);
    onReady(ready);
  }

  #startPlayout(rate) {
    const processorOptions = { rate, tap: Boolean(this.#options.tap) };
    const node = new AudioWorkletNode(this.#context, "voicegw-playout", {
      numberOfInputs: 0,
      outputChannelCount: [1],
      processorOptions,
    });
    node.port.onmessage = ({ data }) => this.#onReports(data);
    node.connect(this.#context.destination);
    this.#playout = node;
  }

  // The capture node writes silence to the destination: a node that leads nowhere is never asked for samples.
  #startCapture(rate) {
    const node = new AudioWorkletNode(this.#context, "voicegw-capture", { processorOptions: { rate } });
    node.port.onmessage = ({ data }) => this.#onBlock(data);
    node.connect(this.#context.destination);
    this.#source.connect(node);
    this.#capture = node;
  }

  // --- what the microphone hears ---

  #onBlock({ pcm, rms, at, wallMs }) {
    if (this.#hungUp || this.#muted || this.#socket.readyState !== WebSocket.OPEN) return;
    const atMs = this.#ms(at);
    this.#latency.block(atMs, rms, BLOCK_MS);
    if (this.#selfHearing.caller(atMs, rms)) this.#warn();
    const now = Date.now();
    this.#uplink.push(pcm, wallMs, now);
    this.#stats.framesSent = this.#uplink.sent;
    this.#stats.micDropped = this.#uplink.dropped;
    this.#emit("level", { who: "caller", rms, atMs });
    if (this.#uplink.stalled(now)) this.#close({ reason: "server_lost" });
  }

  #warn() {
    this.#stats.selfHearing++;
    this.#emit("warning", { code: "hears_itself" });
  }

  // Tells the server whether anything will come from the microphone, and again while nothing will.
  #saySilence() {
    clearTimeout(this.#silentTimer);
    if (!this.#uplink) return;
    const silent = this.#muted || this.#microphoneGone;
    this.#send({ type: "mute", on: silent });
    if (silent) this.#silentTimer = this.#after(MUTED_EVERY_MS, () => this.#saySilence());
  }

  // --- what the server says ---

  #receive(data, onReady) {
    if (this.#hungUp && data instanceof ArrayBuffer) return;
    if (data instanceof ArrayBuffer) {
      this.#onAudio(data);
      return;
    }
    let event;
    try {
      event = decode(data);
    } catch (error) {
      this.#stats.badEvents++;
      this.#stats.lastBadEvent = error.message;
      return;
    }
    if (event.type === "ready") this.#stand(event, onReady);
    else if (Object.hasOwn(Call.#events, event.type)) Call.#events[event.type](this, event);
    else this.#stats.unknownEvents++;
  }

  #onAudio(data) {
    if (!this.#playout || data.byteLength % 2 !== 0) {
      this.#stats.badEvents++;
      return;
    }
    this.#stats.framesReceived++;
    this.#playout.port.postMessage({ audio: data, generation: this.#generation }, [data]);
  }

  #onSpeech({ state }) {
    this.#latency.speech(state);
    this.#emit("speech", { state });
  }

  #onTurn({ state, generation, reason }) {
    if (state === "start" || state === "resume") this.#generation = generation;
    if (state === "start") this.#stats.turns++;
    if (state === "resume") this.#stats.resumes++;
    if (state === "end") this.#onTurnEnd(generation, reason);
    this.#emit("turn", { state, generation, reason: reason ?? null });
  }

  #onTurnEnd(generation, reason) {
    const interrupted = reason === "interrupted";
    if (interrupted) this.#stats.interruptions++;
    const ms = this.#latency.ended(generation, reason);
    if (ms !== null) this.#measured("barge_in", this.#stats.bargeInSilenceMs, ms, generation);
    if (this.#selfHearing.replyEnded(this.#nowMs(), interrupted)) this.#warn();
  }

  #onTranscript({ who, text, final, generation }) {
    this.#emit("transcript", { who, text, final: Boolean(final), generation: generation ?? null });
  }

  #onClear({ generation }) {
    this.#playout?.port.postMessage({ clear: generation });
    this.#emit("clear", { generation });
  }

  #onNet({ at_ms: atMs, fired, marking }) {
    this.#emit("net", { atMs: atMs ?? 0, fired: fired ?? [], marking: marking ?? {} });
  }

  #onError({ code, message, fatal }) {
    if (fatal) this.#bye ??= { reason: code, said: message };
    this.#emit("error", { code, fatal: Boolean(fatal), ...explain(code, message) });
  }

  #onBye({ reason, message }) {
    if (!this.#hungUp) this.#bye = { reason, said: message ?? this.#bye?.said };
    this.#after(BYE_TIMEOUT_MS, () => this.#close(this.#bye));
  }

  // --- what the loudspeaker does ---

  #onReports(list) {
    for (const report of list) {
      if (this.#ended) return;
      Call.#reports[report.kind](this, report);
    }
  }

  #onAck({ generation, played_ms, mark, cleared }) {
    const event = { type: "ack", generation, played_ms };
    if (mark !== undefined) event.mark = mark;
    if (cleared) event.cleared = true;
    this.#send(event);
    this.#stats.acks++;
    this.#stats.playedMs = played_ms;
    this.#emit("ack", { generation, playedMs: played_ms, mark: mark ?? null, cleared: Boolean(cleared) });
  }

  #onPlayoutStart({ generation, at }) {
    this.#latency.started(generation);
    this.#selfHearing.replyStarted(this.#ms(at));
    this.#setPlaying(true, generation);
  }

  #onAudible({ generation, at }) {
    const ms = this.#latency.audible(this.#ms(at));
    if (ms !== null) this.#measured("first_audio", this.#stats.firstAudioMs, ms, generation);
  }

  #onPlayoutStop({ generation, cause, lastAudible, dropped, underruns }) {
    this.#stats.underruns = underruns;
    if (cause === "clear") {
      this.#stats.clears++;
      this.#stats.framesCleared += Math.ceil(this.#ms(dropped) / BLOCK_MS);
      this.#latency.cleared(generation, this.#ms(lastAudible));
    }
    this.#setPlaying(false, generation);
  }

  #onLevel({ rms, at }) {
    const atMs = this.#ms(at);
    this.#selfHearing.model(atMs, rms);
    this.#emit("level", { who: "model", rms, atMs });
  }

  #setPlaying(playing, generation) {
    if (this.#playing === playing) return;
    this.#playing = playing;
    this.#emit("playout", { playing, generation });
  }

  #measured(kind, list, ms, generation) {
    const rounded = Math.round(ms);
    if (list.length < KEPT_MAX) list.push(rounded);
    this.#emit("latency", { kind, ms: rounded, generation });
  }

  // --- the end ---

  #fail({ code, message, advice }) {
    if (this.#ended) return;
    this.#emit("error", { code, message, advice, fatal: true });
    this.#close({ reason: code, said: message });
  }

  // Releases everything, once.
  #close({ reason, said }) {
    if (this.#ended) return;
    this.#ended = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#releaseAudio();
    this.#setPlaying(false, this.#generation);
    if (this.#socket) {
      this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
      this.#socket.close(1000);
    }
    this.#abort(new VoiceError(reason, said));
    this.#finish({ reason, ...explain(reason, said), normal: isNormal(reason) });
  }

  #releaseAudio() {
    if (this.#stream) stopTracks(this.#stream);
    this.#capture?.port.postMessage("close");
    this.#playout?.port.postMessage("close");
    if (this.#context && this.#context.state !== "closed") this.#context.close().catch(() => {});
  }

  #send(event) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(event));
  }

  #after(ms, then) {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      then();
    }, ms);
    this.#timers.add(timer);
    return timer;
  }

  #ms(samples) {
    return (samples * 1000) / this.#context.sampleRate;
  }

  #nowMs() {
    return (this.#context?.currentTime ?? 0) * 1000;
  }
}

function stopTracks(stream) {
  for (const track of stream.getTracks()) track.stop();
}

// A browser does not tell why a socket failed, so the same address is asked without one. Of another origin only that it
// answers can be seen.
async function whyRefused(url) {
  const address = new URL(url.replace(/^ws/, "http"));
  const mode = address.origin === location.origin ? "same-origin" : "no-cors";
  const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
  try {
    const response = await fetch(address, { mode, signal, cache: "no-store", credentials: "omit" });
    return response.status === 503 ? "busy" : "refused";
  } catch {
    return "server_gone";
  }
}
