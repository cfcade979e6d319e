package voicenets

import (
	"context"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// small is a session with small counts, so that every marking can be visited.
func small(c Config) Config {
	c.BudgetFrames, c.ReplyFramesMax = 2, 2
	return c
}

func explore(t *testing.T, close func(Config) (*petri.Net, error), c Config) *verify.Graph {
	t.Helper()
	n, err := close(small(c))
	if err != nil {
		t.Fatal(err)
	}
	p, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	g, err := verify.Explore(context.Background(), p, verify.Options{Max: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestExplore(t *testing.T) {
	for name, c := range map[string]Config{"manual": {}, "greeting": {Greeting: true}, "server": {Detection: Server}, "half": {HalfDuplex: true}, "server-half": {Detection: Server, HalfDuplex: true}} {
		for closure, f := range map[string]func(Config) (*petri.Net, error){"hostile": Hostile, "contract": Contract} {
			t.Run(name+"/"+closure, func(t *testing.T) {
				g := explore(t, f, c)
				t.Logf("%d markings, %d edges, chain %d", g.States(), g.Edges(), g.Chain)
				if !g.Complete {
					t.Errorf("more than %d markings", g.States())
				}
				p := g.Model.Program()
				for i, b := range g.Bounds() {
					if b > 2 {
						t.Logf("bound %s %d", p.Places()[i].Name, b)
					}
				}
				for _, d := range g.Deadlocks() {
					t.Errorf("deadlock\n%s", g.Format(g.PathTo(d)))
					break
				}
				for _, f := range g.Faults {
					t.Errorf("fault\n%s", g.Format(g.PathToFault(f)))
				}
				for _, i := range g.Idle() {
					t.Logf("never fires: %s", p.Transitions()[i].Name)
				}
				for _, r := range g.Refusals { t.Logf("%+v %s", r, p.Places()[r.Place].Name) }
			})
		}
	}
}
