// Package relay is the raw relay, which shows the least that a call can cost. It carries the same bytes to
// the same model over the same sockets as a gateway, and decides nothing: no detection of speech, no
// turns, no pace, no acknowledgements, no record. Package bench compares the gateway with it.
//
// It uses the libraries as anybody would: a goroutine for each direction, encoding/json, and a buffer
// for each. Only WebRTC has a pace, which RTP needs, and drops what waits for it when the model is
// interrupted. It is no example of a gateway: it trusts its callers and its model.
package relay
