package petri

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// sameAgain plays random schedules on random nets twice, the second time in
// other portions of time: the events are the same.
func sameAgain(t *testing.T) {
	runs := 0
	for seed := range 300 {
		play := func(portions int) string {
			d := draw(rand.New(rand.NewPCG(uint64(seed), 3)).IntN)
			g := d.net()
			prog, err := Compile(g.build())
			if err != nil {
				return ""
			}
			return script(d, g, prog, portions)
		}
		one := play(1)
		if again, chunks := play(1), play(4); again != one || chunks != one {
			t.Fatalf("seed %d:\n%s\nagain:\n%s\nin portions:\n%s", seed, one, again, chunks)
		}
		if len(one) > 100 {
			runs++
		}
	}
	if runs < 150 {
		t.Errorf("only %d runs did anything", runs)
	}
}

// script plays 20 injections and returns all that came of them.
func script(d draw, g *drawing, prog *Program, portions int) string {
	var events, log string
	var m *Machine
	keep := func(r Ready) {
		for _, e := range r.Events {
			events += fmt.Sprintln(e)
		}
		for _, o := range r.Out {
			log += fmt.Sprintln(o.place, o.seq)
		}
	}
	f := faults(func() {
		m = prog.Start()
		for range 20 {
			from, to := m.Now(), m.Now()+time.Duration(d(8))
			for i := range portions {
				keep(m.Advance(from + (to-from)*time.Duration(i+1)/time.Duration(portions)))
			}
			tok := drawnToken{place: d(len(g.places)), key: d(3), id: d(9)}.cut(g)
			if g.places[tok.place].env {
				err := m.Inject(to, colouredPlace(g.places[tok.place]).token(tok))
				log += fmt.Sprintln(err)
			}
			keep(m.Advance(to))
		}
	})
	if f != nil && m != nil {
		keep(m.Fault()) // the outputs of the call are void, so how many came depends on the portions
		log = ""
	}
	return events + log + fmt.Sprintln(f)
}
