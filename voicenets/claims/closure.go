package claims

import (
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

// Hostile closes a session with an environment that keeps no protocol: every input that Inputs
// lists may come at any time, and an ack may name any generation, even of audio that was never
// sent. A property that holds under Hostile assumes nothing about the peer, the model or the
// network.
func Hostile(c voicenets.Config) (*petri.Net, error) {
	session, err := voicenets.Session(c)
	if err != nil {
		return nil, err
	}
	return CloseHostile(session, c)
}

// CloseHostile closes a changed session of configuration c as Hostile does.
func CloseHostile(session *petri.Net, c voicenets.Config) (*petri.Net, error) {
	return petri.Close("hostile", session, append(heard(voicenets.Environment(c), session), watcher(c), auditor())...)
}
