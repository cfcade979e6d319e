package voicegw

import (
	"strings"
	"testing"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
)

// TestClientActivity: how a client wants its speech detected is followed within bounds, and refused
// by name if a rule, the call or a bound forbids it.
func TestClientActivity(t *testing.T) {
	ms := func(n int32) *int32 { return &n }
	base := audio.ActivityConfig{Threshold: 0.6, StopFrames: 30}
	all := transport.Activity{Start: "low", End: "low", PrefixMS: ms(250), SilenceMS: ms(790)}
	for name, tt := range map[string]struct {
		rule, detects bool
		asked         transport.Activity
		want          audio.ActivityConfig
		refused       string
	}{
		"nothing":   {true, true, transport.Activity{}, base, ""},
		"no rule":   {false, true, all, base, "start_sensitivity end_sensitivity prefix_padding silence_duration"},
		"no effect": {true, false, all, base, "start_sensitivity end_sensitivity prefix_padding silence_duration"},
		"all": {true, true, all, audio.ActivityConfig{Threshold: 0.8, StopFrames: 40, StartFrames: 13, StartWindow: 14},
			""},
		"high": {true, true, transport.Activity{Start: "high", End: "high"}, base, ""},
		"low":  {true, true, transport.Activity{End: "low"}, audio.ActivityConfig{Threshold: 0.6, StopFrames: 60}, ""},
		"unknown": {true, true, transport.Activity{Start: "medium", End: "x"}, base,
			"start_sensitivity end_sensitivity"},
		"least": {true, true, transport.Activity{PrefixMS: ms(0), SilenceMS: ms(100)},
			audio.ActivityConfig{Threshold: 0.6, StopFrames: 5, StartFrames: 1, StartWindow: 2}, ""},
		"most": {true, true, transport.Activity{PrefixMS: ms(1000), SilenceMS: ms(5000)},
			audio.ActivityConfig{Threshold: 0.6, StopFrames: 250, StartFrames: 50, StartWindow: 51}, ""},
		"less": {true, true, transport.Activity{PrefixMS: ms(-1), SilenceMS: ms(99)}, base,
			"prefix_padding silence_duration"},
		"too much": {true, true, transport.Activity{PrefixMS: ms(1001), SilenceMS: ms(5001)}, base,
			"prefix_padding silence_duration"},
	} {
		rules, p := SessionRules{Activity: tt.rule}, &Plan{}
		var fields []string
		for _, f := range rules.followActivity(&tt.asked, p, base, tt.detects) {
			if fields = append(fields, f.Field); f.Want == "" || f.Event != "session" {
				t.Errorf("%s: %v", name, f)
			}
		}
		if got := strings.Join(fields, " "); p.activity != tt.want || got != tt.refused {
			t.Errorf("%s: %+v, refused %q; want %+v, %q", name, p.activity, got, tt.want, tt.refused)
		}
	}
}
