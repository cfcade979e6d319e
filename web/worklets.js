// Loading of the two AudioWorklets, also into a page of another origin.

import { VoiceError } from "./messages.js";

const CAPTURE = ["resample.js", "capture-worklet.js"];
const PLAYOUT = ["resample.js", "playout.js", "playout-worklet.js"];

/**
 * Loads both worklets from where this module came from. A browser or a page that refuses modules of another origin in a
 * worklet gets the same text as a Blob of its own. Rejects with a VoiceError when the text cannot be had.
 * @param {AudioContext} context
 */
export async function loadWorklets(context) {
  for (const files of [CAPTURE, PLAYOUT]) {
    try {
      await context.audioWorklet.addModule(new URL(files.at(-1), import.meta.url));
    } catch {
      await addAsBlob(context, files);
    }
  }
}

async function addAsBlob(context, files) {
  const parts = await Promise.all(files.map(fetchScript));
  const blob = new Blob(parts.map(inOneScope), { type: "text/javascript" });
  const url = URL.createObjectURL(blob);
  try {
    await context.audioWorklet.addModule(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

async function fetchScript(file) {
  try {
    const response = await fetch(new URL(file, import.meta.url), { mode: "cors", credentials: "omit" });
    if (response.ok) return await response.text();
  } catch {
    // told below
  }
  throw new VoiceError("server_gone");
}

// One file after the other in one scope: imports go, exports become plain declarations.
function inOneScope(text) {
  return text.replace(/^import [^;]*;$/gm, "").replace(/^export /gm, "");
}
