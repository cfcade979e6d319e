package petri

import (
	"testing"
	"time"
)

// TestAllocations checks that a firing does not allocate, for tokens of every sort, with guards,
// timers and events.
func TestAllocations(t *testing.T) {
	for _, c := range append(colourChains(), bumpChain()) {
		for _, off := range []bool{true, false} {
			m := silent(t, c.net)
			m.Silent(off)
			now := time.Duration(0)
			once := func() {
				if err := m.Inject(now, c.token); err != nil {
					t.Fatal(err)
				}
				now += 20_000
				m.Advance(now)
			}
			for range 10 {
				once()
			}
			if n := testing.AllocsPerRun(100, once); n != 0 {
				t.Errorf("%s, silent %v: %v allocations", c.name, off, n)
			}
		}
	}
}

// bumpChain keeps tokens through bumps: each new token makes the earlier ones stale and takes one
// of them out.
func bumpChain() colourChain {
	const in, kept = Place[card]("in"), Place[card]("kept")
	keep := func(f *Firing) { kept.Put(f, card{hue: in.Get(f).hue, gen: f.Gen()}) }
	return colourChain{"bump", &Net{Name: "bump", Env: []Env{{Place: in}}, Init: []Token{
		kept.Token(card{hue: 1}), kept.Token(card{hue: 1}), kept.Token(card{hue: 1})},
		Transitions: []Transition{
			{Name: "bump", In: Arcs{in.Is(hue(1)), kept.Is(hue(1)).Stale()}, Out: And(kept.Is(hue(1)).Fresh()), Bump: true,
				Action: keep},
			{Name: "begin", In: Arcs{in.Is(hue(1)), kept.Is(hue(1)).Fresh()}, Out: And(kept.Is(hue(1)).Fresh()), Bump: true,
				Priority: -1, Action: keep},
		}}, in.Token(card{hue: 1})}
}

// TestRestartAllocations checks that a run on a machine that has run before does not allocate.
func TestRestartAllocations(t *testing.T) {
	for _, c := range colourChains() {
		m := silent(t, c.net)
		once := func() {
			m.Restart()
			if err := m.Inject(0, c.token); err != nil {
				t.Fatal(err)
			}
			m.Advance(20_000)
		}
		once()
		if n := testing.AllocsPerRun(100, once); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}

// TestIdleBytes checks that an idle machine of twelve transitions takes at most 4 kB.
func TestIdleBytes(t *testing.T) {
	if n := idleBytes(t, 500); n > 4096 {
		t.Errorf("an idle machine keeps %.0f bytes", n)
	}
}
