package claims

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

// without is a small session with each part but some.
func without(left ...voicenets.Part) voicenets.Config {
	c := mutated()
	c.Hints, c.RepromptAfter, c.Parts = true, 10*time.Second, map[voicenets.Part]func(voicenets.Config) *petri.Net{}
	for _, p := range left {
		c.Parts[p] = nil
	}
	return c
}

// TestProvedWithout: a session without one of its parts is proved, and of the claims only those
// about that part are gone.
func TestProvedWithout(t *testing.T) {
	all := claimsProved(t, without())
	for part, gone := range map[voicenets.Part][]string{
		voicenets.PartText: nil, voicenets.PartTranscript: {"transcript-shown", "transcript-dropped"},
		voicenets.PartDigits: {"V8-entered", "V8-digits", "time_out_entry after 3s", "time of digits"},
		voicenets.PartHints:  nil, voicenets.PartPrompts: {"prompt-reported"},
		voicenets.PartModelSilence: {"V6-overdue", "V5-nudge online", "V5-renew_link online", "V5-play_fallback ",
			"V5-play_fallback_at_deadline ", "nudge after 4s", "renew_link after 4s", "play_fallback after 4s",
			"reach_deadline after 30s", "time of answer", "rehearsal of a silent model"},
		voicenets.PartCallerSilence: {"V5-reprompt online", "V5-reprompt quiet", "V5-give_up_on_caller online",
			"V5-give_up_on_caller quiet", "V5-notice_silence noise", "V5-notice_silence_again noise",
			"notice_silence after 10s", "notice_silence_again after 15s", "stop_expecting_answer after 4s"},
		voicenets.PartTools: {"V7-tool_running_0", "V7-lost-tool_running_0", "V7-ends-tool_running_0",
			"V7-late-tool_running_0", "time_out_call_0 after 15s", "time of tool 0"},
	} {
		kept := claimsProved(t, without(part))
		missing := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(kept, name) })
		if !slices.Equal(missing, gone) {
			t.Errorf("without %s nothing is proved of %q, want %q", part, missing, gone)
		}
	}
}

func claimsProved(t *testing.T, c voicenets.Config) []string {
	t.Helper()
	proof, err := prove(context.Background(), c, nil)
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

// TestReplacedIsHeldToClaims: a part of one's own that lacks what a claim speaks of is refused, not
// spared the claim.
func TestReplacedIsHeldToClaims(t *testing.T) {
	c := small(voicenets.Config{})
	smuggling := func(c voicenets.Config) *petri.Net {
		n := own(t, c, voicenets.PartUplink)
		for i := range n.Transitions {
			if n.Transitions[i].Name == "send_frame_up" {
				n.Transitions[i].Name = "smuggle"
			}
		}
		return n
	}
	c.Parts = map[voicenets.Part]func(voicenets.Config) *petri.Net{voicenets.PartUplink: smuggling}
	if _, err := prove(context.Background(), c, nil); err == nil || !strings.Contains(err.Error(), "send_frame_up") {
		t.Errorf("an uplink of other names is refused with %v", err)
	}
}
