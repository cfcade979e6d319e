//go:build !race

package main

import (
	"testing"

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
