package smt

import (
	"fmt"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/voicenets"
	"github.com/voicegw/voicegw/voicenets/claims"
)

// sessions are the closed nets of a session that a gateway runs.
func sessions(t *testing.T, budget int) map[string]*petri.Program {
	t.Helper()
	out := map[string]*petri.Program{}
	for name, c := range map[string]voicenets.Config{
		"gateway VAD": {}, "greeting": {Greeting: true}, "model VAD": {Detection: voicenets.ModelVAD},
		"half-duplex": {HalfDuplex: true}, "model VAD half-duplex": {Detection: voicenets.ModelVAD, HalfDuplex: true},
	} {
		c.BudgetFrames = budget
		hostile, err := claims.Hostile(c)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = compile(t, hostile)
	}
	return out
}

// frames leaves the budget of a session open.
func frames() Config {
	return Config{Params: []Param{{Name: "K", Min: 1,
		Thresholds: []Threshold{{"send_frame", "unacked"}, {"play_again", "unacked"}}}}}
}

// TestVoiceBudget: whatever the environment does, no session hands over more frames that were not
// acknowledged than its budget, for every budget there is: the program of any budget is the one of
// the proof.
func TestVoiceBudget(t *testing.T) {
	needSolvers(t)
	one := sessions(t, 1)
	for _, budget := range []int{1, 2, 20, 100} {
		for name, p := range sessions(t, budget) {
			t.Run(fmt.Sprint(name, " ", budget), func(t *testing.T) {
				c := frames()
				if alike, err := c.Alike(one[name], p, "unacked > K"); err != nil || !alike {
					t.Errorf("alike %v, %v", alike, err)
				}
				if budget > 1 {
					return
				}
				if r := run(t, p, c.Bound("unacked", "K")); r.Outcome != verify.Proved {
					t.Errorf("%s: %s", r.Outcome, r.Reason)
				}
				c.Timeout = time.Second // it is not to be found
				if r := run(t, p, c.Never("unacked + 1 > K")); r.Outcome == verify.Proved {
					t.Errorf("one less is proved too: %s", r.Reason)
				}
			})
		}
	}
}

// TestVoiceForgotten: where the budget is not looked at, nothing is proved.
func TestVoiceForgotten(t *testing.T) {
	needSolvers(t)
	p := sessions(t, 3)["gateway VAD"]
	c := frames()
	c.Params[0].Thresholds, c.Timeout = c.Params[0].Thresholds[:1], time.Second
	if r := run(t, p, c.Bound("unacked", "K")); r.Outcome == verify.Proved {
		t.Errorf("%s: %s", r.Outcome, r.Reason)
	}
}

// TestVoiceUplink: no frame goes up outside the caller's turn or while muted, whatever the counts.
func TestVoiceUplink(t *testing.T) {
	needSolvers(t)
	p := sessions(t, 20)["gateway VAD"]
	for _, expr := range []string{
		"!in_turn && can(send_frame_up)", "muted && can(send_frame_up)", "ended && can(send_frame_up)",
		"quiet && speaking || !quiet && !speaking && !ended",
		"pending_speech && !replying && !model_turn && !reply_pending && !reply_overdue && !ended",
	} {
		if r := run(t, p, Never(expr)); r.Outcome != verify.Proved {
			t.Errorf("never %s: %s: %s", expr, r.Outcome, r.Reason)
		}
	}
}
