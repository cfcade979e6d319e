// Package live speaks to a Gemini Live model: it opens one connection, sends the caller's audio up as it comes, and
// hands down what the model says as typed messages.
//
// Its nouns are the [Dialer] that opens a connection, the [Setup] that says what the model shall be, the [Conn], and
// the two message types [ClientMessage] and [ServerMessage]. [Wire] is the dialer that speaks the BidiGenerateContent
// protocol itself over one WebSocket:
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
// The package has no policy: it never dials again, never retries, keeps no queue, and owns no timer besides the limits
// on dialling, writing, pinging and closing. What happens after an error is for the caller to decide; the [Class] of a
// [CloseError] says what kind of failure it was.
//
// [SDK] is a second dialer, for those who must speak through Google's client library. Both reach the Gemini API and,
// with a [Vertex], Vertex AI. What models differ in is in [Abilities].
//
// Nobody has tried it against Google's servers yet; it is tested against package live/sim and, there, side by side with
// Google's own client library.
package live
