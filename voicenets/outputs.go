package voicenets

import (
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// spoken says that something is claimed of every output of a session: an
// automaton that listens follows it (then it is an inner place of the closed
// net), or each transition that puts it out obeys a rule. A session with an
// output of which nothing is claimed is refused.
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

// outputRule is what each transition that puts out a token does beside that.
type outputRule struct {
	unless string // what is wrong of one that does not
	holds  func(*petri.Program, petri.TransitionInfo) bool
}

// outputRules are of the outputs that no automaton follows.
var outputRules = map[string]outputRule{
	string(AudioUp):     {"without a frame of the caller's", takes(string(CallerAudio))},
	string(TextUp):      {"without a text", takes(string(typed))},
	string(TurnAgain):   {"without a turn that is kept", looks(string(inTurn), string(owing), string(backlog))},
	string(ToModel):     {"in a mode in which the model decides about turns", asksModel},
	string(ToolReply):   {"without a call", takes("running_0", "running_1", "running_2", "running_3", string(ToolCalled))},
	string(StartTool):   {"without a call", takes(string(ToolCalled))},
	string(StopTool):    {"without a call that runs", takes("running_0", "running_1", "running_2", "running_3")},
	string(Collected):   {"outside of protected input", looks(string(protected))},
	string(TextLost):    {"without a text", takes(string(CallerText), string(entered))},
	string(Show):        {"without words", takes(string(Transcript))},
	string(Transfer):    {"without the wish to hand off, or does not end the call", handsOff},
	string(Hangup):      {"and does not end the call", fills(string(over))},
	string(FramesEnded): {"without speech that is open", takes(string(speaking))},
	string(Presumed):    {"without audio that was handed over", takes(string(unacked))},
	string(DropUplink):  {"with consent", fills(string(unconsented))},
}

// takes says that a transition takes a token from one of some places.
func takes(places ...string) func(*petri.Program, petri.TransitionInfo) bool {
	return func(p *petri.Program, t petri.TransitionInfo) bool {
		return slices.ContainsFunc(places, func(place string) bool { return hasTake(p, t, place) })
	}
}

// looks says that it takes or reads one.
func looks(places ...string) func(*petri.Program, petri.TransitionInfo) bool {
	return func(p *petri.Program, t petri.TransitionInfo) bool {
		return slices.ContainsFunc(places, func(place string) bool {
			return hasTake(p, t, place) || hasArc(p, t, petri.ReadArc, place)
		})
	}
}

// fills says that it puts one.
func fills(place string) func(*petri.Program, petri.TransitionInfo) bool {
	return func(p *petri.Program, t petri.TransitionInfo) bool { return hasPut(p, t, place, "") }
}

// asksModel says that it asks for the greeting or for the reply that did not come.
func asksModel(p *petri.Program, t petri.TransitionInfo) bool {
	return hasPut(p, t, string(ToModel), Greet.String()) || hasPut(p, t, string(ToModel), Nudge.String())
}

func handsOff(p *petri.Program, t petri.TransitionInfo) bool {
	return hasTake(p, t, string(HandOff)) && hasPut(p, t, string(over), "")
}

// accepted says that the model's audio is lost for a reason alone. What accepts
// it, rather than a claim about markings, decides whether anybody hears the
// model: a session that accepts nothing keeps every such claim.
func accepted() *verify.Property {
	return ofProgram("V3-accepted", "The model's audio is dropped only while a reply that was interrupted may "+
		"still come, or while the "+
		"caller has the turn.", func(p *petri.Program) []string {
		var out []string
		for _, t := range p.Transitions() {
			reason := looks(string(discarding), string(inTurn))
			if hasTake(p, t, string(ModelAudio)) && !hasPut(p, t, string(replyAudio), "") && !reason(p, t) {
				out = append(out, t.Name+" drops audio of the model that should be heard")
			}
		}
		return out
	})
}
