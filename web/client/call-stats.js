// The counters of a call, described by VoiceStats in index.d.ts.

/** @typedef {Omit<import("./index.js").VoiceStats, "state" | "muted">} CallStats */

/**
 * The counters of a call that begins.
 * @returns {CallStats}
 */
export function newStats() {
  return {
    call: "",
    contextRate: 0,
    inputRate: 0,
    outputRate: 0,
    framesSent: 0,
    framesReceived: 0,
    framesCleared: 0,
    micDropped: 0,
    acks: 0,
    playedMs: 0,
    turns: 0,
    resumes: 0,
    clears: 0,
    interruptions: 0,
    underruns: 0,
    selfHearing: 0,
    unknownEvents: 0,
    badEvents: 0,
    lastBadEvent: "",
    firstAudioMs: [],
    bargeInSilenceMs: [],
    closed: "",
  };
}
