// Loading of the two AudioWorklets, also into a page of another origin.

import { VoiceError } from "./messages.js";

// Each address is written out, so that a bundler finds it and brings the file along.
const RESAMPLE = new URL("./resample.js", import.meta.url);
const CAPTURE = [RESAMPLE, new URL("./capture-worklet.js", import.meta.url)];
const PLAYOUT = [RESAMPLE, new URL("./playout.js", import.meta.url), new URL("./playout-worklet.js", import.meta.url)];

/**
 * Loads both worklets from where this module came from, or from `base`. A browser or a page that refuses modules of
 * another origin in a worklet, and a bundler that renamed their parts, get the same text as a Blob of its own. Rejects
 * with a VoiceError when the text cannot be had.
 * @param {AudioContext} context
 * @param {string} [base] a URL of this package's files
 */
export async function loadWorklets(context, base) {
  await Promise.all([CAPTURE, PLAYOUT].map((files) => load(context, base, files)));
}

async function load(context, base, files) {
  const urls = base ? files.map((url) => new URL(nameOf(url), new URL(base, location.href))) : files;
  try {
    await context.audioWorklet.addModule(urls.at(-1));
  } catch {
    if (context.state !== "closed") await addAsBlob(context, urls);
  }
}

function nameOf(url) {
  return url.pathname.split("/").at(-1);
}

async function addAsBlob(context, urls) {
  const parts = await Promise.all(urls.map(fetchScript));
  const blob = new Blob(parts.map(inOneScope), { type: "text/javascript" });
  const url = URL.createObjectURL(blob);
  try {
    await context.audioWorklet.addModule(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

async function fetchScript(url) {
  try {
    const response = await fetch(url, { mode: "cors", credentials: "omit" });
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
