// Package monitor holds a run that was recorded, or one that goes on now, to the net that was proved.
//
//	m, err := monitor.New(prog, props...)
//	err = m.Append(events) // a *Violation: the first event that the net cannot do, or that breaks a property
//
// Every event must be a move of the Program, by the tables that machine and proofs share: what fires is enabled, in
// the order of what fires at once and at the time its wait allows, nothing is left out, and no place holds more than
// it can. In each marking in which the net rests, the conditions are checked that the properties exclude. A monitor
// runs nothing: it counts tokens, so that what it says does not rest on the machine.
//
// Of several tokens that a transition could take, a monitor does not know which is the oldest, and takes the log's
// word.
package monitor
