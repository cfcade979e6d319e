// Package monitor checks a run, recorded or live, against the net that was proved.
//
//	m, err := monitor.New(prog, props...)
//	err = m.Append(events) // a *Violation: the first event that the net cannot do, or that breaks a property
//
// Every event must be a move of the Program, by the tables that the machine and the proofs share.
// Each firing must be enabled, in the order of immediate firings, and at a time that its wait
// allows. No firing may be left out, and no place may hold more than its capacity. In each marking
// in which the net rests, the monitor checks the conditions that the properties exclude. A monitor
// runs nothing: it counts tokens, so its verdict does not depend on the machine.
//
// Of several tokens that a transition could take, a monitor does not know which is the oldest, and
// trusts the log.
package monitor
