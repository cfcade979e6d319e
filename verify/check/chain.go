package check

import (
	"encoding/binary"

	"github.com/voicegw/voicegw/petri"
)

// rest fires the transitions that fire at once, in order, in every possible way.
func (k *checker) rest(o outcome, depth int, z *zoneCheck) error {
	if depth == 0 && len(k.done) > 0 {
		clear(k.done)
	}
	r := k.first(o.marking)
	if r < 0 {
		if len(k.m.Given) > 0 && !k.m.KeepsGiven(o.marking) {
			return nil // the whole net never reaches this marking
		}
		return k.contained(o, z)
	}
	t := k.order[r]
	for _, bad := range k.pass {
		if bad(o.marking, int32(r)) {
			return refusal("a frame that waits moves in passing: %s", k.m.Format(o.marking))
		}
	}
	if k.interrupted(o.marking, t) {
		return k.contained(o, z)
	}
	if depth == petri.MaxChain {
		return refusal("more than %d firings at one instant, the last %s", petri.MaxChain, k.p.Transitions()[t].Name)
	}
	if k.acts == nil && k.ways(t, o.marking) && k.passed(o, depth) {
		return nil
	}
	return k.fire(o, t, depth+1, z)
}

// ways reports whether a transition may fire in more than one way.
func (k *checker) ways(t int32, marking []int32) bool {
	n := 0
	info := &k.p.Transitions()[t]
	for i := range info.Modes {
		switch md := &info.Modes[i]; {
		case !md.Enabled(marking):
		case md.Choice() >= 0:
			n++
		default:
			n += len(md.Branches)
		}
	}
	return n > 1
}

// passed reports whether the chain passed this marking before at the same depth. It is for markings
// that a chain can leave in several ways.
func (k *checker) passed(o outcome, depth int) bool {
	key := binary.LittleEndian.AppendUint32(k.pack(o.marking, o.run), uint32(depth))
	if k.done[string(key)] {
		return true
	}
	k.done[string(key)] = true
	return false
}
