// Package voicegw connects callers to a full-duplex voice model, Gemini Live. A Gateway is an
// http.Handler that takes calls over WebSocket, opens a model connection for each, and runs one
// Petri net per call, which controls what happens between the two.
//
//	gw, err := voicegw.New(voicegw.Config{
//		Dialer: live.Wire{APIKey: os.Getenv("GEMINI_API_KEY")},
//	})
//	defer gw.Close()
//	http.Handle("/v1/voice", gw.Voice())
//
// The net's loop is the only goroutine of a call that decides. The others carry: peerReader and
// modelReader inject what they read, peerWriter and modelWriter send what the net puts out, and
// modelDialer, toolCalls, promptPlayer and archiver do what it asks for. newcall.go joins them, call.go runs
// them.
package voicegw
