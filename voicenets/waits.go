package voicenets

import (
	"fmt"
	"time"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/stateclass"
)

// Waits are how long each timer of a session waits, as its configuration says.
// Claims says what it waits for.
func Waits(c Config) []*verify.Property {
	c, _ = c.withDefaults()
	var list []*verify.Property
	add := func(transition string, wait time.Duration) {
		list = append(list, verify.Waits(transition, wait))
	}
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
	add("ask_whether_there", c.RepromptAfter)
	add("give_up_on_caller", c.GoodbyeAfter)
	add("give_up_on_consent", c.ConsentWait)
	add("count_stable", c.Stable)
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
