package claims

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/voicenets"
)

var settings = flag.Int("settings", 4, "how many settings at random TestClaimsHoldForSettings tries")

// settingsOf are settings at random, as an operator might choose them.
func settingsOf(r *rand.Rand) voicenets.Config {
	coin := func() bool { return r.IntN(2) == 0 }
	rare := func() bool { return r.IntN(4) == 0 }
	c := voicenets.Config{Greeting: coin(), HalfDuplex: rare(), Adaptive: rare(), Consent: rare()}
	if coin() {
		c.Detection = voicenets.ModelVAD
	}
	if rare() {
		c.RepromptAfter = 5 * time.Second
	}
	if c.Prompts = usualPrompts(c); coin() {
		for i := range voicenets.Prompt(0).KeyNames() {
			if p := voicenets.Prompt(i); coin() && p != voicenets.Notify {
				c.Prompts = c.Prompts.With(p)
			}
		}
	}
	c.ToolSlots = []int{0, 0, 1, 2, 4, 5}[r.IntN(6)]
	c.BudgetFrames = []int{0, 1, 2, 5}[r.IntN(4)]
	c.ReplyFramesMax = []int{0, 0, 1, 2, 5}[r.IntN(5)]
	c.PreRollFrames = []int{0, 1, 25}[r.IntN(3)]
	c.DialsMax = []int{0, 1, 2, 6}[r.IntN(4)]
	return c
}

// TestClaimsHoldForSettings: no settings are refused because a claim on views is too narrow for
// them.
func TestClaimsHoldForSettings(t *testing.T) {
	for n := range uint64(*settings) {
		c := settingsOf(rand.New(rand.NewPCG(7, n)))
		session, err := voicenets.Session(c)
		if err != nil {
			t.Fatal(err)
		}
		o, err := obligationsOf(session, c)
		if err != nil {
			t.Fatal(err)
		}
		k := &proving{obligations: o}
		if err := k.layOutViews(session); err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		if len(k.views) == 0 {
			t.Fatalf("%+v has no views", c)
		}
		for _, s := range k.views {
			g, err := explore.ExploreModel(t.Context(), s.model, explore.Options{Max: viewMax})
			if err != nil {
				t.Fatal(err)
			}
			if !g.Complete && len(g.Faults) == 0 {
				continue // it is left out
			}
			if _, err := g.Confirm(t.Context(), verify.Claims(s.props...)...); err != nil {
				t.Errorf("%s: %v\n%+v", s.part.Name, err, c)
			}
		}
	}
}
