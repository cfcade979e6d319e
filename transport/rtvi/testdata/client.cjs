// A call with Pipecat's own client and its WebSocket transport. Under node there is no sound device: a media manager
// that reads a file and reports what comes takes the place of the one for browsers. It has a function, weather, which
// takes WEATHER_MS.
'use strict';
const {WebSocket} = require('ws');
const {emit, microphone, commands, end} = require('harness.cjs');

globalThis.WebSocket = class extends WebSocket {
  constructor(...args) { super(...args); this.binaryType = 'blob'; } // as in a browser
};
for (const level of ['debug', 'info', 'log', 'warn']) console[level] = () => {};
globalThis.window = {navigator: {userAgent: 'node'}};
if (!globalThis.navigator) globalThis.navigator = window.navigator;
const {PipecatClient} = require('@pipecat-ai/client-js');
const {WebSocketTransport} = require('@pipecat-ai/websocket-transport');

// What WebSocketTransport asks of a media manager.
class Devices {
  setUserAudioCallback(callback) { this.heard = callback; }
  setClientOptions() {}
  async initialize() {}
  async connect() {
    this.mic = microphone((frame) => this.heard(frame.buffer.slice(frame.byteOffset, frame.byteOffset + frame.length)));
  }
  async disconnect() { if (this.mic) this.mic.stop(); }
  bufferBotAudio(pcm) { emit('audio', {pcm: Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength)}); }
  enableMic() {}
  enableCam() {}
  get isMicEnabled() { return true; }
  get isCamEnabled() { return false; }
  tracks() { return {local: {}}; }
}

(async () => {
  const devices = new Devices();
  const transport = new WebSocketTransport({wsUrl: process.env.BASE, mediaManager: devices});
  const client = new PipecatClient({
    transport,
    enableMic: true,
    callbacks: {
      onConnected: () => emit('connected'),
      onBotReady: (d) => emit('botReady', {data: d}),
      onUserStartedSpeaking: () => emit('userStartedSpeaking'),
      onUserStoppedSpeaking: () => emit('userStoppedSpeaking'),
      onBotStartedSpeaking: () => emit('botStartedSpeaking'),
      onBotStoppedSpeaking: () => emit('botStoppedSpeaking'),
      onBotLlmStopped: () => emit('botLlmStopped'),
      onUserTranscript: (d) => d.final && emit('userTranscript', {text: d.text}),
      onBotOutput: (d) => emit('botOutput', {text: d.text, data: d}),
      onBotTranscript: (d) => emit('botTranscript', {text: d.text}),
      onLLMFunctionCallStopped: (d) => emit('functionCallStopped', {data: d}),
      onUserMuteStarted: () => emit('userMuteStarted'),
      onUserMuteStopped: () => emit('userMuteStopped'),
      onServerMessage: (d) => emit('serverMessage', {data: d}),
      onError: (m) => emit('error', {text: (m.data && m.data.message) || String(m)}),
      onDisconnected: () => emit('disconnected'),
    },
  });
  client.registerFunctionCallHandler('weather', async (call) => {
    emit('functionCall', {data: call});
    await new Promise((done) => setTimeout(done, Number(process.env.WEATHER_MS || 0)));
    return {celsius: 21.5};
  });
  commands({
    say: (c) => devices.mic.say(c.file),
    text: (c) => client.sendText(c.text),
    dtmf: (c) => client.sendDTMF(c.text),
    message: (c) => client.sendClientMessage(c.text, {items: 3}),
    leave: () => client.disconnectBot(),
    bye: async () => { await client.disconnect(); end(); },
  });
  await client.connect(process.env.TOKEN ? {token: process.env.TOKEN} : undefined);
  emit('ready');
})().catch((err) => { emit('failed', {text: String((err && err.stack) || err)}); end(); });
