package claims

import (
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/voicenets"
)

// considerate claims that the stages of silence, and what the host gives the model, wait for good
// reasons to be silent (V5). It makes no claims about parts that are left out.
func (s scope) considerate() []*verify.Property {
	tools := runningTools(s.config)
	var list []*verify.Property
	if !s.config.LeavesOut(voicenets.PartModelSilence) {
		forbidden := []petri.AnyPlace{voicenets.Replying, voicenets.Speaking, voicenets.InTurn, voicenets.Held}
		busy := slices.Concat(forbidden, []petri.AnyPlace{voicenets.Protected}, tools)
		list = append(list, s.waitsFor("nudge", busy, voicenets.Online), s.waitsFor("renew_link", busy, voicenets.Online),
			s.waitsFor("play_fallback", busy, nil), s.waitsFor("play_fallback_at_deadline", forbidden, nil))
	}
	if !s.config.LeavesOut(voicenets.PartContext) {
		busy := []petri.AnyPlace{voicenets.Replying, voicenets.ModelTurn, voicenets.InTurn, voicenets.ReplyPending}
		list = append(list,
			called("V8-notes", "Notes are given to a model that is idle, on a connection there is, while they may leave.",
				s.waitsFor("give_notes", slices.Concat(busy, closedStates), voicenets.Online)),
			called("V10-requests", "A request to speak interrupts nothing.", s.waitsFor("make_request", busy, nil)))
	}
	if s.config.RepromptAfter > 0 {
		busy := append([]petri.AnyPlace{voicenets.Replying, voicenets.ModelTurn, voicenets.ReplyPending, voicenets.InTurn,
			voicenets.InputClosed}, tools...)
		for _, stage := range []string{"reprompt", "give_up_on_caller"} {
			list = append(list, s.waitsFor(stage, busy, voicenets.Online), s.waitsFor(stage, nil, voicenets.Quiet))
		}
		list = append(list, s.ignoresNoise("notice_silence"), s.ignoresNoise("notice_silence_again"))
	}
	return list
}

// waitsFor claims that a stage of silence fires only while some places are empty and another one,
// unless it is nil, is marked. If the configuration lacks one of the places that must be empty,
// there is nothing to wait for.
func (s scope) waitsFor(stage string, empty []petri.AnyPlace, marked petri.AnyPlace) *verify.Property {
	places, mark := empty, ""
	if marked != nil {
		places, mark = append(slices.Clone(empty), marked), marked.String()
	}
	p := ofProgram("V5-"+stage+" "+mark, "Recovery from silence waits for good reasons to be silent.",
		func(p *petri.Program) []string {
			var out []string
			for _, t := range p.Transitions() {
				if lastPart(t.Name) != stage {
					continue
				}
				for _, place := range empty {
					if s.hasPlace(place.String()) && !hasArc(p, t, petri.InhibitArc, place.String()) {
						out = append(out, fmt.Sprintf("%s fires while %s is marked", stage, place))
					}
				}
				if mark != "" && !hasArc(p, t, petri.ReadArc, mark) {
					out = append(out, fmt.Sprintf("%s fires while %s is not marked", stage, mark))
				}
			}
			return out
		})
	return s.selects(p, []string{stage}, places...)
}

// ignoresNoise claims that no noise restarts a clock of the caller's silence: the clock reads no
// place that a noise changes by beginning speech, opening a turn, or leaving a reply pending (V5).
func (s scope) ignoresNoise(clock string) *verify.Property {
	noisy := []petri.AnyPlace{voicenets.Quiet, voicenets.Speaking, voicenets.PendingSpeech, voicenets.InTurn,
		voicenets.ReplyPending, voicenets.ModelTurn}
	p := ofProgram("V5-"+clock+" noise", "A noise that may be speech does not begin the caller's silence anew.",
		func(p *petri.Program) []string {
			var out []string
			for _, t := range p.Transitions() {
				for _, a := range t.Arcs {
					place := p.Places()[a.Place].Name
					if lastPart(t.Name) == clock && slices.ContainsFunc(noisy, func(n petri.AnyPlace) bool {
						return n.String() == place
					}) {
						out = append(out, fmt.Sprintf("%s looks at %s", clock, place))
					}
				}
			}
			return out
		})
	return s.selects(p, []string{clock}, noisy...)
}
