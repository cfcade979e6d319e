// A call with OpenAI's own client (PKG, and BETA for that of the API's beta): it is told where the gateway is (BASE,
// https), a key (KEY) and a session (SESSION, JSON). It plays what it gets as such clients do: when the caller is heard it stops, and says how much was heard.
'use strict';
const fs = require('fs');
const pkg = process.env.PKG || 'openai';
const {OpenAI} = require(pkg);
const {OpenAIRealtimeWS} = require(pkg + (process.env.BETA ? '/beta/realtime/ws' : '/realtime/ws'));
const {emit, microphone, commands, end} = require('harness.cjs');

const client = new OpenAI({apiKey: process.env.KEY, baseURL: process.env.BASE + '/v1'});
const rt = new OpenAIRealtimeWS({model: 'gpt-realtime'}, client);
const upsample = (frame) => { // 16 to 24 kHz, in straight lines between the samples
  const n = frame.length / 2, pcm = Buffer.alloc(n * 3);
  const at = (i) => (i < 0 ? upsample.last : frame.readInt16LE(2 * i));
  for (let i = 0; i < n * 1.5; i++) {
    const x = (i + 1) * 2 / 3 - 1, k = Math.floor(x);
    pcm.writeInt16LE(Math.round(at(k) + (at(Math.min(n - 1, k + 1)) - at(k)) * (x - k)), 2 * i);
  }
  upsample.last = at(n - 1);
  return pcm;
};
upsample.last = 0;

let playing = null; // {item, from, ms}: what is played, since when, and how much came
function heard() {
  if (!playing) return;
  const ms = Math.floor(Math.min(playing.ms, performance.now() - playing.from));
  if (ms < playing.ms) {
    rt.send({type: 'conversation.item.truncate', item_id: playing.item, content_index: 0, audio_end_ms: ms});
    emit('stopped', {data: {ms, item: playing.item}});
  }
  playing = null;
}

rt.on('event', (e) => {
  switch (e.type) {
    case 'response.audio.delta':
    case 'response.output_audio.delta': {
      const pcm = Buffer.from(e.delta, 'base64');
      if (!playing || playing.item !== e.item_id) playing = {item: e.item_id, from: performance.now(), ms: 0};
      playing.ms += pcm.length / 48;
      emit('audio', {pcm});
      break;
    }
    case 'input_audio_buffer.speech_started':
      heard();
      // falls through
    default:
      emit(e.type, {text: e.transcript || e.delta || (e.error && e.error.message) || '', data: e});
  }
});
rt.on('error', () => {}); // they are events too
rt.socket.on('error', (err) => emit('failed', {text: String(err)}));
rt.socket.on('close', (code, reason) => { emit('close', {code, text: String(reason)}); end(); });
rt.on('session.created', () => {
  rt.send({type: 'session.update', session: JSON.parse(process.env.SESSION)});
});
let mic;
rt.on('session.updated', () => {
  mic = mic || microphone((frame) => rt.send({type: 'input_audio_buffer.append', audio: upsample(frame).toString('base64')}));
});
commands({
  say: (c) => mic.say(c.file),
  speak: (c) => { // and tell when it is said
    const ms = fs.statSync(c.file).size / 32;
    mic.say(c.file);
    setTimeout(() => emit('spoken'), ms + 100);
  },
  send: (c) => rt.send(c.event),
  bye: () => { if (mic) mic.stop(); rt.close(); },
});
