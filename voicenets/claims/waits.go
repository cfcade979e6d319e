package claims

import (
	"fmt"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/voicenets"
)

// Waits claims how long each timer of a session waits, as its configuration says. Claims says what
// the timers wait for.
func Waits(c voicenets.Config) []*verify.Property {
	c, _ = c.Filled()
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

// property is the wait as a claim about the text of a net, decided without a run.
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

// waits lists the waits, including those of stages that a configuration lacks.
func waits(c voicenets.Config) []wait {
	var list []wait
	add := func(transition string, after time.Duration) { list = append(list, wait{transition, after}) }
	add("end_speech_without_frames", c.FrameGap)
	add("resume_unconfirmed", c.ConfirmWindow)
	add("end_reply_delay_unconfirmed", c.ConfirmWindow)
	add("stop_discarding", c.LateAudio)
	add("presume_played", time.Duration(c.BudgetFrames)*20*time.Millisecond+c.AckTimeout)
	add("forget_turn_end", c.TurnEndTimeout)
	add("presume_turn_complete", c.SilentTurn)
	add("nudge", c.NudgeAfter)
	add("renew_link", c.RenewAfter)
	add("play_fallback", c.FallbackAfter)
	add("reach_deadline", c.ReplyDeadline)
	add("notice_silence", c.RepromptAfter)
	add("notice_silence_again", c.GoodbyeAfter)
	add("stop_expecting_answer", c.NudgeAfter)
	add("give_up_on_consent", c.ConsentWait)
	add("count_stable", c.Stable)
	add("regain_dial", c.DialEvery)
	add("age_link", c.RotateAfter)
	add("rotate_later", c.RotateWithin)
	add("rotate_soon", c.RotateSoon)
	add("rotate_in_wait", c.RotateSoon)
	add("time_out_entry", c.DigitGap)
	add("end_drain_in_time", c.DrainWithin)
	add("end_farewell_in_time", c.Farewell)
	add("end_longest_call", c.MaxDuration)
	for i, d := range c.Backoff {
		add(fmt.Sprintf("retry_%d", i+1), d)
	}
	for level, name := range voicenets.Patience(0).KeyNames() {
		add("end_turn_"+name, c.Linger[level])
		add("unlearn_"+name, c.LingerLasts)
	}
	for i := range c.ToolSlots {
		add(fmt.Sprintf("time_out_call_%d", i), c.ToolTimeout)
		add(fmt.Sprintf("play_filler_%d", i), c.FillerAfter)
	}
	return list
}
