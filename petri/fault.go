package petri

// Fault ends a run whose last call panicked, or whose outputs could not be
// handed over: it records Faulted and returns the events since the last
// Advance. The outputs among them are void, and so is the machine: every later
// call returns ErrFaulted or nothing.
func (m *Machine) Fault() Ready {
	m.begin()
	clear(m.out)
	m.out = m.out[:0]
	m.record(Event{Kind: Faulted, Index: -1})
	m.handed = true
	return Ready{Events: m.events, Wake: Forever}
}
