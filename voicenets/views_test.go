package voicenets

import (
	"testing"
)

// small is a session with small counts.
func small(c Config) Config { return c.Small() }

func mutated() Config {
	return small(Config{Greeting: true, Prompts: Prompts(0).With(Fallback).With(Goodbye), ToolSlots: 1})
}

// TestViews: each view is explored in full, small, and keeps its properties; no
// transition is in none of them, and each claim says something in some.
func TestViews(t *testing.T) {
	list, err := Views(mutated())
	if err != nil {
		t.Fatal(err)
	}
	session, err := Session(mutated())
	if err != nil {
		t.Fatal(err)
	}
	seen, said := map[string]bool{}, map[string]bool{}
	for _, cl := range list {
		n, err := cl.Close(session)
		p := compile(t, n, err)
		g := hold(t, cl, p, said)
		t.Logf("%-18s %3d transitions, %5d markings, %2d properties", cl.Name, len(p.Transitions()), g.States(),
			len(cl.Properties))
		for _, c := range cl.Properties {
			if _, known := said[c.Name]; !known && c.Moves != nil {
				said[c.Name] = false
			}
		}
		for _, tr := range p.Transitions() {
			seen[tr.Name] = true
		}
	}
	for name, is := range said {
		if !is {
			t.Errorf("claim %s says nothing in any view", name)
		}
	}
	for _, n := range session.Nets {
		for _, tr := range n.Transitions {
			if !seen["session/"+n.Name+"/"+tr.Name] {
				t.Errorf("%s/%s is in no view", n.Name, tr.Name)
			}
		}
	}
}
