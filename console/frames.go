package console

import (
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

// framesOf returns the slots whose tokens stand for frames, or for speech that goes on.
func (s *spots) framesOf(p *petri.Program) map[int32]bool {
	frames := map[int32]bool{}
	for i := range p.Places() {
		pl := &p.Places()[i]
		isAudio := slices.Contains([]int{s.modelAudio, s.waiting, s.unacked, s.unplayed, s.ack}, i)
		for slot := range pl.Slots {
			if isAudio || pl.SlotName(slot) == voicenets.SpeechEdge.String()+"[more]" {
				frames[int32(pl.Slot+slot)] = true
			}
		}
	}
	return frames
}

// isFrame reports whether a firing happens for each frame and decides nothing: it moves tokens that stand for frames,
// at once, and puts back whatever else it takes.
func (s *spots) isFrame(p *petri.Program, e petri.Event) bool {
	t := &p.Transitions()[e.Index]
	m := &t.Modes[e.Mode]
	branch := &m.Branches[e.Branch]
	isMoved, others := false, map[int32]int{}
	for _, c := range m.Take {
		isMoved = isMoved || s.frames[c.Slot]
		others[c.Slot] -= int(c.N)
	}
	for _, c := range branch.Put {
		others[c.Slot] += int(c.N)
	}
	for slot, n := range others {
		if n != 0 && !s.frames[slot] {
			return false
		}
	}
	for _, o := range branch.Emit {
		if o.Place != s.audioDown {
			return false
		}
	}
	return isMoved && t.When.AtOnce() && !t.Bump && len(m.Drain)+len(m.Reset) == 0
}
