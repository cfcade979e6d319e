package mutants

import (
	"context"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/mutate"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/witness"
	"github.com/voicegw/voicegw/voicenets"
)

func mutated() voicenets.Config {
	return Small(voicenets.Config{Greeting: true,
		Prompts: voicenets.Prompts(0).With(voicenets.Fallback).With(voicenets.Goodbye), ToolSlots: 1})
}

// TestViews: each view is explored in full, small, and keeps its properties; no transition is in
// none of them, and each claim says something in some.
func TestViews(t *testing.T) {
	list, err := Closures(mutated())
	if err != nil {
		t.Fatal(err)
	}
	session, err := voicenets.Session(mutated())
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
			if _, known := said[c.Name]; !known && claim.AboutMoves(c.Claim) {
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

// hold holds a session to the claims in a view, and notes those about moves that say something
// there. It returns the graph.
func hold(t *testing.T, cl mutate.Closure, p *petri.Program, said map[string]bool) *explore.Graph {
	t.Helper()
	pass, err := verify.NewPass(p, verify.Config{Max: 40_000})
	if err != nil {
		t.Fatal(err)
	}
	g, err := pass.Graph(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var moves []*verify.Property
	for _, c := range cl.Properties {
		if claim.AboutMoves(c.Claim) {
			moves = append(moves, c)
			continue
		}
		v, err := c.Check(context.Background(), pass)
		if err != nil || v.Outcome != verify.Proved {
			t.Errorf("%s: %s is %s: %s %v", cl.Name, c.Name, v.Outcome, v.Reason, err)
		}
	}
	verdicts, err := verify.CheckMoves(context.Background(), pass, moves...)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range verdicts {
		if v.Outcome != verify.Proved {
			t.Errorf("%s: %s (%s) is %s: %s\n%s", cl.Name, moves[i].Name, moves[i].Doc,
				v.Outcome, v.Reason, ending(v.Witness, 3))
		}
	}
	if err := applied(g, moves, said); err != nil {
		t.Fatal(err)
	}
	return g
}

// applied notes the claims about moves that say something of a graph.
func applied(g *explore.Graph, moves []*verify.Property, said map[string]bool) error {
	open := map[string]*claim.BoundMove{}
	for _, p := range moves {
		claim, err := claim.BadMoves(p.Claim, g.Model)
		if err != nil {
			return err
		}
		if !said[p.Name] {
			open[p.Name] = claim
		}
	}
	return g.EachMove(context.Background(), func(_ int, from []int32, chain []netmodel.Step, to []int32) bool {
		for name, claim := range open {
			if claim.Applies(from, chain, to) {
				said[name] = true
				delete(open, name)
			}
		}
		return len(open) > 0
	})
}

// ending is the end of a run in words.
func ending(w *witness.Witness, lines int) string {
	if w == nil {
		return ""
	}
	list := strings.Split(strings.TrimSpace(w.Story), "\n")
	return strings.Join(list[max(0, len(list)-lines):], "\n")
}

func compile(t *testing.T, n *petri.Net, err error) *petri.Program {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	p, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
