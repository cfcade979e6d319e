// A page that publishes sound and pictures with Eyevinn's WHIP client, and speaks when it is told to.
import {WHIPClient} from '@eyevinn/whip-web-client';

const studio = new AudioContext();
const microphone = studio.createMediaStreamDestination();
const quiet = new ConstantSourceNode(studio, {offset: 0});
quiet.connect(microphone);
quiet.start();
window.speak = async (name) => {
  const wav = await (await fetch('/said/' + name)).arrayBuffer();
  const source = new AudioBufferSourceNode(studio, {buffer: await studio.decodeAudioData(wav)});
  source.connect(microphone);
  source.start();
};

const canvas = document.createElement('canvas');
canvas.getContext('2d').fillRect(0, 0, 10, 10);
const tracks = [...microphone.stream.getTracks(), ...canvas.captureStream(1).getTracks()];
window.client = new WHIPClient({endpoint: location.origin + '/v1/whip', opts: {iceServers: []}});
client.ingest(new MediaStream(tracks)).then(() => {
  client.peer.addEventListener('connectionstatechange', () => {
    window.published = client.peer.connectionState === 'connected';
  });
});
