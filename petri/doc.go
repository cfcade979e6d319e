// Package petri defines and runs coloured time Petri nets. A Net is a plain value. Compile checks
// it and turns it into a Program, which proofs and machines share. A Machine runs a Program: it is
// deterministic and receives time as a parameter.
//
//	const (
//		edge  = petri.Place[Edge]("edge")        // tokens with a key: Start, Stop
//		quiet = petri.Place[petri.Unit]("quiet") // tokens without data
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
//	ready := m.Advance(10 * time.Millisecond)
//
// Ready contains the events to store, the output tokens to act on, and the time of the next call.
//
// The file docs/semantics.md defines exactly what a net means. In short:
//
//   - An injection runs to completion before anything else happens.
//   - A firing is atomic.
//   - Time is logical: a timer fires at its due time, however late the caller advances the machine.
//   - Only finite keys decide which transitions fire. Payloads travel, and decide nothing.
//
// The package uses no clock, goroutine, I/O, randomness or log.
package petri
