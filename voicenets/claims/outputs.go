package claims

import (
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/voicenets"
)

// spoken claims that every output of a session is covered: either an automaton follows it (then it
// is an inner place of the closed net), or each transition that puts it out obeys a rule. A session
// with an uncovered output is refused.
func spoken() *verify.Property {
	return ofProgram("V1-outputs", "Every output is followed by an automaton or held to a rule.",
		func(p *petri.Program) []string {
			var out []string
			for i := range p.Places() {
				place := &p.Places()[i]
				if !place.Out {
					continue
				}
				rule, ok := outputRules[place.Name]
				if !ok {
					out = append(out, fmt.Sprintf("nothing is claimed of the output %s, and package voicegw does not carry "+
						"it", place.Name))
					continue
				}
				for _, t := range p.Transitions() {
					if hasPut(p, t, place.Name, "") && !rule.holds(p, t) {
						out = append(out, fmt.Sprintf("%s puts out %s %s", t.Name, place.Name, rule.unless))
					}
				}
			}
			return out
		})
}

// outputRule is what a transition that puts out a token must also do.
type outputRule struct {
	unless string // what a transition that breaks the rule does wrong
	holds  func(*petri.Program, petri.TransitionInfo) bool
}

// outputRules are the rules of outputs that no automaton follows.
var outputRules = map[string]outputRule{
	string(voicenets.AudioUp): {"without a frame of the caller's", takes(string(voicenets.CallerAudio))},
	string(voicenets.TextUp): {"without a text", takes(string(voicenets.PendingText),
		string(voicenets.PendingRequest))},
	string(voicenets.NoteUp):    {"without a note", takes(string(voicenets.Note))},
	string(voicenets.GiveNotes): {"without a note that went up", takesOwn(voicenets.NotesDue)},
	string(voicenets.TurnAgain): {"without a turn that is kept", looks(string(voicenets.InTurn),
		string(voicenets.ReplyPending), string(voicenets.Backlog))},
	string(voicenets.ToModel): {"in a mode in which the model decides about turns", asksModel},
	string(voicenets.ToolReply): {"without a call", takes(append(everySlot(voicenets.ToolRunning),
		string(voicenets.ToolCalled))...)},
	string(voicenets.StartTool): {"without a call", takes(string(voicenets.ToolCalled))},
	string(voicenets.StopTool):  {"without a call that runs", takes(everySlot(voicenets.ToolRunning)...)},
	string(voicenets.Collected): {"outside of protected input", looks(string(voicenets.Protected))},
	string(voicenets.TextLost): {"without a text", takes(string(voicenets.CallerText),
		string(voicenets.EntryComplete), string(voicenets.Note), string(voicenets.Request))},
	string(voicenets.Show):           {"without a transcript", takes(string(voicenets.Transcript))},
	string(voicenets.Transfer):       {"without a request to hand off, or does not end the call", handsOff},
	string(voicenets.Hangup):         {"and does not end the call", fills(string(voicenets.CallEnded))},
	string(voicenets.FramesEnded):    {"without speech that is open", takes(string(voicenets.Speaking))},
	string(voicenets.PresumedPlayed): {"without audio that was handed over", takes(string(voicenets.Unacked))},
	string(voicenets.DropUplink):     {"with consent", fills(string(voicenets.Unconsented))},
}

// everySlot names a place of each slot that a session may have.
func everySlot[T any](place func(voicenets.Slot) petri.Place[T]) []string {
	var list []string
	for s := range voicenets.Slot(voicenets.SlotsMax) {
		list = append(list, string(place(s)))
	}
	return list
}

// takes holds for a transition that takes a token from one of some places.
func takes(places ...string) func(*petri.Program, petri.TransitionInfo) bool {
	return func(p *petri.Program, t petri.TransitionInfo) bool {
		return slices.ContainsFunc(places, func(place string) bool { return hasTake(p, t, place) })
	}
}

// takesOwn holds for a transition that takes a token from a private place of a subnet.
func takesOwn(place petri.AnyPlace) func(*petri.Program, petri.TransitionInfo) bool {
	return func(p *petri.Program, t petri.TransitionInfo) bool {
		return slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
			return a.Kind == petri.InArc && lastPart(p.Places()[a.Place].Name) == place.String()
		})
	}
}

// looks holds for a transition that takes or reads a token of one of some places.
func looks(places ...string) func(*petri.Program, petri.TransitionInfo) bool {
	return func(p *petri.Program, t petri.TransitionInfo) bool {
		return slices.ContainsFunc(places, func(place string) bool {
			return hasTake(p, t, place) || hasArc(p, t, petri.ReadArc, place)
		})
	}
}

// fills holds for a transition that puts a token into a place.
func fills(place string) func(*petri.Program, petri.TransitionInfo) bool {
	return func(p *petri.Program, t petri.TransitionInfo) bool { return hasPut(p, t, place, "") }
}

// asksModel holds for a transition that asks the model for the greeting or for a missing reply.
func asksModel(p *petri.Program, t petri.TransitionInfo) bool {
	return hasPut(p, t, string(voicenets.ToModel), voicenets.Greet.String()) ||
		hasPut(p, t, string(voicenets.ToModel), voicenets.Nudge.String())
}

func handsOff(p *petri.Program, t petri.TransitionInfo) bool {
	return hasTake(p, t, string(voicenets.HandOff)) && hasPut(p, t, string(voicenets.CallEnded), "")
}

// accepted claims that the session drops the model's audio only for a stated reason. Claims about
// markings cannot show this, since a session that accepts no audio satisfies all of them.
func accepted() *verify.Property {
	return ofProgram("V3-accepted", "The model's audio is dropped only while a reply that was interrupted may "+
		"still come, or while the "+
		"caller has the turn.", func(p *petri.Program) []string {
		var out []string
		for _, t := range p.Transitions() {
			reason := looks(string(voicenets.Discarding), string(voicenets.InTurn))
			if hasTake(p, t, string(voicenets.ModelAudio)) && !hasPut(p, t, string(voicenets.ReplyAudio), "") &&
				!reason(p, t) {
				out = append(out, t.Name+" drops audio of the model that should be played")
			}
		}
		return out
	})
}
