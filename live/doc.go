// Package live connects to a Gemini Live model: it sends the caller's audio and receives the
// messages of the model as typed values.
//
// A [Dialer] opens a [Conn] with a [Setup]. A Conn sends a [ClientMessage] and receives a
// [ServerMessage]. [Wire] is the dialer to use. It speaks the BidiGenerateContent protocol over one
// WebSocket:
//
//	conn, err := live.Wire{APIKey: key}.Dial(ctx, live.Setup{SystemInstruction: "Be brief."})
//	...
//	go conn.SendAudio(ctx, frame) // 20 ms of 16 kHz PCM
//	var m live.ServerMessage
//	for conn.Recv(ctx, &m) == nil {
//		if m.Kind == live.ServerAudio {
//			play(m.PCM, m.RateHz)
//		}
//	}
//
// The package has no policy. It never dials again and keeps no queue. Its only timers bound a dial,
// a write, a ping and a close. The caller decides what to do after an error; the [Class] of a
// [CloseError] says what may help.
//
// [SDK] is a second dialer, which uses Google's client library. Both dialers reach the Gemini API
// and, with a [Vertex], Vertex AI.
//
// The package has not been run against Google's servers yet. It is tested against package live/sim,
// side by side with Google's client library.
package live
