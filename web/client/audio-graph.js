// The audio graph of one call: the audio context, the microphone with its capture worklet, and the
// playout of replies. It knows nothing of protocols.

import { openMicrophone, trackOf } from "./microphone.js";
import { Output } from "./output.js";
import { RemotePlayout } from "./remote-playout.js";
import { loadWorklets } from "./worklets.js";

/**
 * What an AudioGraph calls. Times are samples of the context. After close it calls nothing.
 * @typedef {object} AudioHandlers
 * @property {(block: Omit<import("./capture-worklet.js").CaptureBlock, "pcm"> & {pcm: ArrayBuffer |
 *   null}) => void} block 20 ms of the microphone. pcm is null when the microphone goes out as a
 *   stream
 * @property {(report: import("./playout-worklet.js").PlayoutReport) => void} report a report of the
 *   playout
 * @property {(detail: {label: string, deviceId: string}) => void} microphone the call uses another
 *   microphone
 * @property {() => void} microphoneLost the microphone was disconnected
 * @property {(error: unknown) => void} outputFailed the call began on the system's loudspeaker,
 *   because the chosen one cannot be used
 */

/** Owns the context, the microphone and the playout of a call. close releases them. */
export class AudioGraph {
  #options;
  #handlers;
  #muted;
  #outputId;
  #volume;
  #closed = false;
  /** @type {AudioContext | null} */
  #context = null;
  /** @type {MediaStream | null} */
  #stream = null; // ours: we stop it
  /** @type {MediaStreamTrack | null} */
  #track = null; // of the microphone
  /** @type {MediaStreamAudioSourceNode | null} */
  #source = null;
  /** @type {AudioWorkletNode | null} */
  #capture = null;
  /** @type {AudioWorkletNode | null} */
  #playout = null;
  /** @type {RemotePlayout | null} */
  #remote = null;
  /** @type {Output | null} */
  #output = null;

  /**
   * @param {import("./index.js").VoiceOptions} options
   * @param {boolean} muted
   * @param {AudioHandlers} handlers
   */
  constructor(options, muted, handlers) {
    this.#options = options;
    this.#muted = muted;
    this.#handlers = handlers;
    this.#outputId = options.outputId ?? "";
    this.#volume = options.volume ?? 1;
  }

  /** Hz of the context; 0 before open. */
  get rate() {
    return this.#context?.sampleRate ?? 0;
  }

  /** The stream of the microphone. */
  get stream() {
    if (!this.#stream) throw new Error("voicegw: read stream: the microphone is not open");
    return this.#stream;
  }

  /** Milliseconds on the clock of the context. */
  get nowMs() {
    return (this.#context?.currentTime ?? 0) * 1000;
  }

  /**
   * The milliseconds of so many samples of the context.
   * @param {number} samples
   */
  ms(samples) {
    return (samples * 1000) / this.rate;
  }

  /**
   * Asks for the microphone and starts the context. Rejects with a VoiceError; false when closed
   * meanwhile.
   */
  async open() {
    const opened = this.setMicrophone(this.#options.microphone ?? this.#options.deviceId); // at once: it takes a browser time
    opened.catch(() => {}); // awaited below, unless something else fails before
    // The context is made before anything is awaited: only then does a click count as permission to
    // play.
    if (globalThis.AudioContext) {
      const context = (this.#context = new AudioContext({ latencyHint: "interactive" }));
      this.#output = new Output(context, this.#volume);
      const chosen = this.#outputId && this.#output.setDevice(this.#outputId).catch((error) => this.#onOutputFailed(error));
      await Promise.all([opened, chosen, context.resume(), loadWorklets(context, this.#options.worklets)]);
      if (!this.#closed) context.onstatechange = () => this.#keepRunning();
    }
    return (await opened) && !this.#closed;
  }

  /**
   * Changes the microphone: another device, or a stream of the page. Rejects with a VoiceError and
   * keeps the old one when the new one cannot be opened; false when closed meanwhile.
   * @param {string | MediaStream | undefined} microphone
   */
  async setMicrophone(microphone) {
    const isDevice = typeof microphone !== "object";
    const stream = await (isDevice ? openMicrophone({ ...this.#options, deviceId: microphone }) : microphone);
    const track = trackOf(stream);
    if (!this.#closed && this.#context) this.#use(this.#context, stream, track, isDevice);
    else if (isDevice) stopTracks(stream);
    return !this.#closed;
  }

  /**
   * Plays on another device. Rejects with a VoiceError and keeps the old one when it cannot.
   * @param {string} deviceId
   */
  async setOutput(deviceId) {
    await Promise.all([this.#output?.setDevice(deviceId), this.#remote?.setDevice(deviceId)]);
    this.#outputId = deviceId;
  }

  /** @param {number} volume 0 to 1 */
  setVolume(volume) {
    this.#volume = volume;
    this.#output?.setVolume(volume);
    this.#remote?.setVolume(volume);
  }

  /**
   * Begins to capture blocks of PCM at inputRate and to play PCM of outputRate.
   * @param {number} inputRate
   * @param {number} outputRate
   */
  startPCM(inputRate, outputRate) {
    const context = this.#running();
    this.#playout = new AudioWorkletNode(context, "voicegw-playout", {
      numberOfInputs: 0,
      outputChannelCount: [1],
      processorOptions: { rate: outputRate, tap: Boolean(this.#options.tap) },
    });
    this.#playout.port.onmessage = ({ data }) => this.#report(data);
    this.#playout.connect(this.#output?.node ?? context.destination);
    this.#startCapture(context, inputRate, (block) => block);
  }

  /**
   * Plays a stream and measures it. The microphone goes out as a stream too, so blocks have no pcm.
   * @param {MediaStream} stream
   */
  startRemote(stream) {
    const context = this.#running();
    this.#startCapture(context, context.sampleRate, (block) => ({ ...block, pcm: null }));
    const remote = new RemotePlayout(context, stream, Boolean(this.#options.tap), (reports) => this.#report(reports));
    remote.setVolume(this.#volume);
    if (this.#outputId) remote.setDevice(this.#outputId).catch((error) => this.#onOutputFailed(error));
    this.#remote = remote;
  }

  /**
   * Queues audio or a mark for playout. It does nothing while a stream is played: then the gateway
   * does both.
   * @param {import("./playout-worklet.js").PlayoutMessage} message
   * @param {Transferable[]} [transfer]
   */
  play(message, transfer = []) {
    this.#playout?.port.postMessage(message, transfer);
  }

  /**
   * Drops the queued audio of a generation. The gateway has already done so with a stream.
   * @param {number} generation
   */
  clear(generation) {
    this.#remote?.clear();
    this.play({ clear: generation });
  }

  /**
   * A stream carries this generation from now on.
   * @param {number} generation
   */
  expect(generation) {
    this.#remote?.expect(generation);
  }

  /** @param {boolean} on */
  mute(on) {
    this.#muted = on;
    for (const track of this.#stream?.getAudioTracks() ?? []) track.enabled = !on;
  }

  close() {
    this.#closed = true;
    if (this.#stream) stopTracks(this.#stream);
    this.#capture?.port.postMessage("close");
    this.#playout?.port.postMessage("close");
    this.#remote?.close();
    this.#output?.close();
    this.#source?.disconnect(); // from the stream of a page, which goes on
    if (this.#context && this.#context.state !== "closed") this.#context.close().catch(() => {});
  }

  #running() {
    if (!this.#context) throw new Error("voicegw: start audio: there is no audio context");
    return this.#context;
  }

  /**
   * @param {AudioContext} context
   * @param {number} rate
   * @param {(block: import("./capture-worklet.js").CaptureBlock) =>
   *   Parameters<AudioHandlers["block"]>[0]} shape
   */
  #startCapture(context, rate, shape) {
    const capture = new AudioWorkletNode(context, "voicegw-capture", { processorOptions: { rate } });
    capture.port.onmessage = ({ data }) => this.#closed || this.#handlers.block(shape(data));
    capture.connect(context.destination); // it plays silence: a node without an output is never run
    this.#source?.connect(capture);
    this.#capture = capture;
  }

  // A phone call or a locked screen may suspend the context.
  #keepRunning() {
    if (!this.#closed && this.#context?.state !== "running") this.#context?.resume().catch(() => {});
  }

  /**
   * A stream of the page is copied: the page may mute and stop its own, we mute and stop the copy.
   * @param {AudioContext} context
   * @param {MediaStream} stream
   * @param {MediaStreamTrack} track of the stream
   * @param {boolean} isOurs whether we opened the stream
   */
  #use(context, stream, track, isOurs) {
    if (this.#stream) stopTracks(this.#stream);
    this.#source?.disconnect();
    this.#source = new MediaStreamAudioSourceNode(context, { mediaStream: stream });
    this.#stream = isOurs ? stream : copyOf(context, this.#source);
    for (const each of this.#stream.getAudioTracks()) each.enabled = !this.#muted;
    const isLost = () => !this.#closed && track === this.#track;
    if (track !== this.#track) track.addEventListener("ended", () => isLost() && this.#handlers.microphoneLost());
    this.#track = track;
    if (this.#capture) this.#source.connect(this.#capture);
    this.#handlers.microphone({ label: track.label, deviceId: track.getSettings().deviceId ?? "" });
  }

  /** @param {unknown} error */
  #onOutputFailed(error) {
    this.#outputId = "";
    if (!this.#closed) this.#handlers.outputFailed(error);
  }

  /** @param {import("./playout-worklet.js").PlayoutReport[]} list */
  #report(list) {
    for (const report of list) if (!this.#closed) this.#handlers.report(report);
  }
}

/**
 * @param {AudioContext} context
 * @param {AudioNode} source
 */
function copyOf(context, source) {
  const copy = new MediaStreamAudioDestinationNode(context, { channelCount: 1 });
  source.connect(copy);
  return copy.stream;
}

/** @param {MediaStream} stream */
function stopTracks(stream) {
  for (const track of stream.getTracks()) track.stop();
}
