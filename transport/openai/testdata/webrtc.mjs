// A page with OpenAI's agents SDK, which calls over WebRTC with the client secret of ?secret. It speaks when it is told
// to: the microphone is the page's own. What is heard is kept at 16 kHz.
import {OpenAIRealtimeWebRTC, RealtimeAgent, RealtimeSession, tool} from 'PKG';

const studio = new AudioContext({sampleRate: 48000});
const microphone = studio.createMediaStreamDestination();
const quiet = new ConstantSourceNode(studio, {offset: 0});
quiet.connect(microphone);
quiet.start();
navigator.mediaDevices.getUserMedia = async () => microphone.stream.clone();
window.speak = async (name) => {
  const wav = await (await fetch('/said/' + name)).arrayBuffer();
  const source = new AudioBufferSourceNode(studio, {buffer: await studio.decodeAudioData(wav)});
  source.connect(microphone);
  source.start();
};

const ear = new AudioContext({sampleRate: 16000});
const processor = `registerProcessor('keep', class extends AudioWorkletProcessor {
  process([[pcm]]) { if (pcm) this.port.postMessage(pcm.slice()); return true; }
})`;
let heard = [];
window.deaf = () => { heard = []; };
window.heard = () => heard.flatMap((block) => Array.from(block, (x) => Math.round(x * 32767)));
async function keep(stream) {
  await ear.audioWorklet.addModule(URL.createObjectURL(new Blob([processor], {type: 'text/javascript'})));
  const node = new AudioWorkletNode(ear, 'keep');
  node.port.onmessage = (e) => heard.push(e.data);
  new MediaStreamAudioSourceNode(ear, {mediaStream: stream}).connect(node);
  node.connect(ear.destination);
}

window.tools = [];
const weather = tool({
  name: 'weather', description: 'tells the weather of a city', strict: false,
  parameters: {type: 'object', properties: {city: {type: 'string'}}, required: ['city'], additionalProperties: false},
  execute: async ({city}) => { window.tools.push(city); return `21.5 degrees in ${city}`; },
});
const audioElement = document.createElement('audio');
const transport = new OpenAIRealtimeWebRTC({baseUrl: location.origin + '/v1/realtime/calls', audioElement});
const session = new RealtimeSession(new RealtimeAgent({name: 'agent', instructions: 'Be brief.', tools: [weather]}),
  {transport, model: 'gpt-realtime'});
window.session = session;
window.transport = transport;
window.events = [];
window.errors = [];
window.count = (type) => window.events.filter((e) => e.type === type).length;
session.on('transport_event', (e) => window.events.push(e));
session.on('error', (e) => window.errors.push(JSON.stringify(e)));
transport.on('connection_change', (status) => { document.body.dataset.state = status; });
window.call = () => session.connect({apiKey: new URLSearchParams(location.search).get('secret')}).then(async () => {
  await keep(audioElement.srcObject);
  window.connected = transport.callId;
}, (error) => { window.failed = String(error); });
window.loaded = true;
