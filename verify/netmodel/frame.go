package netmodel

import (
	"slices"
)

// The move of a frame changes no place that decides something, so it is a self-loop in the state
// space: payload places stay empty, and whether a frame would move is computed in each tangible
// marking.

// frameSlot is a kind of payload token and the modes that could take it, in the order in which
// their transitions are tried.
type frameSlot struct {
	slot  int32
	modes []int32
	waits []int32 // how many frames may wait, where the number matters
}

func (m *Model) collectFrames() {
	at := map[int32]int{}
	for _, t := range m.Order {
		if !m.Transitions[t].Frame {
			continue
		}
		for i := m.First[t]; i < m.First[t+1]; i++ {
			slot := m.payloadSlot(&m.Modes[i])
			if _, ok := at[slot]; !ok {
				at[slot] = len(m.Frames)
				m.Frames = append(m.Frames, frameSlot{slot: slot})
			}
			f := &m.Frames[at[slot]]
			f.modes = append(f.modes, i)
		}
	}
	for i := range m.Frames {
		m.Frames[i].waits = m.thresholds(&m.Frames[i])
	}
}

// thresholds lists the numbers of waiting frames at which the modes may differ: one, as many as
// fit, and the numbers next to a bound of a mode.
func (m *Model) thresholds(f *frameSlot) []int32 {
	most := int32(m.Places[int(m.SlotPlace[f.slot])].Max)
	out := []int32{1}
	for _, i := range f.modes {
		md := &m.Modes[i]
		for _, c := range m.Transitions[md.Transition].Modes[md.Index].Conds {
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
	return Unique(out)
}

func (m *Model) payloadSlot(md *Mode) int32 {
	for _, k := range md.Take {
		if m.Places[int(m.SlotPlace[k.Slot])].Payload {
			return k.Slot
		}
	}
	return -1
}

// eachFrameMode calls fn for each mode by which a frame would move if it arrived in a tangible
// marking. If rests is not nil, it is called for each kind of frame that would not move.
func (m *Model) eachFrameMode(marking []int32, fn func(mode int32), rests func(slot int32)) {
	if len(m.Frames) == 0 || m.Ended(marking) {
		return
	}
	for i := range m.Frames {
		f := &m.Frames[i]
		// A frame transition may depend on how many frames wait (a pre-roll that is trimmed): the
		// arriving frame may also be one of several.
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
		md := &m.Modes[i]
		if by >= 0 && md.Transition != by {
			return true
		}
		if md.Enabled(marking) {
			by = md.Transition
			fn(i)
		}
	}
	return by >= 0
}

// FrameMoves reports whether a frame transition would fire in a tangible marking if a frame arrived
// that it takes.
func (m *Model) FrameMoves(t int32, marking []int32) bool {
	found := false
	m.eachFrameMode(marking, func(i int32) { found = found || m.Modes[i].Transition == t }, nil)
	return found
}

// EachFrame calls fn for each step by which a frame would move if it arrived in a tangible marking.
func (m *Model) EachFrame(marking []int32, fn func(Step)) {
	var buf []Step
	m.eachFrameMode(marking, func(i int32) {
		buf = m.Modes[i].Steps(buf[:0])
		for _, s := range buf {
			fn(s)
		}
	}, nil)
}

// FramesMayPass reports whether a frame, if one were there, might move in a passing marking before
// the firing of a rank.
func (m *Model) FramesMayPass(marking []int32, rank int32) bool {
	for i := range m.Frames {
		f := &m.Frames[i]
		for _, k := range f.modes {
			md := &m.Modes[k]
			if m.Ranks[md.Transition] >= rank {
				break // the modes are in order of rank
			}
			if md.enabledBut(f.slot, marking) {
				return true
			}
		}
	}
	return false
}

// enabledBut is Enabled, except that the slot may hold any number of tokens.
func (md *Mode) enabledBut(slot int32, marking []int32) bool {
	for i := range md.Needs.Bounds {
		c := &md.Needs.Bounds[i]
		if n := marking[c.Slot]; c.Slot != slot && (n < c.Min || n >= c.Max) {
			return false
		}
	}
	for i := range md.Needs.Sums {
		if c := &md.Needs.Sums[i]; !slices.Contains(c.Slots, slot) && !c.Holds(marking) {
			return false
		}
	}
	return true
}

// HasFrames reports whether any transition moves frames.
func (m *Model) HasFrames() bool { return len(m.Frames) > 0 }
