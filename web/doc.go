// Package web holds what a browser loads from a gateway: the page for calls, the page for chats with
// agents, and the client module that any other page can import. All are plain ES modules, embedded in
// the binary; there is no build step.
//
// [Handler] serves the page for calls and the client; mount it beside the gateway's WebSocket:
//
//	mux.Handle("/", web.Handler(web.Config{Title: "Bookings"}))
//	mux.Handle("/v1/voice", gateway)
//
// Folder client is the npm package voicegw. index.js is its entry, with the class VoiceClient of
// voice-client.js; index.d.ts has the types. react.js and element.js are further entries: a React hook
// and a custom element around a VoiceClient. call.js is one call: it owns the audio
// (audio-graph.js) and the connection (websocket-connection.js, webrtc-connection.js), and gives
// the microphone to capture.js, replies to playout.js, and the gateway's events to
// server-events.js. The audio thread runs capture-worklet.js and playout-worklet.js. Modules that
// must not be wrong by one sample are pure and have unit tests: playout-queue.js, resampler.js,
// send-queue.js, latency-meter.js, echo-detector.js. turn-list.js makes turns of the events.
//
// Folder page is the page: page.js connects one VoiceClient to the views, each in a module of its
// own. The gateway draws the net of a call as SVG, in which a group with data-place is a place and
// one with data-transition a transition; net-view.js shows it, and what the call is doing.
//
// Folder viewer has what the page, the console and [NetPage] share: net-viewer.js, the net with its tokens
// moving; drawing.js, which copies only shapes, text and presentation attributes of an SVG;
// storyboard.js; phase.js, which tells from a marking what a call is doing; build.js, which alone makes
// elements of the text of others.
//
// Folder console is the page of the console, which [ConsolePage] serves. recording.js, a pure module,
// keeps what the gateway says of a call; call-view.js shows one moment of it in the views: timeline.js,
// tables.js, transcript.js, explanation.js, and those of folder viewer. What the moment means is computed
// in package console.
//
// Folder chat is the page for chats, which [ChatPage] serves. api.js asks the sessions API,
// event-stream.js follows the stream of a session (sse.js parses it), and conversation.js, a pure
// reducer, makes of events what the page shows. open-session.js joins these three for one session.
// log-view.js and call-card.js show it; labels.js has the texts.
package web
