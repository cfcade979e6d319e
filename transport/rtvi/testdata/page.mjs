// A page with Pipecat's client, its WebSocket transport and its WavMediaManager. What the bot says is played, and kept
// for the test.
import {PipecatClient} from '@pipecat-ai/client-js';
import {WebSocketTransport, WavMediaManager} from '@pipecat-ai/websocket-transport';

const devices = new WavMediaManager(undefined, 16000);
const play = devices.bufferBotAudio.bind(devices);
window.heard = [];
devices.bufferBotAudio = (pcm, id) => { window.heard.push(...pcm); return play(pcm, id); };
const state = (s) => { document.body.dataset.state = s; };
const client = new PipecatClient({
  transport: new WebSocketTransport({wsUrl: `ws://${location.host}/v1/rtvi`, mediaManager: devices, recorderSampleRate: 16000}),
  enableMic: true,
  callbacks: {
    onBotReady: () => state('ready'),
    onBotStartedSpeaking: () => state('speaking'),
    onBotStoppedSpeaking: () => state('spoken'),
  },
});
window.hangUp = () => client.disconnect();
client.connect().catch((err) => state('failed: ' + err));
