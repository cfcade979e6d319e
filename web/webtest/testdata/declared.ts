// The class that voice-client.js defines is the class that index.d.ts declares.
import type { VoiceClient as Declared, VoiceError as DeclaredError } from "../../client/index.js";
import { VoiceError } from "../../client/errors.js";
import { VoiceClient } from "../../client/voice-client.js";
import { connectWebRTC } from "../../client/webrtc-connection.js";
import type { Connect } from "../../client/index.js";

declare const declaredClass: typeof Declared;
declare const declaredErrorClass: typeof DeclaredError;

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

// Every declared member is defined, with a type that fits.
export const client: typeof declaredClass = VoiceClient;
export const error: typeof declaredErrorClass = VoiceError;
export const connect: Connect = connectWebRTC;

// Every defined member is declared.
export const members: Same<keyof VoiceClient, keyof Declared> = true;
export const statics: Same<keyof typeof VoiceClient, keyof typeof declaredClass> = true;
export const ofErrors: Same<keyof VoiceError, keyof DeclaredError> = true;

// @ts-expect-error: a member that only one of them has is noticed
export const fewer: Same<keyof VoiceClient, Exclude<keyof Declared, "mute">> = true;
