// The link of a call over WebRTC, set up by WHIP: sound goes by itself, events over a data channel.
//
//   import { VoiceClient, connectWebRTC } from "./client.js";
//   new VoiceClient({ url: "/v1/whip", connect: connectWebRTC });

import { isPacked, unpack } from "./drawing.js";
import { VoiceError } from "./messages.js";

const CHANNEL = "voicegw.v1";
const CONNECT_TIMEOUT_MS = 5_000; // until a way for sound is found; then the servers the gateway named are tried too
const DISTURBED_MS = 1_500; // how long nothing comes until another way is looked for
const RESTARTS_MAX = 20;
const QUEUE_MAX = 64; // events said before the data channel is open

const REFUSALS = { 400: "bad_hello", 401: "unauthorized", 429: "limit", 503: "busy" };

/**
 * Makes a link that calls when it is given the hello. It rejects with a VoiceError where there is no WebRTC.
 * @type {import("./client.js").Connect}
 */
export async function connectWebRTC({ url, token, signal, stream }, events) {
  if (!globalThis.RTCPeerConnection) throw new VoiceError("unsupported");
  if (signal.aborted) throw new VoiceError("caller_hung_up");
  return new PeerLink(url.replace(/^ws/, "http"), token, stream, events);
}

/** @implements {import("./client.js").Link} */
class PeerLink {
  rate = null; // what goes by itself has its own
  remote;
  #url;
  #token;
  #events;
  #pc = new RTCPeerConnection({ bundlePolicy: "max-bundle" });
  #sender;
  #channel;
  #queue = []; // of events
  #unpacking = null; // a promise while a drawing is unpacked
  #called = false;
  #closed = false;
  #session = null; // its URL, once there is one
  #restarts = 0;
  #timer = 0;
  #leave = () => this.close();

  constructor(url, token, stream, events) {
    this.#url = url;
    this.#token = token;
    this.#events = events;
    const [track] = stream.getAudioTracks();
    const transceiver = this.#pc.addTransceiver(track, { direction: "sendrecv", streams: [stream] });
    this.#sender = transceiver.sender;
    this.remote = new MediaStream([transceiver.receiver.track]);
    this.#channel = this.#pc.createDataChannel(CHANNEL);
    this.#channel.onmessage = ({ data }) => this.#told(data);
    this.#channel.onopen = () => this.#flush();
    this.#channel.onclose = () => this.#inTurn(() => this.#end("server_lost"));
    this.#pc.onconnectionstatechange = () => this.#watch();
    globalThis.addEventListener("pagehide", this.#leave);
  }

  get open() {
    return !this.#closed;
  }

  accept() {}

  /** The first event is the hello; it goes with the call. */
  send(text) {
    if (this.#closed) return;
    if (!this.#called) {
      this.#called = true;
      this.#call(text).catch((error) => this.#end(error instanceof VoiceError ? error.code : "server_gone"));
    } else if (this.#channel.readyState === "open") this.#channel.send(text);
    else if (this.#queue.length < QUEUE_MAX) this.#queue.push(text);
  }

  /** What the browser counts of the connection. */
  stats() {
    return this.#pc.getStats();
  }

  sendAudio() {
    return { sent: 0, dropped: 0, stalled: false };
  }

  async setStream(stream) {
    await this.#sender.replaceTrack(stream.getAudioTracks()[0]);
  }

  close() {
    if (this.#closed) return;
    this.#shut();
    if (this.#session) this.#ask(this.#session, "DELETE", { keepalive: true }).catch(() => {});
  }

  // The offer goes without candidates: the gateway waits to be found.
  async #call(hello) {
    await this.#pc.setLocalDescription();
    const response = await this.#ask(this.#url, "POST", {
      body: this.#pc.localDescription.sdp,
      headers: { "Content-Type": "application/sdp", "Voicegw-Hello": header(hello) },
    });
    const answer = await response.text();
    if (response.status !== 201) throw new VoiceError(REFUSALS[response.status] ?? "refused", answer);
    this.#session = new URL(response.headers.get("Location"), this.#url).href;
    if (this.#closed) {
      this.#ask(this.#session, "DELETE", { keepalive: true }).catch(() => {});
      return;
    }
    const iceServers = servers(response.headers.get("Link") ?? "");
    if (iceServers.length > 0) this.#pc.setConfiguration({ iceServers, bundlePolicy: "max-bundle" });
    await this.#pc.setRemoteDescription({ type: "answer", sdp: answer });
    this.#timer = setTimeout(() => this.#restart(), CONNECT_TIMEOUT_MS);
  }

  #ask(url, method, { headers = {}, ...rest }) {
    if (this.#token) headers.Authorization = `Bearer ${this.#token}`;
    return fetch(url, { method, headers, cache: "no-store", credentials: "omit", ...rest });
  }

  #told(text) {
    this.#inTurn(async () => {
      const event = isPacked(text) ? await unpack(text) : text;
      if (event && !this.#closed) this.#events.text(event);
    }, isPacked(text));
  }

  // Acts at once, or behind a drawing that is being unpacked.
  #inTurn(act, slow = false) {
    if (!this.#unpacking && !slow) {
      act();
      return;
    }
    const last = Promise.resolve(this.#unpacking).then(act);
    this.#unpacking = last;
    last.finally(() => this.#unpacking === last && (this.#unpacking = null));
  }

  #flush() {
    for (const text of this.#queue) this.#channel.send(text);
    this.#queue = [];
  }

  #watch() {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    const state = this.#pc.connectionState;
    if (state === "disconnected") this.#timer = setTimeout(() => this.#restart(), DISTURBED_MS);
    else if (state === "connecting" || state === "new") this.#timer = setTimeout(() => this.#restart(), CONNECT_TIMEOUT_MS);
    else if (state === "failed") this.#restart();
    else if (state === "closed") this.#end("server_lost");
  }

  // Looks for another way, as after a change of the network (RFC 9725 section 4.3.3).
  async #restart() {
    if (this.#closed || !this.#session || this.#pc.signalingState !== "stable") return;
    if (++this.#restarts > RESTARTS_MAX) {
      this.#end("server_lost");
      return;
    }
    try {
      await this.#negotiate();
    } catch {
      this.#timer = setTimeout(() => this.#restart(), DISTURBED_MS);
    }
  }

  async #negotiate() {
    const before = this.#pc.currentRemoteDescription.sdp;
    await this.#pc.setLocalDescription(await this.#pc.createOffer({ iceRestart: true }));
    try {
      const response = await this.#ask(this.#session, "PATCH", {
        body: fragment(this.#pc.localDescription.sdp),
        headers: { "Content-Type": "application/trickle-ice-sdpfrag", "If-Match": '"*"' },
      });
      if (response.status === 404) this.#end("server_lost");
      if (response.status !== 200) throw new VoiceError("server_lost");
      const sdp = renewed(before, await response.text());
      await this.#pc.setRemoteDescription({ type: "answer", sdp });
    } catch (error) {
      if (this.#pc.signalingState === "have-local-offer") await this.#pc.setLocalDescription({ type: "rollback" });
      throw error;
    }
  }

  #end(reason) {
    if (this.#closed) return;
    this.#shut();
    this.#events.closed(reason);
  }

  #shut() {
    this.#closed = true;
    clearTimeout(this.#timer);
    globalThis.removeEventListener("pagehide", this.#leave);
    this.#pc.close();
  }
}

/** A hello as the value of a header: ASCII, and without the token, which has its own. */
function header(hello) {
  const { token: _, ...settings } = JSON.parse(hello);
  const escape = (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(settings).replace(/[\u007f-\uffff]/g, escape);
}

/** The STUN and TURN servers of Link headers. */
function servers(links) {
  const list = [];
  for (const [, url, rest] of links.matchAll(/<([^>]*)>((?:\s*;\s*[a-z-]+="(?:[^"\\]|\\.)*")*)/g)) {
    const fields = {};
    for (const [, key, value] of rest.matchAll(/([a-z-]+)="((?:[^"\\]|\\.)*)"/g)) fields[key] = value.replace(/\\(.)/g, "$1");
    const { rel, username, credential } = fields;
    if (rel === "ice-server") list.push(username ? { urls: url, username, credential } : { urls: url });
  }
  return list;
}

const lines = (sdp) => sdp.split(/\r?\n/);

/** What of an offer says who restarts ICE. */
function fragment(offer) {
  const kept = lines(offer).filter((l) => /^(a=ice-(ufrag|pwd):|a=mid:|m=)/.test(l));
  const end = kept.findIndex((l, i) => l.startsWith("m=") && i > kept.findIndex((k) => k.startsWith("m=")));
  return `${(end < 0 ? kept : kept.slice(0, end)).join("\r\n")}\r\n`;
}

/** An answer with the credentials and candidates of a fragment. */
function renewed(answer, piece) {
  const of = (key) => lines(piece).find((l) => l.startsWith(key)) ?? "";
  const candidates = lines(piece).filter((l) => l.startsWith("a=candidate:"));
  const out = [];
  for (const line of lines(answer)) {
    if (line.startsWith("a=candidate:") || line === "a=end-of-candidates") continue;
    if (line.startsWith("a=ice-ufrag:")) out.push(of("a=ice-ufrag:"));
    else if (line.startsWith("a=ice-pwd:")) out.push(of("a=ice-pwd:"), ...candidates.splice(0));
    else out.push(line);
  }
  return out.join("\r\n");
}
