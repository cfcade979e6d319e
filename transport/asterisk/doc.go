// Package asterisk is the endpoint for Asterisk's WebSocket channel (chan_websocket). Binary
// messages are audio; text messages are control, as JSON or as plain text. docs/asterisk.md
// describes it.
//
// An [Endpoint] is an http.Handler that Asterisk connects to. MARK_MEDIA reports how much of a
// reply was played: see package phone. Transfers go through Asterisk's REST interface, [ARI].
package asterisk
