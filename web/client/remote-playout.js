// Playout of a reply that comes as a MediaStream: the browser plays it, and this module only
// measures it.

import { setSink } from "./output.js";

const LOOK_MS = 20;
const LOUD = 0.01; // -40 dBFS: what counts as audible, as in playout-queue.js
const TAP_MS = 100; // of output in one tap message
const QUIET_MS = 400; // silence that ends a reply
const CLEARED_MS = 150; // silence that ends a reply which the gateway has cleared

/** @typedef {import("./playout-worklet.js").PlayoutReport} PlayoutReport */

/**
 * Plays a MediaStream and makes the reports of a playout queue: start, audible, stop, level and
 * tap. It makes no acks.
 */
export class RemotePlayout {
  #context;
  #onReports;
  #element;
  #source;
  #meter;
  /** @type {AudioWorkletNode | null} */
  #tap = null;
  #samples;
  #timer;
  #generation = 0;
  #playing = false;
  #clearing = false; // the gateway cleared what plays
  #lastAudible = 0;

  /**
   * @param {AudioContext} context
   * @param {MediaStream} stream
   * @param {boolean} tap
   * @param {(reports: PlayoutReport[]) => void} onReports
   */
  constructor(context, stream, tap, onReports) {
    this.#context = context;
    this.#onReports = onReports;
    this.#element = new Audio(); // Chromium feeds a remote stream to the context only while an element plays it
    this.#element.srcObject = stream;
    this.#element.play().catch(() => {});
    this.#source = new MediaStreamAudioSourceNode(context, { mediaStream: stream });
    this.#meter = new AnalyserNode(context, { fftSize: 1024 });
    this.#samples = new Float32Array(this.#meter.fftSize);
    this.#source.connect(this.#meter);
    if (tap) this.#addTap();
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  /**
   * The stream carries this generation from now on.
   * @param {number} generation
   */
  expect(generation) {
    this.#clearing = false;
    if (this.#playing && generation !== this.#generation) this.#onReports([this.#stop("dry")]);
    this.#generation = generation;
  }

  /** The gateway cleared what plays, so silence is near. */
  clear() {
    this.#clearing = this.#playing;
  }

  /** @param {number} volume 0 to 1 */
  setVolume(volume) {
    this.#element.volume = volume;
  }

  /**
   * Rejects with a VoiceError and keeps the old device when it cannot be used.
   * @param {string} deviceId
   */
  setDevice(deviceId) {
    return setSink(this.#element, deviceId);
  }

  close() {
    clearInterval(this.#timer);
    this.#source.disconnect();
    this.#tap?.port.postMessage("close");
    this.#element.srcObject = null;
  }

  #addTap() {
    const processorOptions = { rate: this.#context.sampleRate, blockMs: TAP_MS };
    this.#tap = new AudioWorkletNode(this.#context, "voicegw-capture", { processorOptions });
    this.#tap.port.onmessage = ({ data }) =>
      this.#onReports([{ kind: "tap", pcm: new Int16Array(data.pcm), at: data.at }]);
    this.#source.connect(this.#tap).connect(this.#context.destination);
  }

  #look() {
    this.#meter.getFloatTimeDomainData(this.#samples);
    const at = this.#now();
    const rms = Math.sqrt(this.#samples.reduce((sum, v) => sum + v * v, 0) / this.#samples.length);
    /** @type {PlayoutReport[]} */
    const reports = [{ kind: "level", rms, at }];
    const generation = this.#generation;
    const quietMax = ((this.#clearing ? CLEARED_MS : QUIET_MS) * this.#context.sampleRate) / 1000;
    if (rms > LOUD) {
      if (!this.#playing) reports.push({ kind: "start", generation, at }, { kind: "audible", generation, at });
      this.#playing = true;
      this.#lastAudible = at;
    } else if (this.#playing && at - this.#lastAudible > quietMax) {
      reports.push(this.#stop(this.#clearing ? "clear" : "dry"));
    }
    this.#onReports(reports);
  }

  /**
   * @param {"clear" | "dry"} cause
   * @returns {PlayoutReport}
   */
  #stop(cause) {
    this.#playing = this.#clearing = false;
    const generation = this.#generation;
    const lastAudible = this.#lastAudible;
    return { kind: "stop", generation, cause, at: this.#now(), lastAudible, dropped: 0, underruns: 0 };
  }

  // The time of the context in samples.
  #now() {
    return Math.round(this.#context.currentTime * this.#context.sampleRate);
  }
}
