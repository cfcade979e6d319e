// Loading of the two AudioWorklets, also into a page of another origin.

import { VoiceError } from "./errors.js";

// Each address is written out, so that a bundler finds the file and copies it.
const RESAMPLER = new URL("./resampler.js", import.meta.url);
const CAPTURE = [RESAMPLER, new URL("./capture-worklet.js", import.meta.url)];
const PLAYOUT = [
  RESAMPLER,
  new URL("./playout-queue.js", import.meta.url),
  new URL("./playout-worklet.js", import.meta.url),
];

/**
 * Loads both worklets from the folder of this module, or from `base`. Some browsers and policies
 * refuse worklet modules of another origin, and some bundlers rename their parts; then the same
 * text is loaded as a Blob. Rejects with a VoiceError when the text cannot be fetched.
 * @param {AudioContext} context
 * @param {string} [base] the URL of a folder with the files of this package, with a slash at its
 *   end
 */
export async function loadWorklets(context, base) {
  await Promise.all([CAPTURE, PLAYOUT].map((files) => load(context, base, files)));
}

/**
 * @param {AudioContext} context
 * @param {string | undefined} base
 * @param {URL[]} files the worklet last, behind what it imports
 */
async function load(context, base, files) {
  const urls = base ? files.map((url) => new URL(nameOf(url), new URL(base, location.href))) : files;
  try {
    await context.audioWorklet.addModule(urls[urls.length - 1]);
  } catch {
    if (context.state !== "closed") await addAsBlob(context, urls);
  }
}

/** @param {URL} url */
function nameOf(url) {
  return url.pathname.split("/").at(-1) ?? "";
}

/**
 * @param {AudioContext} context
 * @param {URL[]} urls
 */
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

/** @param {URL} url */
async function fetchScript(url) {
  try {
    const response = await fetch(url, { mode: "cors", credentials: "omit" });
    if (response.ok) return await response.text();
  } catch {
    // reported below
  }
  throw new VoiceError("server_gone");
}

/**
 * Removes imports and exports of a module, so that modules can follow each other in one scope.
 * @param {string} text
 */
function inOneScope(text) {
  return text.replace(/^import [^;]*;$/gm, "").replace(/^export /gm, "");
}
