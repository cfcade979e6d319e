// Package netview shows a running net to somebody who watches it: which transitions fired since the
// last look, and the marking.
//
//	v := netview.New(prog)
//	run, err := runner.Start(prog, runner.Config{Store: v})
//	v.Attach(run.Marking)
//	<-v.Changed()
//	v.Read(&update)
package netview

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/dot"
)

// View collects what happens in a running net, for one reader. It is an event.Store that delays no
// output. Its size does not depend on how much happens between two looks. It is safe for concurrent
// use.
type View struct {
	prog    *petri.Program
	changed chan struct{} // a signal, 1 deep

	mu      sync.Mutex
	marking func() []int32
	fired   []int32 // since the last Read, each once
	seen    []bool  // by transition
	at      time.Duration
}

// New returns a view of a run of p.
func New(p *petri.Program) *View {
	return &View{prog: p, changed: make(chan struct{}, 1), seen: make([]bool, len(p.Transitions()))}
}

// Attach tells the view where the marking of the run is. Read needs it.
func (v *View) Attach(marking func() []int32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.marking = marking
}

// Append notes which transitions fired.
func (v *View) Append(events []petri.Event) {
	if v.note(events) {
		v.Touch()
	}
}

// Stored reports everything as stored: no output waits for a view.
func (v *View) Stored() uint64 { return math.MaxUint64 }

// Touch lets Changed signal although nothing has fired, so that a new reader sees the marking at once.
func (v *View) Touch() {
	select {
	case v.changed <- struct{}{}:
	default:
	}
}

// Changed returns a channel that signals that something has fired since the last Read.
func (v *View) Changed() <-chan struct{} { return v.changed }

// note reports whether anything fired.
func (v *View) note(events []petri.Event) (any bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, e := range events {
		v.at = e.At
		if e.Kind != petri.Fired {
			continue
		}
		any = true
		if !v.seen[e.Index] {
			v.seen[e.Index] = true
			v.fired = append(v.fired, e.Index)
		}
	}
	return any
}

// Update is what a reader sees of a net.
type Update struct {
	// At is the time of the last event, by the net's clock.
	At time.Duration
	// Fired are the names of the transitions that fired since the Read before, each once.
	Fired []string
	// Marking counts the tokens of the places that have any.
	Marking []Count
}

// Count is the number of tokens of a place.
type Count struct {
	Place string
	Count int
}

// Read fills u, whose memory it uses again.
func (v *View) Read(u *Update) {
	v.mu.Lock()
	u.At, u.Fired = v.at, u.Fired[:0]
	for _, i := range v.fired {
		u.Fired = append(u.Fired, v.prog.Transitions()[i].Name)
		v.seen[i] = false
	}
	v.fired = v.fired[:0]
	read := v.marking
	v.mu.Unlock()
	u.Marking = u.Marking[:0]
	marking := read()
	for _, p := range v.prog.Places() {
		n := 0
		for _, count := range marking[p.Slot : p.Slot+p.Slots] {
			n += int(count)
		}
		if n > 0 {
			u.Marking = append(u.Marking, Count{Place: p.Name, Count: n})
		}
	}
}

// MarshalJSON returns the update as a page reads it: at_ms, fired, and marking from place to count.
func (u Update) MarshalJSON() ([]byte, error) {
	marking := make(map[string]int, len(u.Marking))
	for _, c := range u.Marking {
		marking[c.Place] = c.Count
	}
	return json.Marshal(struct {
		At      int64          `json:"at_ms"`
		Fired   []string       `json:"fired"`
		Marking map[string]int `json:"marking"`
	}{u.At.Milliseconds(), append([]string{}, u.Fired...), marking})
}

// SVG returns the drawing of the net, without its marking.
func (v *View) SVG() ([]byte, error) { return dot.SVG(v.prog, dot.Options{}) }

// Next waits until something has happened and returns the update as JSON.
func (v *View) Next(ctx context.Context) ([]byte, error) {
	select {
	case <-v.changed:
		var u Update
		v.Read(&u)
		return json.Marshal(u)
	case <-ctx.Done():
		return nil, fmt.Errorf("netview: wait for a change: %w", ctx.Err())
	}
}
