package petri

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// crowdNet is a lock that a token takes and gives back, beside n transitions that need the lock free
// and a token of their own.
func crowdNet(n int) *Net {
	const in, free, held = Place[Unit]("in"), Place[Unit]("free"), Place[Unit]("held")
	net := &Net{Name: "crowd", Env: []Env{{Place: in}}, Init: []Token{free.Token(Unit{})}, Transitions: []Transition{
		{Name: "lock", In: Arcs{in, free}, Out: And(held)}, {Name: "unlock", In: Arcs{held}, Out: And(free)}}}
	for i := range n {
		ask, done := Place[Unit](fmt.Sprint("ask", i)), Place[Unit](fmt.Sprint("done", i))
		net.Env, net.Sinks = append(net.Env, Env{Place: ask}), append(net.Sinks, done)
		net.Transitions = append(net.Transitions, Transition{Name: fmt.Sprint("serve", i), In: Arcs{ask},
			Read: Arcs{free}, Inhibit: Arcs{held}, Out: And(done)})
	}
	return net
}

// TestCrowd checks that sleepers change no event, and that they wake up on a token of their own.
func TestCrowd(t *testing.T) {
	script := func(least int) string {
		p, err := compile(crowdNet(100), least)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := len(p.crowds), 2; least == crowdMin && got != want {
			t.Errorf("%d slots are crowded, want %d", got, want)
		}
		m, log := p.Start(), ""
		for i := range 400 {
			at := Place[Unit]("in")
			if i%2 == 0 {
				at = Place[Unit](fmt.Sprint("ask", i*37%100))
			}
			log += fmt.Sprintln(m.Inject(0, at.Token(Unit{})), m.Advance(0).Events)
		}
		return log + fmt.Sprint(m.Marking(nil))
	}
	if with, without := script(crowdMin), script(math.MaxInt); with != without {
		t.Errorf("with crowds\n%s\nwithout\n%s", with, without)
	}
}

// TestCrowdAwakeAtStart checks that a transition whose own token is there from the start does not sleep.
func TestCrowdAwakeAtStart(t *testing.T) {
	net := crowdNet(100)
	net.Init = []Token{Place[Unit]("held").Token(Unit{}), Place[Unit]("ask7").Token(Unit{})}
	net.Transitions[1].When = After(time.Second) // unlock
	p, err := Compile(net)
	if err != nil {
		t.Fatal(err)
	}
	m := p.Start()
	for range 2 {
		if n := m.Marking(nil)[p.places[p.Place("done7")].Slot]; n != 0 {
			t.Errorf("%d served while the lock is held", n)
		}
		m.Advance(time.Second)
		if n := m.Marking(nil)[p.places[p.Place("done7")].Slot]; n != 1 {
			t.Errorf("%d served when the lock is free", n)
		}
		m.Restart()
	}
}

// BenchmarkCrowd is a lock at which n transitions look that wait for tokens of their own.
func BenchmarkCrowd(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10_000} {
		b.Run(fmt.Sprintf("crowd-%d", n), func(b *testing.B) {
			m := silent(b, crowdNet(n))
			now, tok := m.Now(), Place[Unit]("in").Token(Unit{})
			b.ReportAllocs()
			for b.Loop() {
				if err := m.Inject(now, tok); err != nil {
					b.Fatal(err)
				}
				m.Advance(now)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2, "ns/firing")
		})
	}
}
