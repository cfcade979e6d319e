import type { Ready, State, Turn, VoiceClient, VoiceEvents, VoiceOptions } from "./index.js";

/** A caller, as `useVoice` returns it. The functions stay the same from render to render. */
export interface Voice {
  /** For all that is not here: other events, devices, hold, keys. */
  readonly client: VoiceClient;
  readonly state: State;
  readonly muted: boolean;
  /** The conversation of this call, or of the last one. */
  readonly turns: readonly Turn[];
  readonly callerSpeaking: boolean;
  /** A reply is audible. */
  readonly modelSpeaking: boolean;
  readonly onHold: boolean;
  /** Nothing that the caller says, types or presses goes to the model or into a log. */
  readonly isProtected: boolean;
  /** The gateway asks for consent: answer with `client.consent()`. */
  readonly consentAsked: boolean;
  /** What was refused or failed last; null when a call begins. */
  readonly error: VoiceEvents["error"] | null;
  /** Why the last call ended; null during a call and before the first. */
  readonly ended: VoiceEvents["end"] | null;
  /** Calls; resolves with null when it cannot, see `error`. Use it in a handler of a click. */
  readonly start: () => Promise<Ready | null>;
  readonly end: () => Promise<void>;
  readonly mute: (on?: boolean) => void;
  readonly sendText: (text: string) => boolean;
}

/**
 * One caller, for as long as the component is mounted. The component renders again when what the
 * hook returns changes. Tools are the ones of the newest render; other options apply to the next
 * call.
 */
export function useVoice(options?: VoiceOptions): Voice;
