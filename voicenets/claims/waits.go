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

// waits lists the waits of the timers that a session of a configuration has. The configuration
// decides which those are, so a session that lacks one of them is not proved.
func waits(c voicenets.Config) []wait {
	var list []wait
	of := func(part voicenets.Part, has bool) func(string, time.Duration) {
		return func(transition string, after time.Duration) {
			if has && !c.LeavesOut(part) {
				list = append(list, wait{transition, after})
			}
		}
	}
	of(voicenets.PartSpeech, true)("end_speech_without_frames", c.FrameGap)
	confirms := of(voicenets.PartTurns, pauses(c) && !c.LeavesOut(voicenets.PartSpeech))
	confirms("resume_unconfirmed", c.ConfirmWindow)
	of(voicenets.PartTurns, gatewayVAD(c) && pauses(c) && !c.LeavesOut(voicenets.PartSpeech))(
		"end_reply_delay_unconfirmed", c.ConfirmWindow)
	model, playout := of(voicenets.PartModel, true), of(voicenets.PartPlayout, true)
	model("stop_discarding", c.LateAudio)
	playout("presume_played", time.Duration(c.BudgetFrames)*20*time.Millisecond+c.AckTimeout)
	model("forget_turn_end", c.TurnEndTimeout)
	playout("presume_turn_complete", c.SilentTurn)
	silence := of(voicenets.PartModelSilence, true)
	silence("nudge", c.NudgeAfter)
	silence("renew_link", c.RenewAfter)
	silence("play_fallback", c.FallbackAfter)
	silence(deadlineOfTurn, c.ReplyDeadline)
	caller := of(voicenets.PartCallerSilence, c.RepromptAfter > 0)
	caller("notice_silence", c.RepromptAfter)
	caller("notice_silence_again", c.GoodbyeAfter)
	of(voicenets.PartCallerSilence, c.RepromptAfter > 0 && gatewayVAD(c))("stop_expecting_answer", c.NudgeAfter)
	of(voicenets.PartInputGate, c.Consent)("give_up_on_consent", c.ConsentWait)
	link, call := of(voicenets.PartLink, true), of(voicenets.PartCall, true)
	link("count_stable", c.Stable)
	link("regain_dial", c.DialEvery)
	link("age_link", c.RotateAfter)
	link("rotate_later", c.RotateWithin)
	link("rotate_soon", c.RotateSoon)
	link("rotate_in_wait", c.RotateSoon)
	of(voicenets.PartDigits, true)("time_out_entry", c.DigitGap)
	call("end_drain_in_time", c.DrainWithin)
	call("end_farewell_in_time", c.Farewell)
	call("end_longest_call", c.MaxDuration)
	for i, d := range c.Backoff {
		link(fmt.Sprintf("retry_%d", i+1), d)
	}
	lingers := of(voicenets.PartTurns, adapts(c))
	for level, name := range voicenets.Patience(0).KeyNames() {
		lingers("end_turn_"+name, c.Linger[level])
		if level > 0 {
			lingers("unlearn_"+name, c.LingerLasts)
		}
	}
	tools, fillers := of(voicenets.PartTools, true), of(voicenets.PartTools, c.Prompts.Has(voicenets.Filler))
	for i := range c.ToolSlots {
		tools(fmt.Sprintf("time_out_call_%d", i), c.ToolTimeout)
		fillers(fmt.Sprintf("play_filler_%d", i), c.FillerAfter)
	}
	return list
}
