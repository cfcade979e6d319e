package claims

import (
	"context"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/voicenets"
)

// scope says which of the transitions and places that claims select by name a net must have: a
// session of a configuration, or a view of one. The configuration decides it, or the view of the
// unchanged session; the net that a claim is asked of never does. So a claim is not proved because
// the net lacks what the claim is about.
type scope struct {
	config voicenets.Config // with its defaults filled in
	view   *Shape           // nil: the whole session
}

// scopeOf is the scope of whole sessions of a configuration.
func scopeOf(c voicenets.Config) scope {
	c, _ = c.Filled() // a composed session has a valid configuration
	return scope{config: c}
}

// selects restricts a structural property to nets that have the transitions and places it selects
// by name. It is refuted of a net that lacks one of them, unless the scope has no such transition
// or place.
func (s scope) selects(p *verify.Property, transitions []string, places ...petri.AnyPlace) *verify.Property {
	check := p.Check
	p.Check = func(ctx context.Context, pass *verify.Pass) (verify.Verdict, error) {
		if list := s.missing(pass.Program, transitions, places...); len(list) > 0 {
			return verify.Refuted.By("structure", 0, "%s", strings.Join(list, "; ")), nil
		}
		return check(ctx, pass)
	}
	return p
}

// missing lists the transitions and places that a net must have and lacks. A place that no
// transition of the session uses is missing too. Of a view, no place is: other views may use it.
func (s scope) missing(p *petri.Program, transitions []string, places ...petri.AnyPlace) []string {
	has, uses := map[string]bool{}, map[string]bool{}
	for _, t := range p.Transitions() {
		if t.Outside {
			continue
		}
		has[lastPart(t.Name)] = true
		for _, a := range t.Arcs {
			uses[lastPart(p.Places()[a.Place].Name)] = true
		}
	}
	var out []string
	for _, name := range transitions {
		if !has[name] && s.hasTransition(name) {
			out = append(out, "there is no transition "+name)
		}
	}
	for _, place := range places {
		if name := place.String(); !uses[name] && s.view == nil && s.hasPlace(name) {
			out = append(out, "there is no place "+name)
		}
	}
	return out
}

// hasTransition reports whether a net of the scope has a transition that a claim selects. Claims
// about stages that a configuration lacks are not made, so a whole session has every one.
func (s scope) hasTransition(name string) bool { return s.view == nil || partOf(s.view.alive, name) }

// hasPlace reports whether a net of the scope has a place.
func (s scope) hasPlace(name string) bool {
	if s.view != nil {
		return partOf(s.view.made, name)
	}
	return !absentPlaces(s.config)[name]
}

// partOf reports whether some name of a set has a last part.
func partOf(set map[string]bool, name string) bool {
	for full := range set {
		if lastPart(full) == name {
			return true
		}
	}
	return false
}

// absentPlaces lists the places that claims name and sessions of a configuration lack, because of a
// setting or because Config.Parts leaves out the part that fills them.
func absentPlaces(c voicenets.Config) map[string]bool {
	out := map[string]bool{}
	unless := func(has bool, places ...petri.AnyPlace) {
		for _, p := range places {
			if !has {
				out[p.String()] = true
			}
		}
	}
	part := func(p voicenets.Part) bool { return !c.LeavesOut(p) }
	silence := part(voicenets.PartModelSilence)
	edges := part(voicenets.PartSpeech)
	turns := edges && part(voicenets.PartTurns)
	unless(edges, voicenets.Quiet, voicenets.Speaking)
	unless(turns && gatewayVAD(c), voicenets.InTurn, voicenets.PendingSpeech)
	unless(turns && pauses(c), voicenets.Confirming)
	unless(c.Consent, voicenets.Unconsented, voicenets.ConsentDue, voicenets.DropUplink)
	unless(c.Consent || silence, voicenets.Renewal)
	unless(gatewayVAD(c) || c.Greeting || silence, voicenets.ToModel)
	unless(silence, voicenets.ReplyOverdue)
	unless(c.Prompts != 0 && part(voicenets.PartPrompts), voicenets.PlayPrompt, voicenets.Prompting)
	unless(part(voicenets.PartPrompts), voicenets.PromptAudio)
	unless(part(voicenets.PartTranscript), voicenets.Transcript, voicenets.Show)
	unless(part(voicenets.PartDigits), voicenets.CallerDigit, voicenets.Entry, voicenets.EntryComplete,
		voicenets.EntryProtected, voicenets.Collected)
	unless(part(voicenets.PartContext), voicenets.Note, voicenets.NoteUp, voicenets.Request)
	unless(part(voicenets.PartText) || part(voicenets.PartContext), voicenets.TextUp)
	unless(part(voicenets.PartUplink), voicenets.CallerAudio, voicenets.AudioUp)
	return out
}
