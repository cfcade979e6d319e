package petri

// keepCells is the number of tokens of a place whose memory a machine keeps when it starts again.
const keepCells = 64

// Restart puts the machine into the state in which Program.Start returned it, and keeps its memory for the new run.
// It may follow a Fault. What the machine returned before is no longer valid, and trackers of it stay as they are.
func (m *Machine) Restart() {
	for _, s := range m.queues {
		if s != nil {
			s.empty()
		}
	}
	clear(m.on)
	clear(m.awake)
	clear(m.working)
	m.ready.clear()
	m.timers.clear()
	clear(m.out)
	m.events, m.out = m.events[:0], m.out[:0]
	m.now, m.seq, m.gen = 0, 0, 0
	m.silent, m.handed, m.ended = false, false, false
	m.f = Firing{m: m, units: m.f.units[:0]}
	m.start()
}

func (s *readySet) clear() {
	for _, w := range s.levels {
		clear(w)
	}
}

func (t *timers) clear() {
	t.heap = t.heap[:0]
	clear(t.pos)
}
