/** What a call is made with. Everything is optional. */
export interface VoiceOptions {
  /** The gateway's socket. Default: /v1/voice of the origin this module came from. http(s) URLs are understood. */
  url?: string;
  /** BCP 47 tag of the caller's language. */
  language?: string;
  /** The name of instructions configured at the gateway. */
  instructions?: string;
  /** Who detects speech: the gateway ("manual", its default) or the model ("server"). */
  detection?: "manual" | "server";
  /** The caller cannot interrupt: for loudspeakers without echo cancellation. */
  halfDuplex?: boolean;
  /** Ask for the live marking of the call's net. */
  showNet?: boolean;
  /** The microphone to use. */
  deviceId?: string;
  /** Turn the browser's echo cancellation, noise suppression and gain control off. For tests. */
  raw?: boolean;
  /** Emit everything that is played as `tap` events. For tests. */
  tap?: boolean;
}

export type Who = "caller" | "model";
export type State = "idle" | "connecting" | "live" | "ending" | "ended";

/** The gateway's `ready`, as it came. */
export interface Ready {
  call: string;
  version: number;
  input_rate: number;
  output_rate: number;
  frame_ms?: number;
  ack_ms?: number;
  budget_ms?: number;
  detection?: string;
  model?: { name: string; embedded: boolean };
  greeting?: boolean;
  limits?: { message_bytes?: number; call_s?: number };
}

/** The detail of each event. Times are milliseconds on the clock of the audio context. */
export interface VoiceEvents {
  state: { state: State };
  ready: Ready;
  microphone: { label: string; deviceId: string };
  mute: { on: boolean };
  speech: { state: "start" | "stop" };
  turn: {
    state: "start" | "pause" | "resume" | "end";
    generation: number;
    reason: "complete" | "interrupted" | "model_lost" | "call_over" | null;
  };
  /** A fragment to append. */
  transcript: { who: Who; text: string; final: boolean; generation: number | null };
  clear: { generation: number };
  ack: { generation: number; playedMs: number; mark: string | null; cleared: boolean };
  /** Sound of the model began or ceased to play. */
  playout: { playing: boolean; generation: number };
  /** RMS 0..1 of about 20 ms. */
  level: { who: Who; rms: number; atMs: number };
  latency: { kind: "first_audio" | "barge_in"; ms: number; generation: number };
  warning: { code: "hears_itself" };
  net: { atMs: number; fired: string[]; marking: Record<string, number> };
  net_graph: { svg: string };
  tool_call: { id: string; name: string; args?: unknown };
  /** Something was refused or failed; after a fatal one comes `end`. */
  error: { code: string; message: string; advice: string; fatal: boolean };
  end: { reason: string; message: string; advice: string; normal: boolean };
  tap: { pcm: Int16Array; at: number; rate: number };
}

/** Counters of the current call, or of the last one. */
export interface VoiceStats {
  state: State;
  muted: boolean;
  call: string;
  contextRate: number;
  inputRate: number;
  outputRate: number;
  framesSent: number;
  framesReceived: number;
  /** Frames dropped by the gateway's `clear`, the one that was playing included. */
  framesCleared: number;
  /** Microphone blocks dropped because they were older than 200 ms. */
  micDropped: number;
  acks: number;
  /** `played_ms` of the last acknowledgement. */
  playedMs: number;
  turns: number;
  resumes: number;
  clears: number;
  interruptions: number;
  /** Times the queue ran dry in the middle of a reply. */
  underruns: number;
  selfHearing: number;
  unknownEvents: number;
  badEvents: number;
  lastBadEvent: string;
  /** From the caller's last loud block to the first audible sample of the reply. */
  firstAudioMs: number[];
  /** From the first loud block spoken over a reply to its last audible sample. */
  bargeInSilenceMs: number[];
  /** Why the call ended; empty while it stands. */
  closed: string;
}

/** Something a person should know, and what they can do about it. */
export class VoiceError extends Error {
  readonly code: string;
  readonly advice: string;
}

export class VoiceClient extends EventTarget {
  constructor(options?: VoiceOptions);
  static microphones(): Promise<{ deviceId: string; label: string }[]>;
  readonly state: State;
  readonly muted: boolean;
  readonly stats: VoiceStats;
  on<K extends keyof VoiceEvents>(
    type: K,
    listener: (detail: VoiceEvents[K], event: CustomEvent<VoiceEvents[K]>) => void,
  ): () => void;
  start(): Promise<Ready>;
  end(): Promise<void>;
  mute(on?: boolean): void;
  configure(options: VoiceOptions): void;
  setMicrophone(deviceId: string): Promise<void>;
}
