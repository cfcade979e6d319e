package voicenets

import "github.com/voicegw/voicegw/petri"

// Hostile closes a session with an environment that keeps no protocol: whatever
// Inputs lists may come at any time, acknowledgements may be of any generation
// and of what was never sent. What holds under it needs no trust in anybody.
func Hostile(c Config) (*petri.Net, error) {
	session, err := Session(c)
	if err != nil {
		return nil, err
	}
	return CloseHostile(session, c)
}

// CloseHostile closes a changed session of configuration c as Hostile does.
func CloseHostile(session *petri.Net, c Config) (*petri.Net, error) {
	return petri.Close("hostile", session, append(heard(automata(c), session), watcher(c), auditor())...)
}
