package mutants

import (
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/stateclass"
	"github.com/voicegw/voicegw/voicenets"
)

// windows lists claims about time, by the name of the view that decides them. Their runs need
// speech frames or text to keep coming meanwhile, so only state classes can decide them.
func windows(c voicenets.Config) map[string][]*verify.Property {
	c, _ = c.Filled()
	keep := func(transitions ...string) stateclass.Options {
		return stateclass.Options{Relax: true, Keep: transitions}
	}
	var speech []*verify.Property
	for _, w := range []struct{ transition, place string }{
		{"resume_unconfirmed", string(voicenets.Confirming)}, {"end_reply_delay_unconfirmed", "delaying_reply"},
	} {
		o := keep(w.transition)
		early := stateclass.NotBefore("+"+w.place, w.transition, c.ConfirmWindow, o)
		late := stateclass.Within("+"+w.place, "-"+w.place+" +call_ended", c.ConfirmWindow, o)
		early.Waits, late.Waits = o.Keep, o.Keep
		speech = append(speech, early, late)
	}
	o := keep("resume_unconfirmed", "end_speech_without_frames")
	heard := stateclass.Within("+confirming", "+pending_speech +in_turn +quiet +call_ended", c.ConfirmWindow, o)
	heard.Waits = o.Keep
	o = keep("renew_link", "nudge")
	whole := stateclass.NotBefore("-pending_text", "renew_link", c.RenewAfter, o)
	whole.Waits = o.Keep
	return map[string][]*verify.Property{"hold": append(speech, heard), "text online": {whole}}
}
