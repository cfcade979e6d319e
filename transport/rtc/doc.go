// Package rtc is the endpoint for WebRTC. One HTTP request sets up a call (WHIP, RFC 9725). Audio
// goes over RTP; events, the same JSON as over a WebSocket, go over a data channel.
//
// An [Endpoint] made from a [Config] is an http.Handler for new calls and for the sessions below
// its path:
//
//	endpoint, err := rtc.New(rtc.Config{Lines: gateway})
//	...
//	http.Handle("/v1/whip", endpoint)
//	http.Handle("/v1/whip/", endpoint)
//	defer endpoint.Close()
//
// All calls share one UDP port. For each call an Endpoint has two goroutines, one for each
// direction, and one that runs the call; the goroutines of the WebRTC library come on top.
package rtc
