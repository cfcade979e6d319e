//go:build !race

package main

import (
	"math"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/voicenets"
)

// TestSessionOf finds every net that calls run on by its hash.
func TestSessionOf(t *testing.T) {
	t.Parallel()
	for _, n := range shippedNets() {
		for _, greeting := range []bool{false, true} {
			c := n.config
			c.Greeting, c.BudgetFrames = greeting, 7
			p, err := shippedNet{config: c}.program()
			if err != nil {
				t.Fatal(err)
			}
			found, prog, err := sessionOf(event.Hash(p), voicenets.Config{BudgetFrames: 7})
			if err != nil || prog == nil || found.name != n.name || found.config.Greeting != greeting {
				t.Errorf("%s, greeting %v: found %q, %v", n.name, greeting, found.name, err)
			}
			if _, prog, _ := sessionOf(event.Hash(p), voicenets.Config{}); prog != nil {
				t.Error("another budget has the same hash")
			}
		}
	}
}

// TestNetNames: every option, alone and left out, leads to names that are known.
func TestNetNames(t *testing.T) {
	t.Parallel()
	names, err := netNames()
	if err != nil {
		t.Fatal(err)
	}
	options := []func(c *voicenets.Config, on bool){
		func(c *voicenets.Config, on bool) { c.Greeting = on },
		func(c *voicenets.Config, on bool) { c.GreetingFirm = on },
		func(c *voicenets.Config, on bool) { c.Adaptive = on },
		func(c *voicenets.Config, on bool) { c.Hints = on },
		func(c *voicenets.Config, on bool) { c.Consent = on },
		func(c *voicenets.Config, on bool) { c.Prompts = map[bool]voicenets.Prompts{true: math.MaxUint8}[on] },
		func(c *voicenets.Config, on bool) { c.ToolSlots = map[bool]int{true: voicenets.SlotsMax}[on] },
		func(c *voicenets.Config, on bool) { c.RepromptAfter = map[bool]time.Duration{true: time.Second}[on] },
	}
	for _, n := range shippedNets() {
		for i := range 2 * len(options) {
			c := voicenets.Config{Detection: n.config.Detection, HalfDuplex: n.config.HalfDuplex}
			alone := i < len(options)
			for k, set := range options {
				set(&c, (k == i%len(options)) == alone)
			}
			p, err := shippedNet{config: c}.program()
			if err != nil {
				t.Fatal(err)
			}
			own := event.NameSet{}
			own.Add(p)
			for name := range own {
				if !names[name] {
					t.Fatalf("%s, option %d, alone %v: %s is not known", n.name, i%len(options), alone, name)
				}
			}
		}
	}
}
