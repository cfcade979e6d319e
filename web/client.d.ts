/** What a call is made with. Everything is optional; undefined is as if it were not there. */
export interface VoiceOptions {
  /** The gateway's socket. Default: /v1/voice of the origin this module came from. http(s) URLs are understood. */
  url?: string | undefined;
  /** BCP 47 tag of the caller's language. */
  language?: string | undefined;
  /** The name of instructions configured at the gateway. */
  instructions?: string | undefined;
  /** Who detects speech: the gateway ("manual", its default), the model ("server"), or a button ("push"): see `talk`. */
  detection?: "manual" | "server" | "push" | undefined;
  /** The caller cannot interrupt: for loudspeakers without echo cancellation. */
  halfDuplex?: boolean | undefined;
  /** Ask for the live marking of the call's net. */
  showNet?: boolean | undefined;
  /**
   * Who may make this call, where the gateway asks for it: a token your server minted, or a function that gets one.
   * It is asked anew for each call.
   */
  token?: string | (() => string | Promise<string>) | undefined;
  /** What the gateway's hooks are told of the call: at most 32 entries, values of at most 512 bytes. */
  params?: Record<string, string> | undefined;
  /**
   * Tools of this page by name, offered to the model by the gateway's configuration. What one returns is sent as JSON,
   * what it throws as an error.
   */
  tools?: Record<string, Tool> | undefined;
  /** Answers calls of tools that `tools` does not have. */
  onToolCall?: ((call: ToolCall) => unknown) | undefined;
  /** The microphone to use. */
  deviceId?: string | undefined;
  /** Turn the browser's echo cancellation, noise suppression and gain control off. For tests. */
  raw?: boolean | undefined;
  /** Emit everything that is played as `tap` events. For tests. */
  tap?: boolean | undefined;
  /** Where the worklets of this package are, when they are not beside this module: a URL that ends in a slash. */
  worklets?: string | undefined;
  /** Another protocol than voicegw.v1 over a WebSocket: `connectWebRTC`, with the `url` of /v1/whip. */
  connect?: Connect | undefined;
}

/** A call of a tool by the model. `signal` is aborted when the result is not wanted any more. */
export interface ToolCall {
  id: string;
  name: string;
  args: Record<string, unknown>;
  signal: AbortSignal;
}

/** A tool of the page. Its result is JSON of at most 32,000 characters. */
export type Tool = (args: any, call: ToolCall) => unknown;

/**
 * Opens the link of a call. Rejects with a VoiceError that says why not, or when `signal` is aborted. `events` may be
 * told from then on: text frames and PCM of the gateway, and once why the link is closed, which `close` does not tell.
 */
export type Connect = (
  options: { url: string; token?: string | undefined; signal: AbortSignal; stream: MediaStream },
  events: { text(text: string): void; audio(pcm: ArrayBuffer): void; closed(reason: string): void },
) => Promise<Link>;

/** Calls over WebRTC, for `connect`; the gateway must have that door open, and `url` must name it. */
export const connectWebRTC: Connect;

/** What carries one call: events as the JSON of the protocol, and sound as PCM or by itself. */
export interface Link {
  /** The gateway's sound, where it comes by itself; null where it comes as PCM, and the microphone goes so. */
  readonly remote: MediaStream | null;
  /** The rate to name in the hello; null leaves it to the audio context. */
  readonly rate: number | null;
  readonly open: boolean;
  /** The gateway's ready came. */
  accept(ready: Ready): void;
  /** Sends an event; nothing when the link is not open. */
  send(text: string): void;
  /** Sends 20 ms of the microphone, where `remote` is null. Says how many went out, how many were too old in all. */
  sendAudio(pcm: ArrayBuffer, capturedMs: number, nowMs: number): { sent: number; dropped: number; stalled: boolean };
  /** Another microphone is used. */
  setStream(stream: MediaStream): void | Promise<void>;
  close(): void;
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
    /** At the end: how much of the reply was acknowledged as played. */
    heardMs: number | null;
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
  /** The model asks for a tool; it is answered by `tools` or `onToolCall`. */
  tool_call: { id: string; name: string; args: Record<string, unknown> };
  /** What was answered. */
  tool_result: { id: string; name: string; output?: unknown; error?: string };
  tool_cancel: { id: string };
  /** The call is on hold, or not any more. */
  hold: { on: boolean };
  /** Consent is asked for: answer with `consent()`. Not asked any more: it was given. */
  consent: { asked: boolean };
  /** The caller gives something private: nothing said or pressed goes to the model. */
  protected: { on: boolean };
  /** The connection to the model broke and is made again. */
  model: { state: "lost" | "back" };
  /** Somebody else takes the call; `end` follows. */
  transfer: { to: string };
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
  addEventListener<K extends keyof VoiceEvents>(
    type: K,
    listener: ((event: CustomEvent<VoiceEvents[K]>) => void) | { handleEvent(event: CustomEvent<VoiceEvents[K]>): void } | null,
    options?: boolean | AddEventListenerOptions,
  ): void;
  removeEventListener<K extends keyof VoiceEvents>(
    type: K,
    listener: ((event: CustomEvent<VoiceEvents[K]>) => void) | { handleEvent(event: CustomEvent<VoiceEvents[K]>): void } | null,
    options?: boolean | EventListenerOptions,
  ): void;
  start(): Promise<Ready>;
  end(): Promise<void>;
  mute(on?: boolean): void;
  sendText(text: string): boolean;
  sendDigits(digits: string): boolean;
  talk(on?: boolean): boolean;
  hold(on?: boolean): boolean;
  consent(on?: boolean): boolean;
  configure(options: VoiceOptions): void;
  setMicrophone(deviceId: string): Promise<void>;
}
