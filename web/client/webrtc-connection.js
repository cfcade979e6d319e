// The connection of a call over WebRTC: WHIP sets it up, sound goes as streams, events go over a
// data channel.
//
//   import { VoiceClient, connectWebRTC } from "https://gateway.example/client.js";
//   new VoiceClient({ url: "https://gateway.example/v1/whip", connect: connectWebRTC });

import { VoiceError } from "./errors.js";
import { isPacked, unpack } from "./net-graph.js";
import { helloHeader, iceFragment, iceServersOf, withFragment } from "./whip.js";

/** @typedef {import("./index.js").Connection} Connection */

const CHANNEL = "voicegw.v1";
const CONNECT_TIMEOUT_MS = 5_000; // to find a route; then ICE restarts with the servers that the gateway named
const DISTURBED_MS = 1_500; // without packets, until ICE restarts
const RESTARTS_MAX = 20;
const QUEUE_MAX = 64; // events sent before the data channel is open

/** @type {Record<number, string>} */
const REFUSALS = { 400: "bad_hello", 401: "unauthorized", 429: "limit", 503: "busy" };

/**
 * Makes a connection that calls when it sends the hello. Rejects with a VoiceError where there is
 * no WebRTC.
 * @type {import("./index.js").Connect}
 */
export async function connectWebRTC({ url, token, signal, stream }, events) {
  if (!globalThis.RTCPeerConnection) throw new VoiceError("unsupported");
  if (signal.aborted) throw new VoiceError("caller_hung_up");
  return new WebRTCConnection(url.replace(/^ws/, "http"), token, stream, events);
}

/** @implements {Connection} */
class WebRTCConnection {
  rate = null; // streams have rates of their own
  /** @type {MediaStream} */
  remote;
  #url;
  #token;
  #events;
  #pc = new RTCPeerConnection({ bundlePolicy: "max-bundle" });
  #sender;
  #channel;
  /** @type {string[]} */
  #queue = []; // of events, until the data channel is open
  /** @type {Promise<void> | null} */
  #unpacking = null; // while a drawing is unpacked
  #called = false;
  #closed = false;
  /** @type {string | null} */
  #session = null; // the URL of the WHIP session, once there is one
  #restarts = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #onPageHide = () => this.close();

  /**
   * @param {string} url
   * @param {string | undefined} token
   * @param {MediaStream} stream
   * @param {import("./index.js").ConnectionEvents} events
   */
  constructor(url, token, stream, events) {
    this.#url = url;
    this.#token = token;
    this.#events = events;
    const [track] = stream.getAudioTracks();
    const transceiver = this.#pc.addTransceiver(track, { direction: "sendrecv", streams: [stream] });
    this.#sender = transceiver.sender;
    this.remote = new MediaStream([transceiver.receiver.track]);
    this.#channel = this.#pc.createDataChannel(CHANNEL);
    this.#channel.onmessage = ({ data }) => this.#receive(data);
    this.#channel.onopen = () => this.#flush();
    this.#channel.onclose = () => this.#inOrder(() => this.#end("server_lost"));
    this.#pc.onconnectionstatechange = () => this.#onState();
    globalThis.addEventListener("pagehide", this.#onPageHide);
  }

  get open() {
    return !this.#closed;
  }

  accept() {}

  /**
   * Sends an event. The first one is the hello, which makes the call.
   * @param {string} text
   */
  send(text) {
    if (this.#closed) return;
    if (!this.#called) {
      this.#called = true;
      this.#call(text).catch((error) => this.#end(error instanceof VoiceError ? error.code : "server_gone"));
    } else if (this.#channel.readyState === "open") this.#channel.send(text);
    else if (this.#queue.length < QUEUE_MAX) this.#queue.push(text);
  }

  /** The statistics of the browser for this connection. */
  stats() {
    return this.#pc.getStats();
  }

  sendAudio() {
    return { sent: 0, dropped: 0, stalled: false }; // the microphone goes as a stream
  }

  /** @param {MediaStream} stream */
  async setStream(stream) {
    await this.#sender.replaceTrack(stream.getAudioTracks()[0]);
  }

  close() {
    if (this.#closed) return;
    this.#release();
    this.#deleteSession();
  }

  /**
   * Makes the call. The offer has no candidates: the gateway waits until the browser finds it.
   * @param {string} hello
   */
  async #call(hello) {
    const response = await this.#request(this.#url, "POST", {
      body: await this.#offer(),
      headers: { "Content-Type": "application/sdp", "Voicegw-Hello": helloHeader(hello) },
    });
    const answer = await response.text();
    if (response.status !== 201) throw new VoiceError(REFUSALS[response.status] ?? "refused", answer);
    this.#session = new URL(response.headers.get("Location") ?? "", this.#url).href;
    if (this.#closed) {
      this.#deleteSession();
      return;
    }
    const iceServers = iceServersOf(response.headers.get("Link") ?? "");
    if (iceServers.length > 0) this.#pc.setConfiguration({ iceServers, bundlePolicy: "max-bundle" });
    await this.#pc.setRemoteDescription({ type: "answer", sdp: answer });
    this.#timer = setTimeout(() => this.#restart(), CONNECT_TIMEOUT_MS);
  }

  /** @param {RTCOfferOptions} [options] */
  async #offer(options) {
    await this.#pc.setLocalDescription(options ? await this.#pc.createOffer(options) : undefined);
    return this.#pc.localDescription?.sdp ?? "";
  }

  #deleteSession() {
    if (this.#session) this.#request(this.#session, "DELETE", { keepalive: true }).catch(() => {});
  }

  /**
   * @param {string} url
   * @param {string} method
   * @param {RequestInit & {headers?: Record<string, string>}} init
   */
  #request(url, method, { headers = {}, ...rest }) {
    if (this.#token) headers.Authorization = `Bearer ${this.#token}`;
    return fetch(url, { method, headers, cache: "no-store", credentials: "omit", ...rest });
  }

  /** @param {string} text */
  #receive(text) {
    const packed = isPacked(text);
    this.#inOrder(async () => {
      const event = packed ? await unpack(text) : text;
      if (event && !this.#closed) this.#events.text(event);
    }, packed);
  }

  /**
   * Acts at once, or after a drawing that is being unpacked.
   * @param {() => void | Promise<void>} act
   * @param {boolean} [isSlow] whether later events must wait for it
   */
  #inOrder(act, isSlow = false) {
    if (!this.#unpacking && !isSlow) {
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

  #onState() {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    const state = this.#pc.connectionState;
    if (state === "disconnected") this.#timer = setTimeout(() => this.#restart(), DISTURBED_MS);
    else if (state === "connecting" || state === "new") this.#timer = setTimeout(() => this.#restart(), CONNECT_TIMEOUT_MS);
    else if (state === "failed") this.#restart();
    else if (state === "closed") this.#end("server_lost");
  }

  // Restarts ICE to find another route, as after a change of the network (RFC 9725 section 4.3.3).
  async #restart() {
    if (this.#closed || !this.#session || this.#pc.signalingState !== "stable") return;
    if (++this.#restarts > RESTARTS_MAX) {
      this.#end("server_lost");
      return;
    }
    try {
      await this.#negotiate(this.#session);
    } catch {
      this.#timer = setTimeout(() => this.#restart(), DISTURBED_MS);
    }
  }

  /** @param {string} session */
  async #negotiate(session) {
    const before = this.#pc.currentRemoteDescription?.sdp ?? "";
    const offer = await this.#offer({ iceRestart: true });
    try {
      const response = await this.#request(session, "PATCH", {
        body: iceFragment(offer),
        headers: { "Content-Type": "application/trickle-ice-sdpfrag", "If-Match": '"*"' },
      });
      if (response.status === 404) this.#end("server_lost");
      if (response.status !== 200) throw new VoiceError("server_lost");
      const sdp = withFragment(before, await response.text());
      await this.#pc.setRemoteDescription({ type: "answer", sdp });
    } catch (error) {
      // setRemoteDescription may have changed the state meanwhile, which TypeScript does not see.
      if (this.#pc.signalingState === "have-local-offer") await this.#pc.setLocalDescription({ type: "rollback" });
      throw error;
    }
  }

  /** @param {string} reason */
  #end(reason) {
    if (this.#closed) return;
    this.#release();
    this.#events.closed(reason);
  }

  #release() {
    this.#closed = true;
    clearTimeout(this.#timer);
    globalThis.removeEventListener("pagehide", this.#onPageHide);
    this.#pc.close();
  }
}
