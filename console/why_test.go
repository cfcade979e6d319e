package console

import (
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/voicenets"
)

// TestSilence: an archived call has a silence of three seconds behind a question. What the console
// says about it names the cause.
func TestSilence(t *testing.T) {
	t.Parallel()
	const gap = 3 * second
	over := voicenets.Over.Token(voicenets.HungUp)
	for _, c := range []struct {
		name, key string
		play      func(*tape)
		want      []string // in the text of the silence
		detail    []string // in the causes within it
	}{
		{"the model is slow", keyModelSlow, func(p *tape) { p.reply(2*second+gap, second, false) },
			[]string{"Silence for 3.0 s, from 0:02.0.",
				"The model has had the caller's turn since 0:02.0 and has sent no audio: " +
					"the model is slow. If it stays silent, the net asks it again at 0:06.0 (model_silence/nudge).",
				"The reply ended it."},
			[]string{`"name": "model_silence/nudge"`, `"due": 6000`}},
		{"a hold", keyHold, func(p *tape) {
			p.at(2*second+100*time.Millisecond, voicenets.Hold.Token(voicenets.On))
			p.reply(2*second+500*time.Millisecond, second, false)
			p.at(2*second+gap, voicenets.Hold.Token(voicenets.Off))
		}, []string{"Silence for 3.0 s",
			"The call has been on hold since 0:02.1: nothing is played", "A reply of the model is " +
				"here; it begins when the hold ends."},
			[]string{`"the hold (held)"`, `"playout/begin_reply"`, `"the hold, which parks playout (parked)"`}},
		{"a function", keyTool, func(p *tape) {
			p.at(2*second+200*time.Millisecond, voicenets.ToolCalled.Token(&voicenets.ToolCall{}))
			p.at(2*second+gap-100*time.Millisecond, voicenets.ToolDone.Token(&voicenets.ToolEnd{}))
			p.reply(2*second+gap, second, false)
		}, []string{"The model called a function at 0:02.2, and the function has not returned.",
			"The net stops waiting at 0:17.2 (tools/time_out_call_0).", "Within it also: the model has the turn (0.3 s)."},
			[]string{`"a function that runs (tool_running_0)"`, `"name": "model_silence/nudge"`}},
		{"the model's connection", keyLost, func(p *tape) {
			p.dials = []voicenets.DialResult{voicenets.Fresh, voicenets.Unreachable, voicenets.Fresh}
			p.at(2*second+50*time.Millisecond, voicenets.LinkDown.Token(struct{}{}))
			p.reply(2*second+gap, second, false)
		}, []string{"There has been no connection to the model since 0:02.1.",
			"The net dials again at 0:03.6 (link/retry_2)."},
			[]string{`"name": "link/retry_1"`, "A dial is under way"}},
		{"the model stops in its reply", keyStalled, func(p *tape) {
			p.reply(2*second+10*time.Millisecond, 200*time.Millisecond, true)
			p.reply(2*second+210*time.Millisecond+gap, second, false)
		}, []string{"Silence for 3.0 s, from 0:02.2.", "The model stopped sending in the middle of its reply",
			"the net ends the reply at 0:07.2 (playout/presume_turn_complete)."}, nil},
		{"nobody speaks", keyIdle, func(p *tape) {
			p.reply(2*second, second, false)
			p.speak(6*second, 7*second)
		}, []string{"no reply is pending: the gateway listens to the caller, who is silent.",
			"The caller's speech ended it."}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newTape(t, voicenets.Config{ToolSlots: 2})
			p.speak(second, 2*second)
			c.play(p)
			p.at(9*second, over)
			p.run(10 * second)
			_, b := whole(t, p.prog, p.file())
			var found *Silence
			for i := range b.Silences {
				if s := &b.Silences[i]; s.To-s.From >= 2900 && s.From >= 2000 && found == nil {
					found = s
				}
			}
			if found == nil || found.Key != c.key {
				t.Fatalf("want a silence because of %s:\n%s", c.key, text(t, b.Silences))
			}
			for _, want := range c.want {
				if !strings.Contains(found.Text, want) {
					t.Errorf("%q lacks %q", found.Text, want)
				}
			}
			var within []Cause
			for _, cause := range b.Causes {
				if cause.From >= found.From && cause.From < found.To {
					within = append(within, cause)
				}
			}
			for _, want := range c.detail {
				if all := text(t, within); !strings.Contains(all, want) {
					t.Errorf("the causes lack %s:\n%s", want, all)
				}
			}
		})
	}
}
