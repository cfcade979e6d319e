package voicenets

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// ceiling is the most markings a closed session may have.
const ceiling = 100_000

// small is a session with small counts, which its environment can exceed.
func small(c Config, budget int) Config {
	c.BudgetFrames, c.ReplyFramesMax = budget, 2
	return c
}

// variants are the sessions a gateway runs.
func variants() map[string]Config {
	return map[string]Config{
		"manual":                      {},
		"manual greeting":             {Greeting: true},
		"manual half-duplex":          {HalfDuplex: true},
		"manual greeting half-duplex": {Greeting: true, HalfDuplex: true},
		"server":                      {Detection: Server},
		"server greeting":             {Detection: Server, Greeting: true},
		"server half-duplex":          {Detection: Server, HalfDuplex: true},
		"server greeting half-duplex": {Detection: Server, Greeting: true, HalfDuplex: true},
	}
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

func explore(t *testing.T, p *petri.Program) *verify.Graph {
	t.Helper()
	g, err := verify.Explore(context.Background(), p, verify.Options{Max: ceiling})
	if err != nil {
		t.Fatal(err)
	}
	if !g.Complete {
		t.Fatalf("%s: more than %d markings", p.Name(), ceiling)
	}
	return g
}

// TestExplore visits every marking of every session under both closures,
// whatever the timers do: no deadlock, no place beyond its capacity, only the
// model's audio is ever refused, and every transition fires somewhere.
func TestExplore(t *testing.T) {
	for name, c := range variants() {
		for _, budget := range []int{1, 2, 4} {
			t.Run(fmt.Sprintf("%s K=%d", name, budget), func(t *testing.T) {
				n, err := Hostile(small(c, budget))
				hostile := explore(t, compile(t, n, err))
				n, err = Contract(small(c, budget))
				contract := explore(t, compile(t, n, err))
				t.Logf("hostile: %d markings, %d edges; contract: %d, %d; longest chain %d",
					hostile.States(), hostile.Edges(), contract.States(), contract.Edges(), max(hostile.Chain, contract.Chain))
				check(t, hostile, true)
				check(t, contract, false)
			})
		}
	}
}

// TestExploreAsItRuns does the same to the nets that run, with their real
// limits, under hostile automata that are at most a few frames ahead.
func TestExploreAsItRuns(t *testing.T) {
	for name, c := range variants() {
		n, err := Hostile(c)
		g := explore(t, compile(t, n, err))
		t.Logf("%s: %d markings, %d edges, longest chain %d", name, g.States(), g.Edges(), g.Chain)
		check(t, g, true)
	}
}

func check(t *testing.T, g *verify.Graph, all bool) {
	t.Helper()
	p := g.Model.Program()
	for _, d := range g.Deadlocks() {
		t.Fatalf("%s: deadlock\n%s", p.Name(), g.Format(g.PathTo(d)))
	}
	for _, f := range g.Faults {
		t.Fatalf("%s: fault\n%s", p.Name(), g.Format(g.PathToFault(f)))
	}
	for _, r := range g.Refusals {
		if name := p.Places()[r.Place].Name; name != string(ModelAudio) {
			t.Errorf("%s: a token was refused at %s, which decides", p.Name(), name)
		}
	}
	idle := g.Idle()
	for _, i := range idle {
		// What only a broken protocol can cause fires under Hostile alone.
		name := p.Transitions()[i].Name
		if strings.HasPrefix(name, "watcher/wrong_") || name == "watcher/mark_again" {
			continue // they say that a property is broken
		}
		if all || !slices.Contains(onlyHostile, name) {
			t.Errorf("%s: %s never fires", p.Name(), name)
		}
	}
}

// onlyHostile are the transitions that answer broken protocols.
var onlyHostile = []string{"session/speech/ignore_second_start", "session/model/finish_generation_again"}

// TestProperties proves the properties of every session: as it runs under
// hostile automata, and with small counts under both.
func TestProperties(t *testing.T) {
	for name, c := range variants() {
		for closure, shut := range map[string]func() (*petri.Net, error){
			"hostile as it runs": func() (*petri.Net, error) { return Hostile(c) },
			"hostile K=2":        func() (*petri.Net, error) { return Hostile(small(c, 2)) },
			"contract K=2":       func() (*petri.Net, error) { return Contract(small(c, 2)) },
		} {
			t.Run(name+" "+closure, func(t *testing.T) {
				n, err := shut()
				c := c
				if closure != "hostile as it runs" {
					c = small(c, 2)
				}
				props := Properties(c)
				if closure != "contract K=2" {
					props = append(props, Protocol(c)...)
				}
				r, err := verify.Run(context.Background(), compile(t, n, err), verify.Config{Max: ceiling}, props...)
				if err != nil {
					t.Fatal(err)
				}
				for _, res := range r.Results {
					if res.Outcome != verify.Proved {
						t.Errorf("%s is %s: %s\n%v", res.Property.Name, res.Outcome, res.Reason, res.Witness)
					}
				}
			})
		}
	}
}
