// One call, from the press of the button to the release of the microphone.

import { Latency } from "./latency.js";
import { connectWebSocket } from "./link.js";
import { VoiceError, explain, isNormal } from "./messages.js";
import { decode, hello } from "./protocol.js";
import { SelfHearing } from "./selfhearing.js";
import { Sound } from "./sound.js";
import { Tools } from "./tools.js";

const BLOCK_MS = 20;
const READY_TIMEOUT_MS = 30_000; // for the model behind it
const BYE_TIMEOUT_MS = 2_000; // for the gateway to close after a bye
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

/** Owns the sound and the link of one call, and says what happens by `emit(type, detail)`. */
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
  #onReady; // resolves ready
  #abort; // rejects ready
  #ended = false;
  #hungUp = false;
  #bye = null; // {reason, said}: the last words, ours or the server's
  #sound;
  #tools;
  #link = null;
  #linking = new AbortController(); // gives up connecting
  #stands = false; // ready came
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
    mark: (call, { id, generation }) => call.#sound.play({ mark: id, generation }),
    net: (call, event) => call.#onNet(event),
    net_graph: (call, event) => call.#emit("net_graph", { svg: event.svg }),
    tool_call: (call, event) => call.#onToolCall(event),
    tool_cancel: (call, event) => call.#onToolCancel(event),
    hold: (call, { state }) => call.#onMode("hold", { on: state === "start" }),
    consent: (call, { state }) => call.#onMode("consent", { asked: state === "start" }),
    protected: (call, { state }) => call.#onMode("protected", { on: state === "start" }),
    model: (call, { state }) => call.#emit("model", { state }),
    transfer: (call, { to }) => call.#emit("transfer", { to: to ?? "" }),
    error: (call, event) => call.#onError(event),
    bye: (call, event) => call.#onBye(event),
  };

  static #reports = {
    ack: (call, report) => call.#onAck(report),
    start: (call, report) => call.#onPlayoutStart(report),
    audible: (call, report) => call.#onAudible(report),
    stop: (call, report) => call.#onPlayoutStop(report),
    level: (call, report) => call.#onLevel(report),
    tap: (call, report) => call.#emit("tap", { ...report, rate: call.#sound.rate }),
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
    this.#tools = new Tools(options, (event) => this.#send(event), emit);
    this.#sound = new Sound(options, muted, {
      block: (block) => this.#onBlock(block),
      report: (report) => Call.#reports[report.kind](this, report),
      microphone: (detail) => this.#onMicrophone(detail),
      gone: () => this.#onMicrophoneGone(),
    });
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
    this.#tools.stop();
    this.#sound.close();
    if (this.#link?.open) this.#after(BYE_TIMEOUT_MS, () => this.#close(this.#bye));
    else this.#close(this.#bye);
  }

  /** @param {boolean} on */
  mute(on) {
    this.#muted = on;
    if (on) this.#latency.forget();
    this.#sound.mute(on);
    this.#saySilence();
    if (on) this.#emit("level", { who: "caller", rms: 0, atMs: this.#sound.nowMs });
  }

  /** Says an event of the protocol; false when there is nobody to hear it. */
  say(event) {
    if (!this.#stands || this.#ended || this.#hungUp || !this.#link.open) return false;
    if (event.type === "text" || event.type === "dtmf") this.#latency.typed();
    this.#send(event);
    return true;
  }

  /** Changes the microphone; rejects with a VoiceError and keeps the old one when it cannot be had. */
  async setMicrophone(deviceId) {
    if (!(await this.#sound.setMicrophone(deviceId))) return;
    await this.#link?.setStream(this.#sound.stream);
    this.#saySilence();
  }

  // --- the start ---

  async #start() {
    try {
      if (!(await this.#sound.open())) throw new VoiceError("caller_hung_up");
      this.#stats.contextRate = this.#sound.rate;
      const token = await tokenOf(this.#options);
      await this.#connect(token);
      return await this.#agree(token);
    } catch (cause) {
      throw cause instanceof VoiceError ? cause : new VoiceError("audio_failed", undefined, { cause });
    }
  }

  // The one place where a protocol is chosen.
  async #connect(token) {
    const { connect = connectWebSocket, url } = this.#options;
    const { signal } = this.#linking;
    if (signal.aborted) throw new VoiceError("caller_hung_up");
    const link = await connect(
      { url, token, signal, stream: this.#sound.stream },
      {
        text: (text) => this.#ended || this.#onText(text),
        audio: (pcm) => this.#ended || this.#onAudio(pcm),
        closed: (reason) => this.#close(this.#bye ?? { reason }),
      },
    );
    if (this.#ended) link.close();
    else this.#link = link;
  }

  #agree(token) {
    return new Promise((resolve, reject) => {
      const timer = this.#after(READY_TIMEOUT_MS, () => reject(new VoiceError("no_ready")));
      this.#onReady = (ready) => {
        clearTimeout(timer);
        resolve(ready);
      };
      this.#send(hello(this.#link?.rate ?? this.#sound.rate, { ...this.#options, token }));
    });
  }

  #stand(ready) {
    if (this.#stands || !this.#onReady) return; // a second ready, or one before hello, changes nothing
    this.#stands = true;
    Object.assign(this.#stats, { call: ready.call, inputRate: ready.input_rate, outputRate: ready.output_rate });
    this.#link.accept(ready);
    if (this.#link.remote) this.#sound.startRemote(this.#link.remote);
    else this.#sound.startPCM(ready.input_rate, ready.output_rate);
    if (this.#muted) this.#saySilence();
    this.#emit("ready", ready);
    this.#onReady(ready);
  }

  // --- what the microphone hears ---

  #onMicrophone(detail) {
    this.#microphoneGone = false;
    this.#emit("microphone", detail);
  }

  #onMicrophoneGone() {
    this.#microphoneGone = true;
    this.#saySilence();
    this.#emit("error", { code: "mic_lost", fatal: false, ...explain("mic_lost") });
  }

  #onBlock({ pcm, rms, at, wallMs }) {
    if (this.#muted || !this.#link.open) return;
    const atMs = this.#sound.ms(at);
    this.#latency.block(atMs, rms, BLOCK_MS);
    if (this.#selfHearing.caller(atMs, rms)) this.#warn();
    this.#emit("level", { who: "caller", rms, atMs });
    if (!pcm) return; // it goes by itself
    const { sent, dropped, stalled } = this.#link.sendAudio(pcm, wallMs, Date.now());
    this.#stats.framesSent = sent;
    this.#stats.micDropped = dropped;
    if (stalled) this.#close({ reason: "server_lost" });
  }

  #warn() {
    this.#stats.selfHearing++;
    this.#emit("warning", { code: "hears_itself" });
  }

  // Tells the server whether anything will come from the microphone, and again while nothing will.
  #saySilence() {
    clearTimeout(this.#silentTimer);
    if (!this.#stands) return;
    const silent = this.#muted || this.#microphoneGone;
    this.#send({ type: "mute", on: silent });
    if (silent) this.#silentTimer = this.#after(MUTED_EVERY_MS, () => this.#saySilence());
  }

  // --- what the server says ---

  #onText(text) {
    let event;
    try {
      event = decode(text);
    } catch (error) {
      this.#stats.badEvents++;
      this.#stats.lastBadEvent = error.message;
      return;
    }
    if (event.type === "ready") this.#stand(event);
    else if (Object.hasOwn(Call.#events, event.type)) Call.#events[event.type](this, event);
    else this.#stats.unknownEvents++;
  }

  #onAudio(pcm) {
    if (this.#hungUp) return;
    if (!this.#stands || pcm.byteLength % 2 !== 0) {
      this.#stats.badEvents++;
      return;
    }
    this.#stats.framesReceived++;
    this.#sound.play({ audio: pcm, generation: this.#generation }, [pcm]);
  }

  #onSpeech({ state }) {
    this.#latency.speech(state);
    this.#emit("speech", { state });
  }

  #onMode(mode, detail) {
    this.#latency.forget(); // how long it lasted is no latency
    this.#emit(mode, detail);
  }

  #onTurn({ state, generation, reason, heard_ms }) {
    if (state === "start" || state === "resume") {
      this.#generation = generation;
      this.#sound.expect(generation);
    }
    if (state === "start") this.#stats.turns++;
    if (state === "resume") this.#stats.resumes++;
    if (state === "end") this.#onTurnEnd(generation, reason);
    this.#emit("turn", { state, generation, reason: reason ?? null, heardMs: heard_ms ?? null });
  }

  #onTurnEnd(generation, reason) {
    const interrupted = reason === "interrupted";
    if (interrupted) this.#stats.interruptions++;
    this.#bargedIn(this.#latency.ended(generation, reason), generation);
    if (this.#selfHearing.replyEnded(this.#sound.nowMs, interrupted)) this.#warn();
  }

  #onTranscript({ who, text, final, generation }) {
    this.#emit("transcript", { who, text, final: Boolean(final), generation: generation ?? null });
  }

  #onClear({ generation }) {
    this.#sound.clear(generation);
    this.#emit("clear", { generation });
  }

  #onToolCall({ id, name, args }) {
    this.#emit("tool_call", { id, name, args: args ?? {} });
    this.#tools.call({ id, name, args });
  }

  #onToolCancel({ id }) {
    this.#tools.cancel(id);
    this.#emit("tool_cancel", { id });
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
    this.#selfHearing.replyStarted(this.#sound.ms(at));
    this.#setPlaying(true, generation);
  }

  #onAudible({ generation, at }) {
    const ms = this.#latency.audible(generation, this.#sound.ms(at));
    if (ms !== null) this.#measured("first_audio", this.#stats.firstAudioMs, ms, generation);
  }

  #onPlayoutStop({ generation, cause, lastAudible, dropped, underruns }) {
    this.#stats.underruns = underruns;
    if (cause === "clear") {
      this.#stats.clears++;
      this.#stats.framesCleared += Math.ceil(this.#sound.ms(dropped) / BLOCK_MS);
      this.#bargedIn(this.#latency.cleared(generation, this.#sound.ms(lastAudible)), generation);
    }
    this.#setPlaying(false, generation);
  }

  #onLevel({ rms, at }) {
    const atMs = this.#sound.ms(at);
    this.#selfHearing.model(atMs, rms);
    this.#emit("level", { who: "model", rms, atMs });
  }

  #setPlaying(playing, generation) {
    if (this.#playing === playing) return;
    this.#playing = playing;
    this.#emit("playout", { playing, generation });
  }

  #bargedIn(ms, generation) {
    if (ms !== null) this.#measured("barge_in", this.#stats.bargeInSilenceMs, ms, generation);
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
    this.#linking.abort();
    this.#tools.stop();
    this.#sound.close();
    this.#setPlaying(false, this.#generation);
    this.#link?.close();
    this.#abort(new VoiceError(reason, said));
    this.#finish({ reason, ...explain(reason, said), normal: isNormal(reason) });
  }

  #send(event) {
    this.#link?.send(JSON.stringify(event));
  }

  #after(ms, then) {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      then();
    }, ms);
    this.#timers.add(timer);
    return timer;
  }
}

// The token of a call: as given, or as a function of the page gets it, anew for each call.
async function tokenOf({ token }) {
  try {
    return (typeof token === "function" ? await token() : token) || undefined;
  } catch (cause) {
    throw new VoiceError("no_token", undefined, { cause });
  }
}
