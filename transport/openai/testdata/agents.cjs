// A call with OpenAI's agents SDK (PKG): it is told where the gateway is (BASE, https) and a key (KEY). Its agent has a
// tool, and a history that the test may ask for. It plays what it gets, and stops when the SDK says so.
'use strict';
const {RealtimeAgent, RealtimeSession, OpenAIRealtimeWebSocket, tool} = require(process.env.PKG);
const {emit, microphone, commands, end} = require('harness.cjs');

const weather = tool({
  name: 'weather', description: 'tells the weather of a city', strict: false,
  parameters: {type: 'object', properties: {city: {type: 'string'}}, required: ['city'], additionalProperties: false},
  execute: async ({city}) => { emit('tool', {text: city}); return `21.5 degrees in ${city}`; },
});
const agent = (instructions) => new RealtimeAgent({name: 'agent', instructions, tools: [weather]});
const transport = new OpenAIRealtimeWebSocket({useInsecureApiKey: true});
const session = new RealtimeSession(agent('Be brief.'), {transport, model: 'gpt-realtime', tracingDisabled: false});

const upsample = (frame) => { // 16 to 24 kHz, in straight lines between the samples
  const n = frame.length / 2, pcm = Buffer.alloc(n * 3);
  const at = (i) => (i < 0 ? upsample.last : frame.readInt16LE(2 * i));
  for (let i = 0; i < n * 1.5; i++) {
    const x = (i + 1) * 2 / 3 - 1, k = Math.floor(x);
    pcm.writeInt16LE(Math.round(at(k) + (at(Math.min(n - 1, k + 1)) - at(k)) * (x - k)), 2 * i);
  }
  upsample.last = at(n - 1);
  return pcm.buffer.slice(pcm.byteOffset, pcm.byteOffset + pcm.length);
};
upsample.last = 0;

session.on('audio', (e) => emit('audio', {pcm: Buffer.from(e.data)}));
session.on('audio_interrupted', () => emit('interrupted'));
session.on('error', (e) => emit('failed', {text: JSON.stringify(e)}));
session.on('transport_event', (e) => {
  if (e.type !== 'response.output_audio.delta') {
    emit(e.type, {text: e.transcript || e.delta || (e.error && e.error.message) || '', data: e});
  }
});
transport.on('connection_change', (status) => emit('connection', {text: status}));

let mic;
(async () => {
  await session.connect({apiKey: process.env.KEY, url: process.env.BASE.replace('https', 'wss') + '/v1/realtime?model=m'});
  mic = microphone((frame) => session.sendAudio(upsample(frame)));
  emit('connected');
})().catch((err) => { emit('failed', {text: String(err.stack || err)}); end(); });
commands({
  say: (c) => mic.say(c.file),
  write: (c) => session.sendMessage(c.text),
  update: (c) => session.updateAgent(agent(c.text)),
  history: () => emit('history', {data: session.history}),
  bye: () => { mic.stop(); session.close(); end(); },
});
