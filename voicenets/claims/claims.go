package claims

import (
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	vclaim "github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/voicenets"
)

// Claims lists what a session must do, part by part: which states it may rest in, what each outside
// event and each timer leads to, and which causes each output may have. Views check them on small
// sessions in full. Proofs has the properties that are proved of the session that runs.
func Claims(c voicenets.Config) []*verify.Property {
	var list []*verify.Property
	for _, part := range claimed(c) {
		list = append(list, part.properties()...)
	}
	return list
}

// claimed lists the claims by part.
func claimed(c voicenets.Config) []rules {
	c, _ = c.Filled()
	return []rules{answeredRules(c), speechRules(c), turnRules(c), endpointingRules(c), serverTurnRules(c),
		consentRules(c), callerSilenceRules(c), textRules(c), contextRules(), modelRules(c),
		playoutRules(c), promptRules(c), inputGateRules(c), digitRules(c), toolRules(c), modelSilenceRules(c), linkRules(c),
		creditRules(c), restoreRules(c), keptRules(), rotationRules(c), callRules(c), frameRules(c)}
}

// rules are the claims about one part.
type rules struct {
	part   string
	states []claim
	moves  []rule
	strict bool // ask for the states only where their transitions and places exist
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
		list = append(list, verify.EachMove(m.move(r.part)))
	}
	return list
}

// rule is a claim about moves; see vclaim.Move. Spaces separate events and places.
type rule struct {
	name, doc   string
	on, changed string
	when        string
	from        string
	does        string
	then        string
	keeps       string
	final       bool // the rule covers moves that end the call too
}

func (r rule) move(part string) vclaim.Move {
	return vclaim.Move{Name: part + "/" + r.name, Doc: r.doc, On: strings.Fields(r.on), Changed: r.changed, When: r.when,
		From: r.from, Does: strings.Fields(r.does), Then: r.then, Keeps: strings.Fields(r.keeps), Final: r.final}
}

// exactly claims that a waiting transition is enabled where a condition holds, and nowhere else.
func exactly(transition, where, doc string) []claim {
	return []claim{
		{transition + "-may", "can(" + transition + ") && !(" + where + ") && !ended", doc},
		{transition + "-must", "(" + where + ") && !can(" + transition + ") && !ended", doc},
	}
}

// anyOf is the condition that one of some places is marked.
func anyOf(places ...string) string {
	return "(" + strings.Join(slices.DeleteFunc(places, func(p string) bool { return p == "" }), " || ") + ")"
}

// running is the condition that a tool runs; it is "" if the session has no tools.
func running(c voicenets.Config) string {
	return strings.Join(runningToolNames(c), " || ")
}

// answeredRules claims that the session handles every event that comes from outside.
func answeredRules(c voicenets.Config) rules {
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
		claim{"caller_text", "caller_text && !pending_text && !ended", "What is typed waits only for what was typed before."},
		claim{"caller_digit", "caller_digit && !entry_complete && !ended",
			"Digits wait only for an entry that waits for its turn."})
	return r
}

// dropped claims that waiting frames are dropped. Markings leave out payload that decides nothing,
// so the claim is checked on the structure. A firing that closes the input gate drops the frames
// captured until then (V8). A firing that finds that speech was no interruption drops the frames
// held back.
func dropped(c voicenets.Config) *verify.Property {
	return ofProgram("V8-dropped",
		"Audio that was kept and not sent is dropped when the input gate closes, or a pause ends.",
		func(p *petri.Program) []string {
			var out []string
			for _, t := range p.Transitions() {
				closes := hasPut(p, t, string(voicenets.InputClosed), "")
				resumes := gatewayVAD(c) && hasPut(p, t, string(voicenets.NotifyReply), voicenets.ReplyResumed.String()) &&
					hasTake(p, t, string(voicenets.Confirming))
				if p.Place(string(voicenets.CallerAudio)) >= 0 && (closes || resumes) &&
					!hasArc(p, t, petri.ResetArc, string(voicenets.CallerAudio)) {
					out = append(out, t.Name+" keeps audio that it must drop")
				}
			}
			return out
		})
}

// hasPut reports whether a transition puts a token into a place. If key is not "", the token must
// have that key.
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
