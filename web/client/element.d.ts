import type { VoiceClient, VoiceOptions } from "./index.js";

/**
 * The element <voicegw-call>: a button that starts and ends a call, one that mutes it, one that gives
 * consent where the gateway asks for it, what happens now, and the conversation. Importing this
 * module defines it.
 *
 * Attributes, for the next call: url, token, language, instructions, detection, half-duplex. Parts
 * for styles: talk, mute, agree, status, transcript, caller, model. The attribute data-state is the state
 * of the call.
 */
export class VoiceElement extends HTMLElement {
  /** For its methods and events. */
  readonly client: VoiceClient;
  /** Options of the next call, besides those of the attributes. */
  options: VoiceOptions;
}

declare global {
  interface HTMLElementTagNameMap {
    "voicegw-call": VoiceElement;
  }
}
