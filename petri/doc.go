// Package petri is a coloured time Petri net: a net is a plain value, Compile
// turns it into a Program that proofs and machines share, and a Machine runs
// it, deterministically, with time as a parameter.
//
// The nouns are Place (a typed name), Transition, Net, Program and Machine:
//
//	const (
//		edge  = petri.Place[Edge]("edge")        // tokens with a key: Start, Stop
//		quiet = petri.Place[petri.Unit]("quiet") // a token without data
//	)
//	net := &petri.Net{
//		Name: "caller",
//		Env:  []petri.Env{{Place: edge, Capacity: 8}},
//		Init: []petri.Token{quiet.Token(petri.Unit{})},
//		Transitions: []petri.Transition{
//			{Name: "open", In: petri.Arcs{edge.Is(Start), quiet}, Out: petri.And(speaking)},
//			...
//		},
//	}
//	prog, err := petri.Compile(net)
//	m := prog.Start()
//	err = m.Inject(10*time.Millisecond, edge.Token(Start))
//	ready := m.Advance(10 * time.Millisecond) // events to store, tokens to act on, when to call again
//
// What a net means, exactly, is in docs/semantics.md. In short: an injection
// runs to completion before anything else may happen; a firing is atomic; time
// is logical, so a timer fires at its due time however late the caller is;
// only finite keys decide, payloads travel.
//
// The package has no clock, no goroutine, no I/O, no randomness and no log.
package petri
