package verify

import "slices"

// A frame moves without changing what decides, so in the state space it is a
// self-loop: payload places stay empty, and whether a frame would move is
// looked up in each tangible marking.

// frameSlot is a kind of payload token and the modes that could take it, in
// the order in which their transitions are tried.
type frameSlot struct {
	slot  int32
	modes []int32
	waits []int32 // how many may wait, where that makes a difference
}

func (m *Model) collectFrames() {
	at := map[int32]int{}
	for _, t := range m.order {
		if !m.transitions[t].Frame {
			continue
		}
		for i := m.first[t]; i < m.first[t+1]; i++ {
			slot := m.payloadSlot(&m.modes[i])
			if _, ok := at[slot]; !ok {
				at[slot] = len(m.frames)
				m.frames = append(m.frames, frameSlot{slot: slot})
			}
			f := &m.frames[at[slot]]
			f.modes = append(f.modes, i)
		}
	}
	for i := range m.frames {
		m.frames[i].waits = m.thresholds(&m.frames[i])
	}
}

// thresholds lists the numbers of waiting frames at which the modes may differ:
// one, as many as fit, and those next to a bound that a mode has.
func (m *Model) thresholds(f *frameSlot) []int32 {
	most := int32(m.places[int(m.slotPlace[f.slot])].Max)
	out := []int32{1}
	for _, i := range f.modes {
		md := &m.modes[i]
		for _, c := range m.transitions[md.t].Modes[md.k].Conds {
			if !slices.Contains(c.Slots, f.slot) || c.Min <= 1 && c.Max == 0 {
				continue
			}
			out = append(out, most)
			for _, n := range []int32{c.Min, c.Max - 1, c.Max} {
				if n >= 1 && n <= most {
					out = append(out, n)
				}
			}
		}
	}
	return unique(out)
}

func (m *Model) payloadSlot(md *mode) int32 {
	for _, k := range md.take {
		if m.places[int(m.slotPlace[k.Slot])].Payload {
			return k.Slot
		}
	}
	return -1
}

// frameMoves calls fn for each mode by which a frame would move if it arrived
// in a tangible marking. rests, if not nil, is called for each kind of frame
// that would not move.
func (m *Model) frameMoves(marking []int32, fn func(mode int32), rests func(slot int32)) {
	if len(m.frames) == 0 || m.Ended(marking) {
		return
	}
	for i := range m.frames {
		f := &m.frames[i]
		// A frame transition may look at how many frames wait (a pre-roll that is
		// trimmed): the frame that arrives may also be one of several.
		moved := true
		for _, n := range f.waits {
			if !m.movesFrom(f, marking, n, fn) {
				moved = false
			}
		}
		if !moved && rests != nil {
			rests(f.slot)
		}
	}
}

func (m *Model) movesFrom(f *frameSlot, marking []int32, waiting int32, fn func(mode int32)) bool {
	was := marking[f.slot]
	marking[f.slot] = waiting
	moved := m.moves(f, marking, fn)
	marking[f.slot] = was
	return moved
}

// moves finds the first transition that takes the frame, and its modes.
func (m *Model) moves(f *frameSlot, marking []int32, fn func(int32)) bool {
	by := int32(-1)
	for _, i := range f.modes {
		md := &m.modes[i]
		if by >= 0 && md.t != by {
			return true
		}
		if md.enabled(marking) {
			by = md.t
			fn(i)
		}
	}
	return by >= 0
}

// FrameMoves reports whether a frame transition would fire in a tangible
// marking if a frame arrived that it takes.
func (m *Model) FrameMoves(t int32, marking []int32) bool {
	found := false
	m.frameMoves(marking, func(i int32) { found = found || m.modes[i].t == t }, nil)
	return found
}

// EachFrame calls fn for each step by which a frame would move if it arrived in
// a tangible marking.
func (m *Model) EachFrame(marking []int32, fn func(Step)) {
	var buf []Step
	m.frameMoves(marking, func(i int32) {
		buf = m.modes[i].steps(buf[:0])
		for _, s := range buf {
			fn(s)
		}
	}, nil)
}

// FramesMayPass reports whether some frame, were it there, might move in a
// passing marking before the firing of a rank.
func (m *Model) FramesMayPass(marking []int32, rank int32) bool {
	for i := range m.frames {
		f := &m.frames[i]
		for _, k := range f.modes {
			md := &m.modes[k]
			if m.rank[md.t] >= rank {
				break // they are in order of rank
			}
			if md.enabledBut(f.slot, marking) {
				return true
			}
		}
	}
	return false
}

// enabledBut is enabled with any number of tokens in a slot.
func (md *mode) enabledBut(slot int32, marking []int32) bool {
	for i := range md.needs.Bounds {
		c := &md.needs.Bounds[i]
		if n := marking[c.Slot]; c.Slot != slot && (n < c.Min || n >= c.Max) {
			return false
		}
	}
	for i := range md.needs.Sums {
		if c := &md.needs.Sums[i]; !slices.Contains(c.Slots, slot) && !c.Holds(marking) {
			return false
		}
	}
	return true
}

// HasFrames reports whether any transition moves frames.
func (m *Model) HasFrames() bool { return len(m.frames) > 0 }
