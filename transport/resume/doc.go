// Package resume lets a call go on when the connection of its far end breaks.
//
// A Peer is a transport.Peer over connections that follow each other. When one breaks, Recv returns
// an EventAway: the gateway puts the call on hold. The far end connects again and shows the handle
// of its call; Calls finds the Peer, and Attach gives it the new connection. The Peer sends what the
// far end has missed, and Recv returns an EventBack with what the far end had played: the gateway
// takes the call off hold, and the reply goes on from there. A far end that does not come back in
// time has hung up.
package resume
