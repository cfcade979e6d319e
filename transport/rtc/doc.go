// Package rtc is the door for WebRTC: a call is set up by one HTTP request (WHIP, RFC 9725), its sound goes over RTP
// and its events, the same JSON as over a WebSocket, over a data channel.
//
// A [Door] made from a [Config] is an http.Handler for both the endpoint and the sessions below it:
//
//	door, err := rtc.New(rtc.Config{Lines: gateway})
//	...
//	http.Handle("/v1/whip", door)
//	http.Handle("/v1/whip/", door)
//	defer door.Close()
//
// All calls share one UDP port. A Door has two goroutines of its own for each call, one for each direction, and one
// that runs the call; those of the WebRTC library come on top.
package rtc
