package voicenets

import (
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// TestConfigRefused names the field, its value and what would be right.
func TestConfigRefused(t *testing.T) {
	for _, c := range []struct {
		config Config
		want   []string
	}{
		{Config{BudgetFrames: 101}, []string{"BudgetFrames", "101", "1 to 100"}},
		{Config{BudgetFrames: -1}, []string{"BudgetFrames", "-1"}},
		{Config{ReplyFramesMax: 60_001}, []string{"ReplyFramesMax", "60001"}},
		{Config{PreRollFrames: 26}, []string{"PreRollFrames", "26", "1 to 25"}},
		{Config{ConfirmWindow: time.Second}, []string{"ConfirmWindow", "1s", "100ms to 900ms"}},
		{Config{FrameGap: time.Millisecond}, []string{"FrameGap", "1ms"}},
		{Config{LateAudio: time.Minute}, []string{"LateAudio", "1m0s"}},
		{Config{AckTimeout: time.Hour}, []string{"AckTimeout"}},
		{Config{OwedTimeout: time.Hour}, []string{"OwedTimeout"}},
		{Config{SilentTurn: time.Hour}, []string{"SilentTurn"}},
		{Config{MaxDuration: 25 * time.Hour}, []string{"MaxDuration", "25h0m0s", "24h0m0s"}},
	} {
		_, err := Session(c.config)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: error %v does not name %s", c.config, err, want)
			}
		}
	}
}

// TestCommitsAreFresh: audio leaves for the peer only as a token of the
// current generation, whatever the variant (V3).
func TestCommitsAreFresh(t *testing.T) {
	for name, c := range variants() {
		n, err := Session(c)
		p := compile(t, n, err)
		down, commits := p.Place(string(AudioDown)), 0
		for _, tr := range p.Transitions() {
			for _, a := range tr.Arcs {
				if a.Kind != petri.OutArc || a.Place != down {
					continue
				}
				commits++
				if !takesFresh(p, tr) {
					t.Errorf("%s: %s hands over audio without looking at its generation", name, tr.Name)
				}
			}
		}
		if commits == 0 {
			t.Errorf("%s: no transition hands over audio", name)
		}
	}
}

func takesFresh(p *petri.Program, t petri.TransitionInfo) bool {
	for _, a := range t.Arcs {
		if a.Kind == petri.InArc && p.Places()[a.Place].Gen {
			return a.Label == "fresh"
		}
	}
	return false
}
