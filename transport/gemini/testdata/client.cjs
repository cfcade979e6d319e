// A call with Google's own client, @google/genai or an older major version of it (PACKAGE). It is told where the gateway
// is (BASE, or Google's own variable), a key (KEY) and what to configure (CONFIG, JSON).
'use strict';
const {GoogleGenAI} = require(process.env.PACKAGE || '@google/genai');
const {emit, microphone, commands, end} = require('harness.cjs');

function onmessage(m) {
  const c = m.serverContent || {};
  for (const part of (c.modelTurn && c.modelTurn.parts) || []) {
    if (part.inlineData) emit('audio', {pcm: Buffer.from(part.inlineData.data, 'base64'), text: part.inlineData.mimeType});
  }
  for (const key of ['interrupted', 'generationComplete', 'turnComplete']) if (c[key]) emit(key);
  for (const key of ['inputTranscription', 'outputTranscription']) if (c[key]) emit(key, {text: c[key].text});
  if (m.usageMetadata) emit('usage', {data: m.usageMetadata});
  if (m.warnings) emit('warnings', {text: m.warnings.join('\n')});
  if (m.sessionResumptionUpdate && m.sessionResumptionUpdate.newHandle) handle = m.sessionResumptionUpdate.newHandle;
  for (const key of ['setupComplete', 'sessionResumptionUpdate', 'toolCall', 'toolCallCancellation', 'goAway', 'voiceActivity']) {
    if (m[key]) emit(key, {data: m[key]});
  }
}

let handle = '', connections = 0; // the newest handle; the program ends with its last connection

(async () => {
  const ai = new GoogleGenAI({apiKey: process.env.KEY, httpOptions: process.env.BASE ? {baseUrl: process.env.BASE} : {}});
  let mic;
  const connect = (more, own = ++connections) => ai.live.connect({
    model: 'gemini-live-2.5-flash-preview',
    config: {...JSON.parse(process.env.CONFIG || '{"responseModalities":["AUDIO"]}'), ...more},
    callbacks: {
      onmessage,
      onerror: (e) => emit('error', {text: String(e.message || e)}),
      onclose: (e) => { emit('close', {code: e.code, text: String(e.reason)}); if (own === connections) end(); },
    },
  });
  let session = await connect({});
  emit('connected');
  mic = microphone((frame) => session.sendRealtimeInput({audio: {data: frame.toString('base64'), mimeType: 'audio/pcm;rate=16000'}}));
  commands({
    say: (c) => mic.say(c.file),
    text: (c) => session.sendClientContent({turns: c.text}),
    content: (c) => session.sendClientContent({turns: c.turns, turnComplete: c.complete}),
    realtimeText: (c) => session.sendRealtimeInput({text: c.text}),
    video: () => session.sendRealtimeInput({video: {data: 'AAAA', mimeType: 'image/jpeg'}}),
    tool: (c) => session.sendToolResponse({functionResponses: c.responses}),
    // The connection breaks, or is closed in an orderly way; the client goes on with the newest handle or another one.
    reconnect: async (c) => {
      connections++;
      if (c.break) session.conn.ws.terminate(); else session.close();
      session = await connect({sessionResumption: {handle: c.handle || handle}});
      emit('connected');
    },
    bye: () => { mic.stop(); session.close(); },
  });
})().catch((err) => { emit('failed', {text: String(err.stack || err)}); end(); });
