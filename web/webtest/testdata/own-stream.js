// Streams of a page's own, `own` and `other`, each a tone; `connect` makes a connection whose sound
// is streams, and keeps in `world` what it is given.
(() => {
  const context = new AudioContext();
  const tone = (/** @type {number} */ frequency) => {
    const far = new MediaStreamAudioDestinationNode(context);
    const source = new OscillatorNode(context, { frequency });
    source.connect(new GainNode(context, { gain: 0.3 })).connect(far);
    source.start();
    return { stream: far.stream, track: far.stream.getAudioTracks()[0] };
  };
  const own = tone(440);
  const other = tone(660);
  /** @type {{sent: object[], streams: MediaStream[]}} */
  const world = { sent: [], streams: [] };
  /** @type {import("/client/index.js").Connect} */
  const connect = async ({ stream }, events) => {
    Object.assign(world, { stream, events });
    return {
      remote: tone(880).stream,
      rate: 48000,
      open: true,
      accept() {},
      send: (text) => void world.sent.push(JSON.parse(text)),
      sendAudio: () => ({ sent: 0, dropped: 0, stalled: false }),
      setStream: (changed) => void world.streams.push(changed),
      close: () => {},
    };
  };
  Object.assign(window, { own, other, world, connect });
})()
