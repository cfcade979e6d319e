package runner

import (
	"slices"

	"github.com/voicegw/voicegw/petri"
)

// rooms wakes senders that found their place full, when the place has room. While no sender waits,
// it costs the loop one comparison a step. Runner.own guards it.
type rooms struct {
	full    []fullPlace // at most one entry a place, however many senders wait for it
	marking []int32     // reused
}

// fullPlace is a place for which senders wait.
type fullPlace struct {
	place *petri.PlaceInfo
	room  chan struct{} // closed when the place has room
}

// roomAt returns a channel that is closed when the place of a token has room between two steps of
// the loop, or when the net has ended.
func (r *Runner) roomAt(t petri.Token) <-chan struct{} {
	r.own.Lock()
	defer r.own.Unlock()
	if r.machine == nil { // the run is over
		return r.done
	}
	return r.rooms.wait(r.machine, &r.prog.Places()[r.prog.Place(t.Place())])
}

// wait adds a sender.
func (w *rooms) wait(m *petri.Machine, place *petri.PlaceInfo) <-chan struct{} {
	i := slices.IndexFunc(w.full, func(f fullPlace) bool { return f.place == place })
	if i >= 0 {
		return w.full[i].room
	}
	f := fullPlace{place, make(chan struct{})}
	w.full = append(w.full, f)
	w.review(m) // the place may have had room since
	return f.room
}

// review wakes the senders whose place has room, and all when the net has ended.
func (w *rooms) review(m *petri.Machine) {
	if len(w.full) == 0 {
		return
	}
	w.marking = m.Marking(w.marking[:0])
	w.full = slices.DeleteFunc(w.full, func(f fullPlace) bool {
		if !m.Ended() && !hasRoom(f.place, w.marking) {
			return false
		}
		close(f.room)
		return true
	})
}

// hasRoom reports whether a place can take another token.
func hasRoom(p *petri.PlaceInfo, marking []int32) bool {
	n := 0
	for _, tokens := range marking[p.Slot : p.Slot+p.Slots] {
		n += int(tokens)
	}
	return n < p.Max
}
