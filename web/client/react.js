// A call in React, as a hook:
//
//   import { useVoice } from "voicegw/react";
//   const { state, turns, start, end } = useVoice({ url: "https://gateway.example/v1/voice" });
//
// react.d.ts has the types. React 18 or later.

import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { callTool } from "./tool-calls.js";
import { VoiceClient } from "./voice-client.js";

/**
 * @typedef {import("./react.js").Voice} Voice
 * @typedef {import("./index.js").VoiceOptions} VoiceOptions
 * @typedef {Omit<Voice, "client" | "start" | "end" | "mute" | "sendText">} Snapshot
 */

/**
 * One caller, for as long as the component is mounted. The component renders again when what the
 * hook returns changes. Tools are the ones of the newest render; other options apply to the next
 * call.
 * @param {VoiceOptions} [options]
 * @returns {Voice}
 */
export function useVoice(options = {}) {
  const [store] = useState(() => new VoiceStore());
  const latest = useRef(options);
  useEffect(() => {
    store.configure(latest.current, options);
    latest.current = options;
  });
  useEffect(() => () => void store.client.end(), [store]);
  const snapshot = useSyncExternalStore(store.subscribe, store.snapshot, store.snapshot);
  return { ...snapshot, ...store.actions };
}

/** A client, and what its events say of it as an object that a change replaces. */
class VoiceStore {
  client = new VoiceClient();
  /** @type {VoiceOptions} */
  #options = {};
  /** @type {Snapshot} */
  #snapshot = {
    state: "idle",
    muted: false,
    turns: [],
    callerSpeaking: false,
    modelSpeaking: false,
    onHold: false,
    isProtected: false,
    consentAsked: false,
    error: null,
    ended: null,
  };
  /** @type {Set<() => void>} */
  #listeners = new Set();

  constructor() {
    const { client } = this;
    this.actions = {
      client,
      start: () => client.start().catch(() => null), // the events `error` and `end` report it
      end: () => client.end(),
      mute: (on = true) => client.mute(on),
      sendText: (/** @type {string} */ text) => client.sendText(text),
    };
    client.on("state", ({ state }) => this.#onState(state));
    client.on("turns", ({ turns }) => this.#set({ turns }));
    client.on("mute", ({ on }) => this.#set({ muted: on }));
    client.on("speech", ({ state }) => this.#set({ callerSpeaking: state === "start" }));
    client.on("playout", ({ playing }) => this.#set({ modelSpeaking: playing }));
    client.on("hold", ({ on }) => this.#set({ onHold: on }));
    client.on("protected", ({ on }) => this.#set({ isProtected: on }));
    client.on("consent", ({ asked }) => this.#set({ consentAsked: asked }));
    client.on("error", (error) => this.#set({ error }));
    client.on("end", (ended) => this.#set({ ended }));
  }

  /** @param {() => void} listener */
  subscribe = (listener) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  snapshot = () => this.#snapshot;

  /**
   * @param {VoiceOptions} before of the render before
   * @param {VoiceOptions} options
   */
  configure(before, options) {
    const gone = Object.fromEntries(Object.keys(before).map((name) => [name, undefined]));
    this.#options = options;
    this.client.configure({ ...gone, ...options, tools: undefined, onToolCall: (call) => callTool(this.#options, call) });
  }

  /** @param {import("./index.js").State} state */
  #onState(state) {
    if (state === "connecting") this.#set({ state, error: null, ended: null });
    else if (state !== "ended") this.#set({ state });
    else this.#set({ state, callerSpeaking: false, onHold: false, isProtected: false, consentAsked: false });
  }

  /** @param {Partial<Snapshot>} fields */
  #set(fields) {
    this.#snapshot = { ...this.#snapshot, ...fields };
    for (const listener of this.#listeners) listener();
  }
}
