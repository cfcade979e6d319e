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
	for _, c := range []struct {
		name, key string
		play      func(*tape)
		want      []string // in the text of the silence
		detail    []string // in the causes within it
	}{
		{"the model is slow", keyModelSlow, func(p *tape) { p.reply(2*second+gap, second, false) },
			[]string{"Silence for 3.0 s (to the caller about half a second longer), from 0:02.0. The model had the caller's " +
				"turn from 0:02.0 on and sent no audio: the model was slow. Its audio came at 0:05.0. Then the reply began."},
			[]string{`"name": "model_silence/nudge"`, `"due": 6000`,
				"since 0:02.0 and has not answered yet. If it stays silent, the gateway asks it again at 0:06.0",
				"since 0:02.0 and has sent no audio: the model is slow. If it stays silent, the gateway asks"}},
		{"a hold", keyHold, func(p *tape) {
			p.at(2*second+100*time.Millisecond, voicenets.Hold.Token(voicenets.On))
			p.reply(2*second+500*time.Millisecond, second, false)
			p.at(2*second+gap, voicenets.Hold.Token(voicenets.Off))
		}, []string{"Silence for 3.0 s",
			"The call was on hold from 0:02.1 on: nothing was played", "A reply of the model was here. The hold ended at " +
				"0:05.0 (2.9 s)."},
			[]string{`"the hold (held)"`, `"playout/begin_reply"`, `"the hold, which parks playout (parked)"`,
				"A reply of the model is here; it begins when the hold ends."}},
		{"a function", keyTool, func(p *tape) {
			p.at(2*second+200*time.Millisecond, voicenets.ToolCalled.Token(&voicenets.ToolCall{}))
			p.at(2*second+gap-100*time.Millisecond, voicenets.ToolDone.Token(&voicenets.ToolEnd{}))
			p.reply(2*second+gap, second, false)
		}, []string{"The model called a function at 0:02.2 and waited for its result. The function returned at 0:04.9 " +
			"(2.7 s). Within it also: the model's turn (0.3 s). Then the reply began."},
			[]string{"The gateway stops waiting at 0:17.2 (tools/time_out_call_0).",
				"The model has had the result of the function since 0:04.9 and has not answered yet.",
				`"a function that runs (tool_running_0)"`, `"name": "model_silence/nudge"`}},
		{"the model's connection", keyLost, func(p *tape) {
			p.dials = []voicenets.DialResult{voicenets.Fresh, voicenets.Unreachable, voicenets.Fresh}
			p.at(2*second+50*time.Millisecond, voicenets.LinkDown.Token(struct{}{}))
			p.reply(2*second+gap, second, false)
		}, []string{"There was no connection to the model from 0:02.1 on.",
			"The gateway dialled again at 0:03.6 (link/retry_2). The dial was answered at 0:03.7 (0.1 s)."},
			[]string{"There has been no connection to the model since 0:02.1. It broke",
				"The gateway dials again at 0:03.6 (link/retry_2).", `"name": "link/retry_1"`, "A dial is under way"}},
		{"the model stops in its reply", keyStalled, func(p *tape) {
			p.reply(2*second+10*time.Millisecond, 200*time.Millisecond, true)
			p.reply(2*second+210*time.Millisecond+gap, second, false)
		}, []string{"Silence for 3.0 s, from 0:02.2. The model stopped sending in the middle of its reply: everything that " +
			"had come was played by 0:02.2. The model sent more at 0:05.2. Then the reply went on."},
			[]string{"If no more comes, the gateway ends the reply at 0:07.2 (playout/presume_turn_complete)."}},
		{"nobody speaks", keyIdle, func(p *tape) {
			p.reply(2*second, second, false)
			p.speak(6*second, 7*second)
		}, []string{"no reply was pending: the gateway listened to the caller, who was silent.",
			"Then the caller spoke."}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := answered(t, c.play)
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

// TestModelWaited tells the model's time to answer from the time in which it could not: the connection was lost, or a
// function ran. It is not slow at once.
func TestModelWaited(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		play  func(*tape)
		at    map[float64]string // what the console says at these times
		never []string           // in any of its texts behind the end of the turn
	}{
		{"a lost connection", func(p *tape) {
			p.do(second, func() { p.dialTakes = 3 * second })
			p.at(2*second+20*time.Millisecond, voicenets.LinkDown.Token(struct{}{}))
			p.reply(7*second, second, false)
		}, map[float64]string{
			2010: "The model has had the caller's turn since 0:02.0 and has not answered yet. If",
			4000: "There has been no connection to the model since 0:02.0. A dial is under way",
			5600: "The model has had the caller's turn since 0:05.5, when the connection was made, and has not answered yet.",
			6600: "since 0:05.5, when the connection was made, and has sent no audio: the model is slow.",
		}, []string{"since 0:02.0 and has sent no audio"}},
		{"a function that takes long", func(p *tape) {
			p.at(2*second+200*time.Millisecond, voicenets.ToolCalled.Token(&voicenets.ToolCall{}))
			p.at(5*second, voicenets.ToolDone.Token(&voicenets.ToolEnd{}))
			p.reply(5*second+800*time.Millisecond, second, false)
		}, map[float64]string{
			5100: "The model has had the result of the function since 0:05.0 and has not answered yet.",
		}, []string{"slow"}},
		{"a function that runs when the caller speaks", func(p *tape) {
			p.at(2*second+200*time.Millisecond, voicenets.ToolCalled.Token(&voicenets.ToolCall{}))
			p.speak(6*second, 7*second)
		}, nil, []string{"returned at", "stopped waiting", "stops waiting at 0:17.2 (tools/time_out_call_0). Then"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := answered(t, c.play)
			for at, want := range c.at {
				now := Cause{}
				for _, cause := range b.Causes {
					if cause.From <= at {
						now = cause
					}
				}
				if !strings.Contains(now.Text, want) {
					t.Errorf("at %v ms: %q lacks %q", at, now.Text, want)
				}
			}
			for _, never := range c.never {
				if all := text(t, b.Causes) + text(t, b.Silences); strings.Contains(all, never) {
					t.Errorf("it says %q:\n%s", never, all)
				}
			}
		})
	}
}

// TestSlowLive: a running call says that the model is slow without an event that would make it look.
func TestSlowLive(t *testing.T) {
	t.Parallel()
	p := newTape(t, voicenets.Config{})
	p.speak(second, 2*second)
	p.run(2500 * time.Millisecond)
	for at, want := range map[time.Duration]string{2900: "", 3100: "", 3300: "the model is slow"} {
		rec, _ := whole(t, p.prog, p.file())
		b := rec.flush(at * time.Millisecond)
		if want == "" && len(b.Causes) > 0 || want != "" && (len(b.Causes) != 1 || b.Causes[0].From != 3000 ||
			!strings.Contains(b.Causes[0].Text, want) || !strings.Contains(b.Silences[0].Text, want)) {
			t.Errorf("at %d ms: %s", at, text(t, b))
		}
	}
}

// answered is a call in which the caller speaks from 1 s to 2 s, and play is what follows. It ends at 9 s.
func answered(t *testing.T, play func(*tape)) Batch {
	t.Helper()
	p := newTape(t, voicenets.Config{ToolSlots: 2})
	p.speak(second, 2*second)
	play(p)
	p.at(9*second, voicenets.Over.Token(voicenets.HungUp))
	p.run(10 * second)
	_, b := whole(t, p.prog, p.file())
	return b
}
