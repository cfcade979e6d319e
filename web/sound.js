// The sound of one call: audio context, microphone, loudspeaker. It knows nothing of protocols.

import { openMicrophone } from "./microphone.js";
import { Remote } from "./remote.js";
import { loadWorklets } from "./worklets.js";

/**
 * What Sound tells: `block` 20 ms of the microphone as {pcm, rms, at, wallMs}, `report` one of playout.js or the tap,
 * `microphone` another one is used, `gone` it was disconnected. Times are samples of the context.
 * @typedef {Record<"block" | "report" | "microphone" | "gone", (detail?: any) => void>} Told
 */

/** Owns the context and the microphone. Ends with close, after which nothing is told any more. */
export class Sound {
  #options;
  #told;
  #muted;
  #closed = false;
  #context = null;
  #stream = null;
  #source = null;
  #capture = null;
  #playout = null;
  #remote = null;

  /**
   * @param {import("./client.js").VoiceOptions} options
   * @param {boolean} muted
   * @param {Told} told
   */
  constructor(options, muted, told) {
    this.#options = options;
    this.#muted = muted;
    this.#told = told;
  }

  /** Hz of the context. */
  get rate() {
    return this.#context.sampleRate;
  }

  /** The stream of the microphone that is used. */
  get stream() {
    return this.#stream;
  }

  /** Milliseconds on the clock of the context. */
  get nowMs() {
    return (this.#context?.currentTime ?? 0) * 1000;
  }

  /** Milliseconds of so many samples. */
  ms(samples) {
    return (samples * 1000) / this.#context.sampleRate;
  }

  /** Asks for the microphone and starts the context. Rejects with a VoiceError; false when closed meanwhile. */
  async open() {
    const asked = this.setMicrophone(this.#options.deviceId); // which takes time, also that of the browser's own start
    asked.catch(() => {}); // told below, unless something else fails before
    // Made before anything is awaited: only then does a click count as permission to play.
    if (globalThis.AudioContext) {
      this.#context = new AudioContext({ latencyHint: "interactive" });
      await Promise.all([asked, this.#context.resume(), loadWorklets(this.#context, this.#options.worklets)]);
    }
    if (!(await asked)) return false;
    if (!this.#closed) this.#context.onstatechange = () => this.#keepRunning();
    return !this.#closed;
  }

  /** Changes the microphone and keeps the old one when it cannot be had. False when closed meanwhile. */
  async setMicrophone(deviceId) {
    const stream = await openMicrophone({ ...this.#options, deviceId });
    if (!this.#closed) this.#use(stream);
    else stopTracks(stream);
    return !this.#closed;
  }

  /** Begins to send blocks at inputRate and to play PCM of outputRate. */
  startPCM(inputRate, outputRate) {
    this.#playout = new AudioWorkletNode(this.#context, "voicegw-playout", {
      numberOfInputs: 0,
      outputChannelCount: [1],
      processorOptions: { rate: outputRate, tap: Boolean(this.#options.tap) },
    });
    this.#playout.port.onmessage = ({ data }) => this.#report(data);
    this.#playout.connect(this.#context.destination);
    this.#capture = new AudioWorkletNode(this.#context, "voicegw-capture", { processorOptions: { rate: inputRate } });
    this.#capture.port.onmessage = ({ data }) => this.#closed || this.#told.block(data);
    // It writes silence: a node that leads nowhere is never asked for samples.
    this.#capture.connect(this.#context.destination);
    this.#source.connect(this.#capture);
  }

  /** Plays a stream that comes by itself, and measures it; blocks have no pcm then. */
  startRemote(stream) {
    const processorOptions = { rate: this.#context.sampleRate };
    this.#capture = new AudioWorkletNode(this.#context, "voicegw-capture", { processorOptions });
    this.#capture.port.onmessage = ({ data }) => this.#closed || this.#told.block({ ...data, pcm: null });
    this.#capture.connect(this.#context.destination);
    this.#source.connect(this.#capture);
    this.#remote = new Remote(this.#context, stream, Boolean(this.#options.tap), (reports) => this.#report(reports));
  }

  /** Queues a message for the playout worklet; without one the far end does that. */
  play(message, transfer = []) {
    this.#playout?.port.postMessage(message, transfer);
  }

  /** Drops what is queued of a generation; the far end of a remote stream has done so. */
  clear(generation) {
    this.#remote?.clear();
    this.play({ clear: generation });
  }

  /** The generation that a remote stream carries from now on. */
  expect(generation) {
    this.#remote?.expect(generation);
  }

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
    if (this.#context && this.#context.state !== "closed") this.#context.close().catch(() => {});
  }

  // A phone call or a locked screen may suspend the context.
  #keepRunning() {
    if (!this.#closed && this.#context.state !== "running") this.#context.resume().catch(() => {});
  }

  #use(stream) {
    if (this.#stream) stopTracks(this.#stream);
    this.#stream = stream;
    const [track] = stream.getAudioTracks();
    track.enabled = !this.#muted;
    track.addEventListener("ended", () => this.#closed || stream !== this.#stream || this.#told.gone());
    this.#source?.disconnect();
    this.#source = new MediaStreamAudioSourceNode(this.#context, { mediaStream: stream });
    if (this.#capture) this.#source.connect(this.#capture);
    this.#told.microphone({ label: track.label, deviceId: track.getSettings().deviceId ?? "" });
  }

  #report(list) {
    for (const report of list) if (!this.#closed) this.#told.report(report);
  }
}

function stopTracks(stream) {
  for (const track of stream.getTracks()) track.stop();
}
