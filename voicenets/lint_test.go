package voicenets

import (
	"context"
	"slices"
	"testing"

	"github.com/voicegw/voicegw/verify"
)

// TestRestarts: three firings start a wait anew on purpose (a debounce), and
// none that moves frames does, because those come fifty times a second.
func TestRestarts(t *testing.T) {
	meant := []string{
		"session/speech/keep_speech: session/speech/end_speech_without_frames",
		"session/speech/confirm_speech: session/speech/end_speech_without_frames",
		"session/playout/return_budget: session/playout/presume_played",
	}
	for name, c := range variants() {
		n, err := Hostile(c)
		p := compile(t, n, err)
		var found []string
		for _, r := range verify.NewModel(p, verify.RunToCompletion).Restarts() {
			found = append(found, r.Transition+": "+r.Timer)
		}
		for _, f := range found {
			if !slices.Contains(meant, f) {
				t.Errorf("%s: %s is started anew", name, f)
			}
		}
		if len(found) != len(meant) {
			t.Errorf("%s: %d restarts were found, want %d: %v", name, len(found), len(meant), found)
		}
	}
}

// TestStructure: audio goes up, and is accepted, in one place each, and leaves
// for the peer only fresh.
func TestStructure(t *testing.T) {
	for name, c := range variants() {
		n, err := Hostile(small(c, 2))
		r, err := verify.Run(context.Background(), compile(t, n, err), verify.Config{Max: ceiling},
			verify.BranchesTaken(), verify.SingleWriter(string(AudioUp), string(replyAudio)),
			verify.FreshCommits("session/playout/send_frame"))
		if err != nil {
			t.Fatal(err)
		}
		for _, res := range r.Results {
			if res.Outcome != verify.Proved {
				t.Errorf("%s: %s is %s: %s", name, res.Property.Name, res.Outcome, res.Reason)
			}
		}
	}
}
