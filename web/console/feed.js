// The API of the console: answers, and feeds.

import { FrameParser } from "../chat/sse.js";

/** @param {string} path */
export async function ask(path) {
  const answer = await fetch(`./api/${path}`, { headers: { accept: "application/json" } });
  const body = await answer.json().catch(() => null);
  if (!answer.ok) throw new Error(body?.error?.message ?? `The gateway answers ${answer.status}.`);
  return body;
}

/**
 * Reads a feed to its end, and returns the reason that it gives.
 * @param {string} path
 * @param {AbortSignal} signal
 * @param {(name: string, data: any) => void} take
 * @returns {Promise<string>}
 */
export async function follow(path, signal, take) {
  const answer = await fetch(`./api/${path}`, { signal, headers: { accept: "text/event-stream" } });
  if (!answer.ok || !answer.body) {
    const body = await answer.json().catch(() => null);
    throw new Error(body?.error?.message ?? `The gateway answers ${answer.status}.`);
  }
  const parser = new FrameParser();
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error("The connection to the gateway broke.");
    for (const frame of parser.push(value)) {
      if (frame.event === "over") return JSON.parse(frame.data).why;
      if (frame.event) take(frame.event, JSON.parse(frame.data));
    }
  }
}
