// A page of Pipecat's UI kit and React client, over the transport that ?websocket or ?webrtc names. It speaks when it is
// told to: the microphone is the page's own. window.peak is how loud the bot's track was, of WebRTC.
import React from 'react';
import {createRoot} from 'react-dom/client';
import {PipecatClient} from '@pipecat-ai/client-js';
import {PipecatClientAudio, PipecatClientProvider} from '@pipecat-ai/client-react';
import {SmallWebRTCTransport} from '@pipecat-ai/small-webrtc-transport';
import {WavMediaManager, WebSocketTransport} from '@pipecat-ai/websocket-transport';
import {ConnectButton, Conversation, TextInput} from '@pipecat-ai/voice-ui-kit';

const studio = new AudioContext();
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

window.peak = 0;
function listen(track) {
  const meter = new AnalyserNode(studio, {fftSize: 2048});
  new MediaStreamAudioSourceNode(studio, {mediaStream: new MediaStream([track])}).connect(meter);
  const pcm = new Float32Array(2048);
  setInterval(() => {
    meter.getFloatTimeDomainData(pcm);
    window.peak = Math.max(window.peak, ...pcm.map(Math.abs));
  }, 20);
}

const mediaManager = new WavMediaManager(undefined, 16000);
const overWebRTC = location.search === '?webrtc';
const transport = overWebRTC
  ? new SmallWebRTCTransport({mediaManager, webrtcRequestParams: {endpoint: location.origin + '/api/offer',
    requestData: {customer: '12'}}})
  : new WebSocketTransport({wsUrl: `ws://${location.host}/v1/rtvi`, mediaManager, recorderSampleRate: 16000});
window.errors = [];
const client = new PipecatClient({transport, enableMic: true, callbacks: {
  onTrackStarted: (track, participant) => { if (!participant?.local && track.kind === 'audio') listen(track); },
  onError: (m) => window.errors.push(m.data),
  onBotStoppedSpeaking: () => { document.body.dataset.state = 'spoken'; },
}});
window.client = client;

const e = React.createElement;
createRoot(document.getElementById('root')).render(e(PipecatClientProvider, {client},
  e(ConnectButton, {onConnect: () => client.connect(), onDisconnect: () => client.disconnect()}),
  e(Conversation, {}), e(TextInput, {}), e(PipecatClientAudio, {})));
