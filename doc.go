// Package voicegw is a gateway between people who speak and full-duplex voice
// models: a Gateway is an http.Handler that takes calls from browsers over
// WebSocket, opens a Gemini Live connection for each, and lets one Petri net
// per call decide everything between them.
//
//	gw, err := voicegw.New(voicegw.Config{
//		Dialer: live.Wire{APIKey: os.Getenv("GEMINI_API_KEY")},
//	})
//	defer gw.Close()
//	http.Handle("/v1/voice", gw.Voice())
//
// A call is a peer, a model connection and a running net. The net's loop is
// the only one that decides; the goroutines around it only carry: one reads
// the peer, one writes to it, one reads the model, one writes to it.
package voicegw
