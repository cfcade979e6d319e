package console

import (
	"time"

	"github.com/voicegw/voicegw/petri"
)

// A Kind is one thing that can happen in a net, and what it does to the tokens. Slots are those of a
// marking.
type Kind struct {
	Kind  string     `json:"kind"`            // injected, fired and so on
	Name  string     `json:"name,omitempty"`  // with key, mode and branch
	Of    string     `json:"of,omitempty"`    // the transition or place
	Take  [][2]int32 `json:"take,omitempty"`  // slot and number of tokens
	Zero  []int32    `json:"zero,omitempty"`  // slots that it empties
	Put   [][2]int32 `json:"put,omitempty"`   // slot and number of tokens
	Out   []int      `json:"out,omitempty"`   // places through which tokens leave
	Ages  bool       `json:"ages,omitempty"`  // fresh tokens become stale
	Frame bool       `json:"frame,omitempty"` // it happens for each frame, and decides nothing
}

// A Batch is what became known of a call since the batch before. Times are milliseconds since the call
// began.
type Batch struct {
	At       float64   `json:"at"`
	Kinds    []Kind    `json:"kinds,omitempty"`    // new ones, numbered on
	Events   []int64   `json:"events,omitempty"`   // pairs: microseconds since the call began, number of the Kind
	Spans    []Span    `json:"spans,omitempty"`    // new ones, and those that have grown
	Turns    []Turn    `json:"turns,omitempty"`    // new ones, and those that have changed
	Causes   []Cause   `json:"causes,omitempty"`   // new ones
	Silences []Silence `json:"silences,omitempty"` // new ones, and those that have grown
}

// recorder makes batches of the events of one call. It is not safe for concurrent use.
type recorder struct {
	t     *petri.Tracker
	spots *spots
	kinds map[kindKey]int64
	batch Batch
	lanes *lanes
	turns *turns
	why   *why
}

// kindKey identifies a Kind.
type kindKey struct {
	kind        petri.EventKind
	branch      uint8
	mode        uint16
	index, slot int32
}

// newRecorder makes the recorder of a call that stands where t does.
func newRecorder(t *petri.Tracker) *recorder {
	s := spotsOf(t.Program())
	r := &recorder{t: t, spots: s, kinds: map[kindKey]int64{}, lanes: newLanes(t.Program(), s),
		turns: newTurns(t.Program(), s), why: newWhy(t.Program(), s)}
	if t.Seq() > 0 {
		r.look(petri.Event{At: t.Now(), Kind: petri.TaskCancelled})
	}
	return r
}

// take adds an event.
func (r *recorder) take(e petri.Event) error {
	if err := r.t.Apply(e); err != nil {
		return err
	}
	r.batch.Events = append(r.batch.Events, e.At.Microseconds(), r.kind(e))
	r.look(e)
	return nil
}

// look draws the conclusions from an event that the tracker has taken.
func (r *recorder) look(e petri.Event) {
	r.lanes.take(r.t, e)
	r.turns.take(r.t, e)
	r.why.take(r.t, e, r.turns.current())
}

// flush returns what became known since the flush before. now is the time of the call, which may be
// later than its last event.
func (r *recorder) flush(now time.Duration) Batch {
	b := r.batch
	b.At = ms(max(now, r.t.Now()))
	b.Spans, b.Turns = r.lanes.flush(), r.turns.flush()
	b.Causes, b.Silences = r.why.flush(max(now, r.t.Now()))
	r.batch = Batch{}
	return b
}

// kind returns the number of an event's kind.
func (r *recorder) kind(e petri.Event) int64 {
	k := kindKey{kind: e.Kind, branch: e.Branch, mode: e.Mode, index: e.Index, slot: e.Slot}
	n, ok := r.kinds[k]
	if !ok {
		n = int64(len(r.kinds))
		r.kinds[k] = n
		r.batch.Kinds = append(r.batch.Kinds, r.spots.kindOf(r.t.Program(), e))
	}
	return n
}

func (s *spots) kindOf(p *petri.Program, e petri.Event) Kind {
	k := Kind{Kind: e.Kind.String()}
	switch e.Kind {
	case petri.Started, petri.Ended, petri.Faulted:
		return k
	case petri.Fired:
		k = firing(p, e)
		k.Frame = k.Frame || s.isFrame(p, e)
		return k
	}
	pl := &p.Places()[e.Index]
	k.Name, k.Of = pl.SlotName(int(e.Slot)), pl.Name
	at := int32(pl.Slot) + e.Slot
	k.Frame = pl.Payload || s.frames[at]
	slot := [][2]int32{{at, 1}}
	switch e.Kind {
	case petri.Injected:
		k.Put = slot
	case petri.Dropped:
		k.Take = slot
	}
	return k
}

func firing(p *petri.Program, e petri.Event) Kind {
	t := &p.Transitions()[e.Index]
	m := &t.Modes[e.Mode]
	k := Kind{Kind: e.Kind.String(), Name: p.FiringName(e), Of: t.Name, Ages: t.Bump, Frame: t.Frame}
	for _, c := range m.Take {
		k.Take = append(k.Take, [2]int32{c.Slot, c.N})
	}
	k.Zero = append(append(k.Zero, m.Drain...), m.Reset...)
	for _, c := range m.Branches[e.Branch].Put {
		k.Put = append(k.Put, [2]int32{c.Slot, c.N})
	}
	for _, o := range m.Branches[e.Branch].Emit {
		k.Out = append(k.Out, o.Place)
	}
	return k
}

// ms is a time in milliseconds, to a tenth.
func ms(d time.Duration) float64 {
	return float64(d.Round(100*time.Microsecond)/(100*time.Microsecond)) / 10
}
