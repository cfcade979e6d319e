package voicenets

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/mutate"
)

// hold holds a session to the claims in a view, and notes those about moves that
// say something there. It returns the graph.
func hold(t *testing.T, cl mutate.Closure, p *petri.Program, said map[string]bool) *verify.Graph {
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
		if c.Moves != nil {
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
func applied(g *verify.Graph, moves []*verify.Property, said map[string]bool) error {
	open := map[string]*verify.MoveClaim{}
	for _, p := range moves {
		claim, err := p.Moves(g.Model)
		if err != nil {
			return err
		}
		if !said[p.Name] {
			open[p.Name] = claim
		}
	}
	return g.EachMove(context.Background(), func(_ int, from []int32, chain []verify.Step, to []int32) bool {
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
func ending(w *verify.Witness, lines int) string {
	if w == nil {
		return ""
	}
	list := strings.Split(strings.TrimSpace(w.Story), "\n")
	return strings.Join(list[max(0, len(list)-lines):], "\n")
}

// TestClaimsNames: claims name nothing that no session has.
func TestClaimsNames(t *testing.T) {
	full := mutated()
	full.Consent, full.GreetingFirm = true, true
	n, err := Hostile(full)
	p := compile(t, n, err)
	m := verify.NewModel(p, verify.RunToCompletion)
	known := []string{"+hint[real_speech]", "be_asked_anew", "+leaving[caller_silent]", "bump"}
	for _, r := range claimed(full) {
		for _, c := range r.moves {
			if err := c.move(r.part).Strict(m); err != nil &&
				!slices.ContainsFunc(known, func(k string) bool { return strings.Contains(err.Error(), k) }) {
				t.Error(err)
			}
		}
	}
}
