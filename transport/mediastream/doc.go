// Package mediastream is the door for telephone carriers that stream a call's sound over a WebSocket: Twilio Media
// Streams and what Telnyx, Plivo and Exotel made like it. docs/twilio.md describes it.
//
// A [Door] is an http.Handler with three paths below the one it is mounted on: the stream itself, /voice, which answers
// Twilio's webhook with TwiML that leads to the stream, and /after, which Twilio asks when the stream is over. Requests
// without a valid signature are refused; see [Config.AuthToken].
//
// Which carrier calls is read off the first message. What differs between carriers is in a file for each; carrier.go
// lists them. Sound is G.711 at 8 kHz for most; how much of a reply was heard is learnt from marks: see package phone.
package mediastream
