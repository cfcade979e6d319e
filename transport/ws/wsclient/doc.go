// Package wsclient makes a call as a person would: it speaks a recording into a gateway, listens on a playout clock,
// may interrupt the reply or let the microphone hear the loudspeaker, and reports what it heard and how long it
// waited. It is the engine of the command `voicegw call`.
//
// [Call] is the whole of it. It plays nothing and opens no device: [Report.Heard] is what would have been audible.
package wsclient
