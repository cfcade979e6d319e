// Package asterisk is the door for Asterisk's WebSocket channel (chan_websocket): binary messages of sound, text
// messages of control, as JSON or as plain text. docs/asterisk.md describes it.
//
// A [Door] is an http.Handler that Asterisk connects to. How much of a reply was heard is learnt from MARK_MEDIA: see
// package phone. A transfer goes by Asterisk's REST interface, [ARI].
package asterisk
