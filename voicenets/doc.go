// Package voicenets holds the nets of a voice call. There are subnets for the caller's speech,
// turns and barge-in, the uplink, the model's turn, playout, the connection to the model and the
// end of the call. Session composes them.
//
// A subnet is a function of a Config that returns a *petri.Net. The places it shares with other
// subnets are the typed constants of this package. Every input of a call enters as a token
// (SpeechEdge, CallerAudio, ModelAudio, ModelSignal, PeerAck, Over, ...), and every output leaves
// as one (AudioUp, ToModel, AudioDown, NotifyReply, ...). The nets decide; package voicegw carries
// out their decisions.
//
//	net, err := voicenets.Session(voicenets.Config{})
//	prog, err := petri.Compile(net)
//
// Package claims states and proves what a session must keep; package prove does so for all sessions
// of a gateway.
package voicenets
