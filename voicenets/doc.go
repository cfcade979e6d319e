// Package voicenets holds the nets of a voice call: subnets for the caller's
// speech, turns and barge-in, the uplink, the model's turn, playout and the end
// of the call, and Session, which composes them.
//
// A subnet is a function of its Config that returns a *petri.Net; the places
// it shares with others are the typed constants of this package. Whatever
// happens to a call enters as a token (SpeechEdge, CallerAudio, ModelAudio,
// ModelSignal, PeerAck, Over, ...) and whatever the call does leaves as one
// (AudioUp, ToModel, AudioDown, Tell, ...). The nets decide; package voicegw
// only carries.
//
//	net, err := voicenets.Session(voicenets.Config{})
//	prog, err := petri.Compile(net)
//
// Hostile closes the session with automata of its environment, for proofs; Prover
// proves what a gateway claims of its sessions.
package voicenets
