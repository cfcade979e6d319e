package claims

import (
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/voicenets"
)

// TestRestarts: three firings start a wait anew on purpose (a debounce); none
// that moves frames does, because those come fifty times a second, and none
// puts off a deadline of the same turn, a drain or a goodbye.
func TestRestarts(t *testing.T) {
	meant := []string{
		"speech/keep_speech: speech/end_speech_without_frames",
		"speech/confirm_speech: speech/end_speech_without_frames",
		"playout/return_budget: playout/presume_played",
		"digits/add_digit: digits/time_out_entry", // each key has its own gap
		"digits/add_digit_protected: digits/time_out_entry",
		"text/type_before_reply: playout/presume_turn_complete", // a turn of its own
		"text/type_over_reply: playout/presume_turn_complete",
		"text/type_in_pause: playout/presume_turn_complete",
	}
	// Typed text that takes the place of a turn which waits for its reply waits for its own.
	for _, timer := range []string{"nudge", "renew_link", "play_fallback", "reach_deadline"} {
		meant = append(meant, "text/type_for_reply: model_silence/"+timer, "text/type_before_reply: model_silence/"+timer)
	}
	for name, c := range variants() {
		n, err := Hostile(c)
		p := compile(t, n, err)
		var found []string
		for _, r := range verify.Restarts(netmodel.New(p, netmodel.RunToCompletion)) {
			found = append(found, strings.ReplaceAll(r.Transition+": "+r.Timer, "session/", ""))
		}
		for _, f := range found {
			if !slices.Contains(meant, f) {
				t.Errorf("%s: %s is started anew", name, f)
			}
		}
	}
}

// TestOutputsDeclared: each subnet declares what it puts out, so that leaving
// another one out does not turn an output into a place that fills up.
func TestOutputsDeclared(t *testing.T) {
	for name, c := range variants() {
		s, err := voicenets.Session(c)
		if err != nil {
			t.Fatal(err)
		}
		declared := func(n *petri.Net, p petri.AnyPlace) bool {
			return slices.ContainsFunc(n.Out, func(o petri.Output) bool { return o.Place.String() == p.String() })
		}
		for _, n := range s.Nets {
			for _, tr := range n.Transitions {
				for _, p := range placesOf(tr.Out.Arcs()) {
					elsewhere := slices.ContainsFunc(s.Nets, func(o *petri.Net) bool { return declared(o, p) })
					if elsewhere && !declared(n, p) {
						t.Errorf("%s: %s/%s puts out %s, which %s does not declare", name, n.Name, tr.Name, p, n.Name)
					}
				}
			}
		}
	}
}

// TestPartsLeftOut: a session without one of its parts is a session still, and
// is proved like any other.
func TestPartsLeftOut(t *testing.T) {
	for _, p := range []voicenets.Part{voicenets.PartText, voicenets.PartTranscript, voicenets.PartDigits,
		voicenets.PartPrompts, voicenets.PartTools, voicenets.PartModelSilence, voicenets.PartCallerSilence,
		voicenets.PartHints} {
		c := everything()
		c.Parts = map[voicenets.Part]func(voicenets.Config) *petri.Net{p: nil}
		n, err := Hostile(c)
		if err != nil {
			t.Errorf("without %s: %v", p, err)
			continue
		}
		prog, err := petri.Compile(n)
		if err != nil {
			t.Errorf("without %s: %v", p, err)
			continue
		}
		for _, tr := range prog.Transitions() {
			if strings.HasPrefix(tr.Name, "session/"+string(p)+"/") {
				t.Errorf("without %s there is %s", p, tr.Name)
			}
		}
	}
}
