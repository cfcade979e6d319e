package petri

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

// TestShadow plays random schedules on random nets, and the same injections on their shadows. The
// events must be the same.
func TestShadow(t *testing.T) {
	var events, bumps, free int
	for seed := range 2500 {
		d := draw(rand.New(rand.NewPCG(uint64(seed), 2)).IntN)
		g := d.net()
		prog, err := Compile(g.build())
		if err != nil {
			continue
		}
		log := record(d, g, prog)
		got := replay(prog, log)
		if len(got) < len(log) || !reflect.DeepEqual(got[:len(log)], log) {
			t.Fatalf("seed %d:\n%v\nthe shadow did\n%v\n%s", seed, log, got, g)
		}
		events += len(log)
		for _, e := range log {
			if e.Kind == Fired {
				tr := &prog.transitions[e.Index]
				bumps += btoi(tr.Bump)
				free += btoi(tr.Free)
			}
		}
	}
	if events < 20_000 || bumps < 500 || free < 500 {
		t.Errorf("too little happened: %d events, %d bumps, %d free choices", events, bumps, free)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// record plays a random schedule until it ends or faults.
func record(d draw, g *drawing, prog *Program) []Event {
	var log []Event
	var m *Machine
	if faults(func() { m = prog.Start() }) != nil {
		return nil
	}
	keep := func(r Ready) { log = append(log, r.Events...) }
	keep(m.Advance(0))
	for range 40 {
		at := m.Now() + time.Duration(d(5))
		tok := drawnToken{place: d(len(g.places)), key: d(3), gen: max(int(m.Gen())-d(2), 0), id: d(100)}.cut(g)
		if faults(func() {
			if g.places[tok.place].env {
				_ = m.Inject(at, colouredPlace(g.places[tok.place]).token(tok))
			}
			keep(m.Advance(at))
		}) != nil {
			keep(Ready{Events: m.Fault().Events[:0]})
			return log
		}
	}
	return log
}

// replay injects the tokens of a log into a shadow.
func replay(prog *Program, log []Event) []Event {
	if len(log) == 0 {
		return nil
	}
	var got []Event
	_ = faults(func() {
		m := prog.Shadow(func(seq uint64) int {
			if seq > uint64(len(log)) {
				return 0
			}
			return int(log[seq-1].Branch)
		})
		s := m.Start()
		for _, e := range log {
			got = append(got, s.Advance(e.At).Events...)
			if e.Kind == Injected || e.Kind == Refused {
				_ = s.Inject(e.At, m.ShadowToken(e, s.Gen()))
			}
		}
		got = append(got, s.Advance(log[len(log)-1].At).Events...)
	})
	return got
}
