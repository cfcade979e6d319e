/** The options of a call. Each one is optional; undefined is the same as absent. */
export interface VoiceOptions {
  /**
   * The gateway's WebSocket. Default: /v1/voice of the origin of this module. http and https URLs
   * work too.
   */
  url?: string | undefined;
  /** BCP 47 tag of the caller's language. */
  language?: string | undefined;
  /** The name of instructions configured at the gateway. */
  instructions?: string | undefined;
  /**
   * What detects speech: the gateway ("manual"), the model ("server"), or a button ("push", see
   * `talk`). Default: as the gateway is configured.
   */
  detection?: "manual" | "server" | "push" | undefined;
  /** The caller cannot interrupt a reply. For loudspeakers without echo cancellation. */
  halfDuplex?: boolean | undefined;
  /** Ask for the live marking of the call's net. */
  showNet?: boolean | undefined;
  /**
   * The token of this call, where the gateway asks for one: a string from your server, or a
   * function that fetches one for each call.
   */
  token?: string | (() => string | Promise<string>) | undefined;
  /** Parameters for the gateway's hooks: at most 32 entries, values of at most 512 bytes. */
  params?: Record<string, string> | undefined;
  /**
   * Tools of this page by name. The gateway's configuration offers them to the model. The result of
   * a tool is sent as JSON, an exception as an error.
   */
  tools?: Record<string, Tool> | undefined;
  /** Answers calls of tools that are not in `tools`. */
  onToolCall?: ((call: ToolCall) => unknown) | undefined;
  /** The microphone to use. */
  deviceId?: string | undefined;
  /**
   * A stream of the page's own in place of a microphone. The client sends a copy of its sound; it
   * neither mutes nor stops the stream.
   */
  microphone?: MediaStream | undefined;
  /** The loudspeaker to use, see `VoiceClient.outputs()`. Default: the system's. */
  outputId?: string | undefined;
  /** The volume of replies, 0 to 1. Default 1. */
  volume?: number | undefined;
  /** Turn off the browser's echo cancellation, noise suppression and gain control. For tests. */
  raw?: boolean | undefined;
  /** Emit all sound that is played as `tap` events. For tests. */
  tap?: boolean | undefined;
  /**
   * The folder of this package's worklets, when they are not beside this module: a URL that ends in
   * a slash.
   */
  worklets?: string | undefined;
  /**
   * A protocol other than voicegw.v1 over a WebSocket: `connectWebRTC`, with the `url` of /v1/whip.
   */
  connect?: Connect | undefined;
}

/** A tool call of the model. `signal` is aborted when the model no longer wants the result. */
export interface ToolCall {
  id: string;
  name: string;
  args: Record<string, unknown>;
  signal: AbortSignal;
}

/** A tool of the page. Its result is JSON of at most 32,000 characters. */
export type Tool = (args: any, call: ToolCall) => unknown;

/** What a connection calls, from the moment it is made. */
export interface ConnectionEvents {
  /** A text frame of the gateway. */
  text(text: string): void;
  /** PCM of the gateway. */
  audio(pcm: ArrayBuffer): void;
  /** The connection is closed, and why. Called once, and not after `close`. */
  closed(reason: string): void;
}

/**
 * Opens the connection of a call. Rejects with a VoiceError that says why not, or when `signal` is
 * aborted.
 */
export type Connect = (
  options: {
    url: string;
    token?: string | undefined;
    signal: AbortSignal;
    stream: MediaStream;
    /** The connection goes on with a call. Only `connectWebSocket` is asked to. */
    resume?: boolean;
  },
  events: ConnectionEvents,
) => Promise<Connection>;

/**
 * Calls over WebRTC, for `connect`. The gateway must have that endpoint, and `url` must be its
 * address.
 */
export const connectWebRTC: Connect;

/**
 * The connection of one call: events as the JSON of the protocol, and sound as PCM or as streams.
 */
export interface Connection {
  /**
   * The gateway's sound as a stream; the microphone goes out as a stream too. null: both are PCM.
   */
  readonly remote: MediaStream | null;
  /** The rate for the hello. null: the rate of the audio context. */
  readonly rate: number | null;
  readonly open: boolean;
  /** Called when the gateway's ready came. */
  accept(ready: Ready): void;
  /** Sends an event; does nothing when the connection is not open. */
  send(text: string): void;
  /**
   * Sends 20 ms of the microphone, where `remote` is null. Returns how many blocks were sent and
   * how many were dropped as too old, in all, and whether the connection takes none any more.
   */
  sendAudio(pcm: ArrayBuffer, capturedMs: number, nowMs: number): { sent: number; dropped: number; stalled: boolean };
  /** Called when the microphone changes. */
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
  /** How the client goes on with the call when the connection breaks; the handle is a secret. */
  resume?: { handle: string; within_ms: number; received?: number };
}

/**
 * A turn: what one side said until the other's turn or its own next one. A change makes a new Turn
 * with the same `id`.
 */
export interface Turn {
  /** Counts from 1 in a call. */
  readonly id: number;
  readonly who: Who;
  /** The number of the model's reply; for the caller, the reply before. null: the gateway named none. */
  readonly generation: number | null;
  /** All of the text so far, at most 100,000 characters. Empty for a reply without a transcript. */
  readonly text: string;
  /** No more text is expected. */
  readonly final: boolean;
  /** The caller typed it. */
  readonly typed: boolean;
  /** How much of the reply was played so far, in milliseconds; null for the caller. */
  readonly playedMs: number | null;
  /** Why the reply ended; null before its end, and for the caller. */
  readonly end: "complete" | "interrupted" | "model_lost" | "call_over" | null;
  /**
   * Where the text was cut: what follows this index was not played. An estimate to about a word, by
   * the pace of speech. null: nothing was cut.
   */
  readonly cutAt: number | null;
}

/** The details of the events, by type. Times are milliseconds on the clock of the audio context. */
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
    /** At the end: how much of the reply was played. */
    heardMs: number | null;
  };
  /** A fragment of the transcript, to append to what came before. */
  transcript: { who: Who; text: string; final: boolean; generation: number | null };
  /** A turn began or changed: all turns, and this one. `changed` is null when a call begins. */
  turns: { turns: readonly Turn[]; changed: Turn | null };
  clear: { generation: number };
  ack: { generation: number; playedMs: number; mark: string | null; cleared: boolean };
  /** A reply became audible, or silent. */
  playout: { playing: boolean; generation: number };
  /** RMS 0..1 of about 20 ms. */
  level: { who: Who; rms: number; atMs: number };
  latency: { kind: "first_audio" | "barge_in"; ms: number; generation: number };
  warning: { code: "hears_itself" };
  net: { atMs: number; fired: string[]; marking: Record<string, number> };
  net_graph: { svg: string };
  /** The model calls a tool; `tools` or `onToolCall` answers. */
  tool_call: { id: string; name: string; args: Record<string, unknown> };
  /** The answer that was sent. */
  tool_result: { id: string; name: string; output?: unknown; error?: string };
  tool_cancel: { id: string };
  /** The call was put on hold, or resumed. */
  hold: { on: boolean };
  /** The gateway asks for consent: answer with `consent()`. `asked: false`: consent was given. */
  consent: { asked: boolean };
  /**
   * Private input began or ended. Meanwhile nothing that the caller says or presses goes to the
   * model.
   */
  protected: { on: boolean };
  /** The connection to the model was lost, or restored. */
  model: { state: "lost" | "back" };
  /** A message of the application behind the gateway. The data is JSON, null if there is none. */
  message: { name: string; data: any };
  /** The connection to the gateway broke. The client connects again for so long; the call waits. */
  reconnecting: { withinMs: number };
  /** The call goes on over another connection. */
  reconnected: { awayMs: number };
  /** The call is transferred; `end` follows. */
  transfer: { to: string };
  /** Something was refused or failed. After a fatal error comes `end`. */
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
  /** Frames that a `clear` dropped, the one that was playing included. */
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
  /** How often the queue ran dry in the middle of a reply. */
  underruns: number;
  selfHearing: number;
  unknownEvents: number;
  badEvents: number;
  lastBadEvent: string;
  /** From the caller's last loud block to the first audible sample of the reply. */
  firstAudioMs: number[];
  /** From the first loud block spoken over a reply to its last audible sample. */
  bargeInSilenceMs: number[];
  /** Why the call ended; empty during the call. */
  closed: string;
}

/** An error with a code for programs, and a message and advice for people. */
export class VoiceError extends Error {
  constructor(code: string, message?: string, options?: ErrorOptions);
  readonly code: string;
  readonly advice: string;
}

/** One caller. docs/embed.md describes each method. */
export class VoiceClient extends EventTarget {
  constructor(options?: VoiceOptions);
  static microphones(): Promise<{ deviceId: string; label: string }[]>;
  static outputs(): Promise<{ deviceId: string; label: string }[]>;
  readonly state: State;
  readonly muted: boolean;
  readonly stats: VoiceStats;
  readonly turns: readonly Turn[];
  readonly volume: number;
  /** How loud each side is now: RMS 0 to 1, 0 without a call. */
  readonly levels: { caller: number; model: number };
  on<K extends keyof VoiceEvents>(
    type: K,
    listener: (detail: VoiceEvents[K], event: CustomEvent<VoiceEvents[K]>) => void,
  ): () => void;
  off<K extends keyof VoiceEvents>(
    type: K,
    listener: (detail: VoiceEvents[K], event: CustomEvent<VoiceEvents[K]>) => void,
  ): void;
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
  send(name: string, data?: unknown): boolean;
  talk(on?: boolean): boolean;
  hold(on?: boolean): boolean;
  consent(on?: boolean): boolean;
  configure(options: VoiceOptions): void;
  setMicrophone(microphone: string | MediaStream): Promise<void>;
  setOutput(deviceId: string): Promise<void>;
  setVolume(volume: number): void;
}
