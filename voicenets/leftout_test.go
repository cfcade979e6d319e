package voicenets

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// without is a small session with each part but some.
func without(left ...Part) Config {
	c := mutated()
	c.Hints, c.RepromptAfter, c.Parts = true, 10*time.Second, map[Part]func(Config) *petri.Net{}
	for _, p := range left {
		c.Parts[p] = nil
	}
	return c
}

// TestProvedWithout: a session without one of its parts is proved, and of the
// claims only those about that part are gone.
func TestProvedWithout(t *testing.T) {
	all := claimsProved(t, without())
	for part, gone := range map[Part][]string{
		PartText: nil, PartWords: nil, PartDigits: {"V8-entered", "V8-digits", "time_out_entry after 3s", "time of digits"},
		PartHints: nil, PartPrompts: {"told-of-prompt"},
		PartModelSilence: {"V6-owed", "nudge after 4s", "renew_link after 4s", "speak_for_model after 4s",
			"reach_deadline after 30s", "time of answer", "rehearsal of a silent model"},
		PartCallerSilence: {"miss_caller after 10s", "miss_caller_again after 15s", "await_no_longer after 4s"},
		PartTools:         {"V7-running_0", "V7-lost-running_0", "time_out_call_0 after 15s", "time of tool 0"},
	} {
		kept := claimsProved(t, without(part))
		missing := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(kept, name) })
		if !slices.Equal(missing, gone) {
			t.Errorf("without %s nothing is proved of %q, want %q", part, missing, gone)
		}
	}
}

func claimsProved(t *testing.T, c Config) []string {
	t.Helper()
	proof, err := Prove(context.Background(), c, nil)
	if err != nil {
		t.Errorf("%v: %v", c.Parts, err)
		return nil
	}
	var names []string
	for _, c := range proof.Claims {
		if strings.HasPrefix(c.Property.Name, "left-") {
			continue // TestNothingIsLeftBehind
		}
		names = append(names, c.Property.Name)
	}
	return names
}

// TestReplacedIsHeldToClaims: a part of one's own that lacks what a claim speaks
// of is refused, not spared the claim.
func TestReplacedIsHeldToClaims(t *testing.T) {
	c := small(Config{})
	c.Parts = map[Part]func(Config) *petri.Net{PartUplink: func(c Config) *petri.Net {
		n := uplinkNet(c)
		for i := range n.Transitions {
			if n.Transitions[i].Name == "send_frame_up" {
				n.Transitions[i].Name = "smuggle"
			}
		}
		return n
	}}
	if _, err := Prove(context.Background(), c, nil); err == nil || !strings.Contains(err.Error(), "send_frame_up") {
		t.Errorf("an uplink of other names is refused with %v", err)
	}
}
