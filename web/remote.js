// A reply that comes as a stream, not as PCM: it is played by the browser, and only watched here.

const LOOK_MS = 20;
const LOUD = 0.01; // -40 dBFS: what counts as audible, as in playout.js
const TAP_MS = 100; // of output in one tap message
const QUIET_MS = 400; // silence that ends a run of sound
const CLEARED_MS = 150; // silence that ends one the far end has cleared

/** Plays a MediaStream and tells reports as playout.js does: start, audible, stop and level, and what the tap hears. */
export class Remote {
  #context;
  #tell;
  #element;
  #source;
  #meter;
  #tap = null;
  #samples;
  #timer;
  #generation = 0;
  #playing = false;
  #clearing = false; // the far end stopped what is playing
  #lastAudible = 0;

  /**
   * @param {AudioContext} context
   * @param {MediaStream} stream
   * @param {boolean} tap
   * @param {(reports: object[]) => void} tell
   */
  constructor(context, stream, tap, tell) {
    this.#context = context;
    this.#tell = tell;
    this.#element = new Audio(); // Chromium feeds a remote stream to the context only while an element plays it
    this.#element.srcObject = stream;
    this.#element.play().catch(() => {});
    this.#source = new MediaStreamAudioSourceNode(context, { mediaStream: stream });
    this.#meter = new AnalyserNode(context, { fftSize: 1024 });
    this.#samples = new Float32Array(this.#meter.fftSize);
    this.#source.connect(this.#meter);
    if (tap) this.#listen();
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  /** What is heard from now on is of this generation. */
  expect(generation) {
    this.#clearing = false;
    if (this.#playing && generation !== this.#generation) this.#tell([this.#stopped("dry")]);
    this.#generation = generation;
  }

  /** What is heard ends soon: the far end has stopped it. */
  clear() {
    this.#clearing = this.#playing;
  }

  close() {
    clearInterval(this.#timer);
    this.#source.disconnect();
    this.#tap?.port.postMessage("close");
    this.#element.srcObject = null;
  }

  #listen() {
    const processorOptions = { rate: this.#context.sampleRate, blockMs: TAP_MS };
    this.#tap = new AudioWorkletNode(this.#context, "voicegw-capture", { processorOptions });
    this.#tap.port.onmessage = ({ data }) => this.#tell([{ kind: "tap", pcm: new Int16Array(data.pcm), at: data.at }]);
    this.#source.connect(this.#tap).connect(this.#context.destination);
  }

  #look() {
    this.#meter.getFloatTimeDomainData(this.#samples);
    const at = Math.round(this.#context.currentTime * this.#context.sampleRate);
    const rms = Math.sqrt(this.#samples.reduce((sum, v) => sum + v * v, 0) / this.#samples.length);
    const reports = [{ kind: "level", rms, at }];
    const generation = this.#generation;
    const patience = ((this.#clearing ? CLEARED_MS : QUIET_MS) * this.#context.sampleRate) / 1000;
    if (rms > LOUD) {
      if (!this.#playing) reports.push({ kind: "start", generation, at }, { kind: "audible", generation, at });
      this.#playing = true;
      this.#lastAudible = at;
    } else if (this.#playing && at - this.#lastAudible > patience) {
      reports.push(this.#stopped(this.#clearing ? "clear" : "dry"));
    }
    this.#tell(reports);
  }

  // The report that a run of sound has ended.
  #stopped(cause) {
    this.#playing = this.#clearing = false;
    const generation = this.#generation;
    const at = Math.round(this.#context.currentTime * this.#context.sampleRate);
    return { kind: "stop", generation, cause, at, lastAudible: this.#lastAudible, dropped: 0, underruns: 0 };
  }
}
