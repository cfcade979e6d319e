package petri

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTracker plays random schedules on random nets. A tracker of the events must always stand where
// the machine does, from the start, from the middle of the run, and as a clone.
func TestTracker(t *testing.T) {
	tracked, clocks := 0, 0
	for seed := range 1500 {
		d := draw(rand.New(rand.NewPCG(uint64(seed), 9)).IntN)
		p, err := startPair(d.net(), 1)
		if err != nil || faults(func() { p.m = p.prog.Start() }) != nil {
			continue
		}
		list := []*Tracker{p.prog.Track()}
		for i := range 20 {
			events, fault := portion(p.m, p.g, d)
			if fault != nil {
				break
			}
			for _, tr := range list {
				for _, e := range events {
					if err := tr.Apply(e); err != nil {
						t.Fatalf("seed %d: %v\n%s", seed, err, p.g)
					}
				}
				where(t, seed, tr, p.m)
			}
			tracked, clocks = tracked+1, clocks+len(list[0].Clocks())
			if i == 4 {
				list = append(list, p.m.Track(), list[0].Clone())
			}
		}
	}
	if tracked < 5000 || clocks < 2000 {
		t.Errorf("too little was tracked: %d portions, %d clocks", tracked, clocks)
	}
}

// portion plays one random injection and returns a copy of what happened.
func portion(m *Machine, g *drawing, d draw) (events []Event, f *Fault) {
	f = faults(func() {
		at := m.Now() + time.Duration(d(5))
		tok := drawnToken{place: d(len(g.places)), key: d(3), gen: max(int(m.Gen())-d(2), 0), id: d(100)}.cut(g)
		if g.places[tok.place].env {
			_ = m.Inject(at, colouredPlace(g.places[tok.place]).token(tok))
		}
		events = slices.Clone(m.Advance(at).Events)
	})
	return events, f
}

// where compares a tracker with its machine.
func where(t *testing.T, seed int, tr *Tracker, m *Machine) {
	t.Helper()
	if !slices.Equal(tr.Marking(), m.count) || tr.Ended() != m.ended || tr.Seq() != m.seq {
		t.Fatalf("seed %d: tracker at %v %d %v, machine at %v %d %v", seed, tr.Marking(), tr.Seq(), tr.Ended(), m.count,
			m.seq, m.ended)
	}
	if a, b := tr.Clocks(), (&Tracker{m}).Clocks(); !reflect.DeepEqual(a, b) {
		t.Fatalf("seed %d: clocks of the tracker %v, of the machine %v", seed, a, b)
	}
}

func TestTrackerRefuses(t *testing.T) {
	w := play(t, &Net{Name: "n", Env: env(pA), Transitions: []Transition{
		{Name: "take", In: Arcs{pA, pB}, Out: And(pC)},
		{Name: "wait", In: Arcs{pC}, Out: And(pB), When: After(ms)},
	}, Init: units(pB)})
	place, tr := int32(w.p.Place("a")), w.p.Track()
	if err := tr.Apply(Event{Seq: 1, Kind: Started, At: ms}); err != nil {
		t.Fatal(err)
	}
	for want, e := range map[string]Event{
		"the next event is 2":                       {Seq: 3, At: ms, Kind: Injected, Index: place},
		"its time 0s is before 1ms":                 {Seq: 2, Kind: Injected, Index: place},
		"a run begins with started, and only there": {Seq: 2, At: ms, Kind: Started},
		"take is not enabled":                       {Seq: 2, At: ms, Kind: Fired},
		"there is no transition 2":                  {Seq: 2, At: ms, Kind: Fired, Index: 2},
		"take has no mode 1 with branch 0":          {Seq: 2, At: ms, Kind: Fired, Mode: 1},
		"there is no environment place -1":          {Seq: 2, At: ms, Kind: Injected, Index: -1},
		"there is no kind 9 of event":               {Seq: 2, At: ms, Kind: 9},
		"a has no slot 4":                           {Seq: 2, At: ms, Kind: Injected, Index: place, Slot: 4},
		"a is empty":                                {Seq: 2, At: ms, Kind: Dropped, Index: place},
	} {
		if err := tr.Apply(e); !errors.Is(err, ErrTrack) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", e, err, want)
		}
	}
	same(t, "it stands where it stood", tr.Seq(), 1)
	same(t, "an unknown place", tr.Count(-1), 0)
	same(t, "b", tr.Count(w.p.Place("b")), 1)
}

// FuzzTracker applies arbitrary events: none of them panics.
func FuzzTracker(f *testing.F) {
	f.Add([]byte("voice gateway"))
	n := tick()
	p, err := Compile(n)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		tr := p.Track()
		for ; len(b) > 4; b = b[5:] {
			_ = tr.Apply(Event{Seq: tr.Seq() + 1, At: tr.Now() + time.Duration(b[4]), Kind: EventKind(b[0] % 10),
				Index: int32(int8(b[1])), Slot: int32(int8(b[2])), Mode: uint16(b[3] & 3), Branch: b[3] >> 6})
		}
		for _, n := range tr.Marking() {
			if n < 0 {
				t.Fatalf("marking %v", tr.Marking())
			}
		}
	})
}
