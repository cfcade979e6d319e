// Package web is what a browser loads from a gateway: the page people talk on, and the client module that any other
// page can import. Plain ES modules, embedded, no build step.
//
// [Handler] serves both; mount it beside the gateway's socket:
//
//	mux.Handle("/", web.Handler(web.Config{Title: "Bookings"}))
//	mux.Handle("/v1/voice", gateway)
//
// client.js is the module's entry (class VoiceClient, typed by client.d.ts); call.js is one call, which link.js joins
// to the gateway, over a WebSocket or whatever its option connect opens; sound.js has the microphone and the
// loudspeaker; tools.js answers the model's calls of tools. The audio thread runs capture-worklet.js and
// playout-worklet.js. What can be wrong by one sample is pure and tested alone: playout.js counts what was heard,
// resample.js changes rates, uplink.js drops a stale microphone backlog, latency.js and selfhearing.js measure. The
// page is index.html, page.js and its parts.
//
// The same client is the npm package voicegw: package.json says which of these files are in it.
//
// A net is drawn by the gateway as SVG: each place a group with data-place, each transition one with data-transition.
// Over WebRTC it comes compressed (drawing.js).
// Only shapes, text and presentation attributes are kept of it (netview.js), and page.css colours them.
package web
