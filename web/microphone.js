// The microphone: asking for it, and clear words when it cannot be had.

import { VoiceError } from "./messages.js";

// What getUserMedia throws, by name.
const CODES = {
  NotAllowedError: "mic_refused",
  SecurityError: "mic_refused",
  NotFoundError: "mic_missing",
  OverconstrainedError: "mic_missing",
  NotReadableError: "mic_in_use",
  AbortError: "mic_in_use",
};

/**
 * Asks for the microphone; the browser asks the person. Rejects with a VoiceError.
 * @param {{deviceId?: string, raw?: boolean}} options raw turns the browser's echo cancellation, noise suppression and
 *   gain control off, for tests
 * @returns {Promise<MediaStream>}
 */
export async function openMicrophone({ deviceId, raw }) {
  const devices = mediaDevices();
  const processing = !raw;
  const audio = {
    echoCancellation: processing,
    noiseSuppression: processing,
    autoGainControl: processing,
    channelCount: { ideal: 1 },
  };
  if (deviceId) audio.deviceId = { exact: deviceId };
  try {
    return await devices.getUserMedia({ audio });
  } catch (cause) {
    throw new VoiceError(CODES[cause.name] ?? "mic_in_use", undefined, { cause });
  }
}

/**
 * The microphones there are. Their labels are empty until the microphone was allowed once.
 * @returns {Promise<{deviceId: string, label: string}[]>}
 */
export async function listMicrophones() {
  const list = await mediaDevices().enumerateDevices();
  return list
    .filter((d) => d.kind === "audioinput" && d.deviceId !== "")
    .map(({ deviceId, label }) => ({ deviceId, label }));
}

function mediaDevices() {
  if (globalThis.isSecureContext === false) throw new VoiceError("insecure_context");
  if (!globalThis.navigator?.mediaDevices?.getUserMedia || !globalThis.AudioWorkletNode) throw new VoiceError("unsupported");
  return navigator.mediaDevices;
}
