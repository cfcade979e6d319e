package voicenets

import (
	"fmt"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/stateclass"
)

// Waits are how long each timer of a session waits, as its configuration says.
// Claims says what it waits for.
func Waits(c Config) []*verify.Property {
	c, _ = c.withDefaults()
	var list []*verify.Property
	for _, w := range waits(c) {
		list = append(list, verify.Waits(w.transition, w.after))
	}
	return list
}

// wait is how long a timer waits.
type wait struct {
	transition string
	after      time.Duration
}

// property is the wait as a claim about the text of a net, which is decided
// without a run.
func (w wait) property() *verify.Property {
	p := ofProgram("", "", func(p *petri.Program) []string {
		var out []string
		found := false
		for _, t := range p.Transitions() {
			if lastPart(t.Name) != w.transition {
				continue
			}
			if found = true; t.When != petri.After(w.after) {
				out = append(out, t.Name+" fires "+t.When.String())
			}
		}
		if !found {
			out = append(out, "there is no "+w.transition)
		}
		return out
	})
	known := verify.Waits(w.transition, w.after)
	p.Name, p.Doc = known.Name, known.Doc
	return p
}

// waits lists them, those of stages that a configuration does not have too.
func waits(c Config) []wait {
	var list []wait
	add := func(transition string, after time.Duration) { list = append(list, wait{transition, after}) }
	add("end_speech_without_frames", c.FrameGap)
	add("resume_unconfirmed", c.ConfirmWindow)
	add("weigh_no_longer", c.ConfirmWindow)
	add("stop_discarding", c.LateAudio)
	add("presume_played", time.Duration(c.BudgetFrames)*20*time.Millisecond+c.AckTimeout)
	add("forget_owed_end", c.OwedTimeout)
	add("presume_turn_complete", c.SilentTurn)
	add("nudge", c.NudgeAfter)
	add("renew_link", c.RenewAfter)
	add("speak_for_model", c.FallbackAfter)
	add("reach_deadline", c.ReplyDeadline)
	add("miss_caller", c.RepromptAfter)
	add("miss_caller_again", c.GoodbyeAfter)
	add("await_no_longer", c.NudgeAfter)
	add("give_up_on_consent", c.ConsentWait)
	add("count_stable", c.Stable)
	add("regain_dial", c.DialEvery)
	add("age_link", c.RotateAfter)
	add("rotate_later", c.RotateWithin)
	add("rotate_soon", c.RotateSoon)
	add("rotate_in_wait", c.RotateSoon)
	add("time_out_entry", c.DigitGap)
	add("leave_now", c.DrainWithin)
	add("part_at_last", c.Farewell)
	add("end_longest_call", c.MaxDuration)
	for i, d := range c.Backoff {
		add(fmt.Sprintf("retry_%d", i+1), d)
	}
	for level, name := range patienceLevel(0).KeyNames() {
		add("end_turn_"+name, c.Linger[level])
		add("unlearn_"+name, c.LingerLasts)
	}
	for i := range c.ToolSlots {
		add(fmt.Sprintf("time_out_call_%d", i), c.ToolTimeout)
		add(fmt.Sprintf("fill_time_%d", i), c.FillerAfter)
	}
	return list
}

// windows are claims about time whose runs want signs of frames, or text, to go on
// coming meanwhile, so that state classes alone tell: by the view that they are
// asked in.
func windows(c Config) map[string][]*verify.Property {
	c, _ = c.withDefaults()
	keep := func(transitions ...string) stateclass.Options {
		return stateclass.Options{Relax: true, Keep: transitions}
	}
	var speech []*verify.Property
	for _, w := range []struct{ transition, place string }{
		{"resume_unconfirmed", string(confirming)}, {"weigh_no_longer", "weighing"},
	} {
		o := keep(w.transition)
		early := stateclass.NotBefore("+"+w.place, w.transition, c.ConfirmWindow, o)
		late := stateclass.Within("+"+w.place, "-"+w.place+" +call_ended", c.ConfirmWindow, o)
		early.Waits, late.Waits = o.Keep, o.Keep
		speech = append(speech, early, late)
	}
	o := keep("resume_unconfirmed", "end_speech_without_frames")
	heard := stateclass.Within("+confirming", "+unheard +in_turn +quiet +call_ended", c.ConfirmWindow, o)
	heard.Waits = o.Keep
	o = keep("renew_link", "nudge")
	whole := stateclass.NotBefore("-typed", "renew_link", c.RenewAfter, o)
	whole.Waits = o.Keep
	return map[string][]*verify.Property{"hold": append(speech, heard), "text online": {whole}}
}
