package voicenets

import (
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// Claims say what a session does, part by part: what may be the case where it
// rests, what each thing that comes from outside and each timer leads to, and
// for what alone it says something. They are asked in Views, of small sessions
// in full; Proofs has those that are proved of the session that runs.
func Claims(c Config) []*verify.Property {
	var list []*verify.Property
	for _, part := range claimed(c) {
		list = append(list, part.properties()...)
	}
	return list
}

// claimed are the claims, by part.
func claimed(c Config) []rules {
	c, _ = c.withDefaults()
	return []rules{answeredRules(c), speechRules(c), turnRules(c), endpointingRules(c), serverTurnRules(c),
		consentRules(c), callerSilenceRules(c), textRules(c), modelRules(c),
		playoutRules(c), promptRules(c), earsRules(c), digitRules(c), toolRules(c), modelSilenceRules(c), linkRules(c),
		creditRules(c), restoreRules(c), keptRules(), rotationRules(c), callRules(c), frameRules(c)}
}

// rules are claims about one part.
type rules struct {
	part   string
	states []claim
	moves  []rule
	strict bool // states are asked only where the transitions and places are
}

func (r rules) properties() []*verify.Property {
	var list []*verify.Property
	for _, c := range r.states {
		p := verify.Loosely(c.text)
		if r.strict {
			p = verify.Never(c.text)
		}
		p.Name, p.Doc = r.part+"/"+c.name, c.doc
		list = append(list, p)
	}
	for _, m := range r.moves {
		list = append(list, m.move(r.part).Property())
	}
	return list
}

// rule is a claim about moves; see verify.Move. Events and places are separated
// by spaces.
type rule struct {
	name, doc   string
	on, changed string
	when        string
	from        string
	says        string
	then        string
	keeps       string
	final       bool // it speaks of moves that end the call too
}

func (r rule) move(part string) verify.Move {
	return verify.Move{Name: part + "/" + r.name, Doc: r.doc, On: strings.Fields(r.on), Changed: r.changed, When: r.when,
		From: r.from, Says: strings.Fields(r.says), Then: r.then, Keeps: strings.Fields(r.keeps), Final: r.final}
}

// exactly claims that a transition with a wait can fire where a condition holds,
// and nowhere else.
func exactly(transition, where, doc string) []claim {
	return []claim{
		{transition + "-may", "can(" + transition + ") && !(" + where + ") && !ended", doc},
		{transition + "-must", "(" + where + ") && !can(" + transition + ") && !ended", doc},
	}
}

// anyOf is a condition: one of some places is marked.
func anyOf(places ...string) string {
	return "(" + strings.Join(slices.DeleteFunc(places, func(p string) bool { return p == "" }), " || ") + ")"
}

// running are the tools that run, as a condition; "" if there are none.
func (c Config) running() string {
	return strings.Join(names(runningSlots(c)), " || ")
}

// answeredRules are that nothing which comes from outside is left lying.
func answeredRules(c Config) rules {
	r := rules{part: "answered"}
	for _, p := range []string{"speech_edge", "hint", "peer_mute", "hold", "consent", "protect", "model_signal",
		"transcript",
		"handle", "go_away", "dialled", "link_down", "tool_called", "tool_done", "tool_cancelled", "prompt_end", "hand_off",
		"drain", "peer_ack"} {
		r.states = append(r.states, claim{p, p + " && !ended", "Whatever comes from outside is answered at once."})
	}
	r.states = append(r.states,
		claim{"model_audio", "model_audio && !prompting && reply_audio < " + itoa(c.ReplyFramesMax) + " && !ended",
			"The model's audio waits only while a prompt is given, or for room."},
		claim{"prompt_audio", "prompt_audio && reply_audio < " + itoa(c.ReplyFramesMax) + " && !ended",
			"A prompt's audio waits only for room."},
		claim{"caller_text", "caller_text && !typed && !ended", "What is typed waits only for what was typed before."},
		claim{"caller_digit", "caller_digit && !entered && !ended",
			"Digits wait only for an entry that waits for its turn."})
	return r
}

// dropped are that frames which wait are dropped: payload that decides nothing is
// in no marking, so the structure tells. Firings that close the ear drop what was
// heard until then (V8), those that take speech for no interruption what was held.
func dropped(c Config) *verify.Property {
	return ofProgram("V8-dropped", "What was heard and has not gone up is dropped when the ear closes, or a pause ends.",
		func(p *petri.Program) []string {
			var out []string
			for _, t := range p.Transitions() {
				closes := hasPut(p, t, string(deaf), "")
				resumes := c.manual() && hasPut(p, t, string(TellReply), ReplyResumed.String()) &&
					hasTake(p, t, string(confirming))
				if p.Place(string(CallerAudio)) >= 0 && (closes || resumes) && !hasArc(p, t, petri.ResetArc, string(CallerAudio)) {
					out = append(out, t.Name+" keeps what was heard")
				}
			}
			return out
		})
}

// hasPut reports whether a transition puts a token into a place, of a key unless
// that is "".
func hasPut(p *petri.Program, t petri.TransitionInfo, place, key string) bool {
	return slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
		return a.Kind == petri.OutArc && p.Places()[a.Place].Name == place && (key == "" || strings.Contains(a.Label, key))
	})
}

// hasTake reports whether a transition takes a token from a place.
func hasTake(p *petri.Program, t petri.TransitionInfo, place string) bool {
	return slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
		return a.Kind == petri.InArc && p.Places()[a.Place].Name == place
	})
}
