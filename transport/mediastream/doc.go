// Package mediastream is the endpoint for telephone carriers that stream the audio of a call over a
// WebSocket: Twilio Media Streams and the similar protocols of Telnyx, Plivo and Exotel.
// docs/twilio.md describes it.
//
// An [Endpoint] is an http.Handler with three paths: the mount path is the stream itself; /voice
// below it answers Twilio's webhook with TwiML that leads to the stream; /after below it answers
// Twilio when the stream has ended. Requests without a valid signature are refused; see
// [Config.AuthToken].
//
// The first message identifies the carrier. Each carrier's differences are in a file of its own;
// carrier.go lists them. Audio is G.711 at 8 kHz for most carriers. Marks report how much of a
// reply was played: see package phone.
package mediastream
