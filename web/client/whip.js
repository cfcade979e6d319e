// What WHIP needs besides HTTP (RFC 9725): headers, and fragments of SDP. Pure.

/**
 * A hello as the value of a header: ASCII, and without the token, which has a header of its own.
 * @param {string} hello
 */
export function helloHeader(hello) {
  const { token: _, ...settings } = JSON.parse(hello);
  const escape = (/** @type {string} */ c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(settings).replace(/[\u007f-\uffff]/g, escape);
}

/**
 * The STUN and TURN servers of Link headers.
 * @param {string} links
 * @returns {RTCIceServer[]}
 */
export function iceServersOf(links) {
  const list = [];
  for (const [, url, rest] of links.matchAll(/<([^>]*)>((?:\s*;\s*[a-z-]+="(?:[^"\\]|\\.)*")*)/g)) {
    /** @type {Record<string, string>} */
    const fields = {};
    for (const [, key, value] of rest.matchAll(/([a-z-]+)="((?:[^"\\]|\\.)*)"/g)) fields[key] = value.replace(/\\(.)/g, "$1");
    const { rel, username, credential } = fields;
    if (rel === "ice-server") list.push(username ? { urls: url, username, credential } : { urls: url });
  }
  return list;
}

/** @param {string} sdp */
const linesOf = (sdp) => sdp.split(/\r?\n/);

/**
 * The part of an offer that restarts ICE: the credentials, and the first media section.
 * @param {string} offer
 */
export function iceFragment(offer) {
  const kept = linesOf(offer).filter((l) => /^(a=ice-(ufrag|pwd):|a=mid:|m=)/.test(l));
  const first = kept.findIndex((l) => l.startsWith("m="));
  const second = kept.findIndex((l, i) => l.startsWith("m=") && i > first);
  return `${(second < 0 ? kept : kept.slice(0, second)).join("\r\n")}\r\n`;
}

/**
 * An answer with the credentials and candidates of a fragment in place of its own.
 * @param {string} answer
 * @param {string} fragment
 */
export function withFragment(answer, fragment) {
  const lineOf = (/** @type {string} */ key) => linesOf(fragment).find((l) => l.startsWith(key)) ?? "";
  const candidates = linesOf(fragment).filter((l) => l.startsWith("a=candidate:"));
  const out = [];
  for (const line of linesOf(answer)) {
    if (line.startsWith("a=candidate:") || line === "a=end-of-candidates") continue;
    if (line.startsWith("a=ice-ufrag:")) out.push(lineOf("a=ice-ufrag:"));
    else if (line.startsWith("a=ice-pwd:")) out.push(lineOf("a=ice-pwd:"), ...candidates.splice(0));
    else out.push(line);
  }
  return out.join("\r\n");
}
