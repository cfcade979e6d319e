// The microphones of this machine: asking for one, and listing them.

import { VoiceError } from "./errors.js";

// The code for each name of an error that getUserMedia throws.
/** @type {Record<string, string>} */
const CODES = {
  NotAllowedError: "mic_refused",
  SecurityError: "mic_refused",
  NotFoundError: "mic_missing",
  OverconstrainedError: "mic_missing",
  NotReadableError: "mic_in_use",
  AbortError: "mic_in_use",
};

/**
 * Opens the microphone; the browser asks the person. Rejects with a VoiceError.
 * @param {{deviceId?: string | undefined, raw?: boolean | undefined}} options raw turns off the
 *   browser's echo cancellation, noise suppression and gain control, for tests
 * @returns {Promise<MediaStream>}
 */
export async function openMicrophone({ deviceId, raw }) {
  const devices = mediaDevices();
  const processing = !raw;
  /** @type {MediaTrackConstraints} */
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
    throw new VoiceError(CODES[nameOf(cause)] ?? "mic_in_use", undefined, { cause });
  }
}

/**
 * The track of a page's own stream that is the microphone. Throws a VoiceError when there is none,
 * or no way to capture it.
 * @param {MediaStream} stream
 */
export function trackOf(stream) {
  if (!globalThis.AudioWorkletNode) throw new VoiceError("unsupported");
  const track = stream.getAudioTracks().find(({ readyState }) => readyState === "live");
  if (!track) throw new VoiceError("mic_missing");
  return track;
}

/**
 * The microphones of this machine. Their labels are empty until the person has allowed the
 * microphone once.
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

/** @param {unknown} error */
function nameOf(error) {
  return error instanceof Error || error instanceof DOMException ? error.name : "";
}
