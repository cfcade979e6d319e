package petri

// Fault ends a run after a call panicked, or after outputs could not be handed over. It records
// Faulted and returns the events since the last Advance, without outputs. The machine is void
// afterwards: Inject returns ErrFaulted, and Advance returns no events and no outputs.
func (m *Machine) Fault() Ready {
	m.begin()
	clear(m.out)
	m.out = m.out[:0]
	m.record(Event{Kind: Faulted, Index: -1})
	m.handed = true
	return Ready{Events: m.events, Wake: Forever}
}
