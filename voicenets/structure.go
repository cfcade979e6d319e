package voicenets

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// Structure are the properties that the structure of a closed session tells,
// whatever marking it is in.
func Structure(c Config) []*verify.Property {
	waits := []string{string(ModelAudio), string(PromptAudio)} // while there is no room
	list := []*verify.Property{
		called("V1-answered", "Whatever comes from outside is answered at once.", verify.Answered(append(waits,
			string(PeerAck))...)),
		called("V3-fresh", "Audio is handed over as a token of the current generation.",
			verify.FreshCommits("send_frame", "play_again")),
		called("V8-writer", "Caller audio goes up by one transition.", verify.SingleWriter(string(AudioUp))),
		called("V11-end", "Once the call is over nothing fires.", verify.EndStops(string(over))),
		unanswered(), unhurried(), settled(), accepted(), spoken(), chainsEnd(), renewed(), neverStuck(),
	}
	list = append(list, private()...)
	for s := range Slot(c.ToolSlots) {
		list = append(list, ends(s), outdated(s))
	}
	return append(list, considerate(c)...)
}

func called(name, doc string, p *verify.Property) *verify.Property {
	p.Name, p.Doc = name, doc
	return p
}

// renewed is that a generation begins with whatever makes old what came before
// it: the end of a reply, a prompt, a turn of the caller's.
func renewed() *verify.Property {
	return ofProgram("V3-renewed", "What ends a reply, begins a prompt or opens a turn begins a generation.",
		func(p *petri.Program) []string {
			var out []string
			ends := []NoticeKind{ReplyCut, ReplyComplete, ReplyLost}
			for _, t := range p.Transitions() {
				begins := hasPut(p, t, string(PlayPrompt), "") || hasPut(p, t, string(ToModel), ActivityStart.String()) ||
					hasPut(p, t, string(TextUp), "") && !looks(string(inTurn))(p, t) ||
					slices.ContainsFunc(ends, func(k NoticeKind) bool { return hasPut(p, t, string(TellReply), k.String()) })
				if begins && !t.Bump {
					out = append(out, t.Name+" begins no generation")
				}
			}
			return out
		})
}

// considerate are that the stages of silence wait (V5).
func considerate(c Config) []*verify.Property {
	tools := names(runningSlots(c))
	busy := append([]string{"replying", "speaking", "in_turn", "held", "protected"}, tools...)
	list := []*verify.Property{
		waitsFor("nudge", busy, "online"), waitsFor("renew_link", busy, "online"), waitsFor("speak_for_model", busy, ""),
		waitsFor("speak_at_deadline", []string{"replying", "speaking", "in_turn", "held"}, ""),
	}
	if c.RepromptAfter > 0 {
		busy = append([]string{"replying", "model_turn", "owing", "in_turn", "deaf"}, tools...)
		for _, stage := range []string{"ask_whether_there", "give_up_on_caller"} {
			list = append(list, waitsFor(stage, busy, "online"), waitsFor(stage, nil, "quiet"))
		}
		list = append(list, deafToNoise("miss_caller"), deafToNoise("miss_caller_again"))
	}
	return list
}

func names(arcs petri.Arcs) []string {
	var out []string
	for _, p := range places(arcs) {
		out = append(out, p.String())
	}
	return out
}

// ofProgram makes a property that a list of problems decides.
func ofProgram(name, doc string, problems func(*petri.Program) []string) *verify.Property {
	return &verify.Property{Name: name, Doc: doc, OpenWorld: true,
		Check: func(_ context.Context, pass *verify.Pass) (verify.Verdict, error) {
			if list := problems(pass.Program); len(list) > 0 {
				return verify.Deny("structure", 0, "%s", strings.Join(list, "; ")), nil
			}
			return verify.Prove("structure", 0, "nothing found"), nil
		}}
}

// waitsFor says that a stage of silence fires while some places are empty and
// another one is marked. A configuration that leaves a place out has nothing to
// wait for.
func waitsFor(stage string, empty []string, marked string) *verify.Property {
	return ofProgram("V5-"+stage+" "+marked, "Recovery from silence waits for good reasons to be silent.",
		func(p *petri.Program) []string {
			var out []string
			for _, t := range p.Transitions() {
				if !strings.HasSuffix(t.Name, "/"+stage) {
					continue
				}
				for _, place := range empty {
					if p.Place(place) >= 0 && !hasArc(p, t, petri.InhibitArc, place) {
						out = append(out, fmt.Sprintf("%s fires while %s is marked", stage, place))
					}
				}
				if marked != "" && !hasArc(p, t, petri.ReadArc, marked) {
					out = append(out, fmt.Sprintf("%s fires while %s is not marked", stage, marked))
				}
			}
			return out
		})
}

// hasArc reports whether a transition has an arc that looks at all tokens of a
// place, and at one of them.
func hasArc(p *petri.Program, t petri.TransitionInfo, kind petri.ArcKind, place string) bool {
	return slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
		return a.Kind == kind && p.Places()[a.Place].Name == place && a.Label == "" && a.Count == 1
	})
}

// unanswered says that a turn of the caller's that waits for its reply ends with
// one, with the notice that there is none, or with another turn (V6).
func unanswered() *verify.Property {
	return ofProgram("V6-answered",
		"A turn that waits for its reply gets one, or notice that there is none, gives way to the next, or is "+
			"forgotten with "+
			"the caller's consent.",
		func(p *petri.Program) []string {
			var out []string
			for _, t := range p.Transitions() {
				takes, ends := false, false
				for _, a := range t.Arcs {
					place := p.Places()[a.Place].Name
					takes = takes || place == string(owing) && (a.Kind == petri.InArc || a.Kind == petri.ResetArc)
					ends = ends || a.Kind == petri.OutArc && (slices.Contains(
						[]string{string(owing), string(inTurn), string(overdue), string(DropUplink)}, place) ||
						slices.Contains([]string{ReplyStarted.String(), ReplyLost.String(), ReplyCut.String(), NoReply.String()},
							a.Label))
				}
				if takes && !ends {
					out = append(out, t.Name+" forgets a turn that waits for its reply")
				}
			}
			return out
		})
}

// settled says that a transition which takes the connection away forgets what that
// one owed, and that it should be replaced (V9).
func settled() *verify.Property {
	return ofProgram("V9-settled", "What a connection owed, and the wish to replace it, end with it.",
		func(p *petri.Program) []string {
			var out []string
			for _, t := range p.Transitions() {
				awaits := slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
					return a.Kind == petri.OutArc && lastPart(p.Places()[a.Place].Name) == "closing"
				})
				if awaits != hasPut(p, t, string(CloseLink), "") {
					out = append(out, t.Name+" closes a connection and does not await its end, or awaits that without closing it")
				}
				if !hasTake(p, t, string(online)) || hasPut(p, t, string(online), "") {
					continue
				}
				for _, place := range []string{string(owedEnd), string(discarding)} {
					if p.Place(place) >= 0 && !hasArc(p, t, petri.ResetArc, place) {
						out = append(out, fmt.Sprintf("%s keeps %s", t.Name, place))
					}
				}
			}
			return out
		})
}

// unseen are what only the structure of our own subnets tells: frames and words
// that wait decide nothing, and are in no marking. A part in the place of ours may
// do otherwise.
func unseen(c Config) []*verify.Property {
	return []*verify.Property{dropped(c), shown(), droppedWords(), sentUp(c)}
}

// shown says that transcripts are shown: payload that decides nothing is in no
// marking, so the structure tells.
func shown() *verify.Property {
	return ofProgram("words-shown", "What the caller says is shown with consent, and what the model says unless "+
		"nobody hears it.",
		func(p *petri.Program) []string {
			var out []string
			for _, t := range p.Transitions() {
				unheard := looks(string(discarding), string(inTurn), string(unconsented))
				callers := slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
					return a.Kind == petri.InArc && p.Places()[a.Place].Name == string(Transcript) && a.Label != "model"
				})
				if callers && hasPut(p, t, string(Show), "") && p.Place(string(unconsented)) >= 0 &&
					!hasArc(p, t, petri.InhibitArc, string(unconsented)) {
					out = append(out, t.Name+" shows what the caller said without consent")
				}
				if hasTake(p, t, string(Transcript)) && !unheard(p, t) && !hasPut(p, t, string(Show), "") {
					out = append(out, t.Name+" keeps words from the page")
				}
			}
			return out
		})
}

// droppedWords says that words of the model which wait for their audio are dropped
// by what drops the reply before it begins, and by nothing else: what drops its
// audio, gives up the model's turn, or takes the connection away.
func droppedWords() *verify.Property {
	return ofProgram("words-dropped", "Words of the model that wait for their audio are dropped where that is, and "+
		"nowhere else.", func(p *petri.Program) []string {
		var out []string
		for _, t := range p.Transitions() {
			resets := func(place, label string) bool {
				return slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
					return a.Kind == petri.ResetArc && p.Places()[a.Place].Name == place && a.Label == label
				})
			}
			ends := func(place petri.Place[petri.Unit]) bool {
				return (hasTake(p, t, string(place)) || resets(string(place), "")) && !hasPut(p, t, string(place), "")
			}
			drops := resets(string(replyAudio), "") || ends(online) || ends(modelTurn) && resets(string(modelTurn), "")
			if waits := p.Place(string(Transcript)) >= 0; waits && drops != resets(string(Transcript), "model") {
				out = append(out, t.Name+" drops a reply and keeps its words, or drops words of one that may come")
			}
		}
		return out
	})
}

// sentUp says what becomes of the caller's frames: with a connection those of an
// open turn go up, and in quiet as many are kept as a turn begins with.
func sentUp(c Config) *verify.Property {
	c, _ = c.withDefaults()
	return ofProgram("V8-sent", "The caller's turn goes up, from a little before it was noticed.",
		func(p *petri.Program) []string {
			var out []string
			for _, t := range p.Transitions() {
				if !hasTake(p, t, string(CallerAudio)) {
					continue
				}
				goes := hasArc(p, t, petri.ReadArc, string(online))
				if goes && !hasPut(p, t, string(AudioUp), "") {
					out = append(out, t.Name+" does not send a frame up")
				}
				waits := slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
					return a.Kind == petri.ReadArc && p.Places()[a.Place].Name == string(CallerAudio) && a.Count > c.PreRollFrames
				})
				if hasArc(p, t, petri.ReadArc, string(quiet)) && !waits {
					out = append(out, t.Name+" drops what comes before speech")
				}
			}
			return out
		})
}

// ends says that each call of a tool has exactly one end (V7). A call that was
// started and has no end is the token in its slot's running place, of which there
// is one at most (V7-running): it is there from its start until some firing takes
// it, nothing drops it, and each that takes it is one end: a reply, or that it is
// stopped, or both when it takes too long. Nothing else replies but to a call for
// which there is no room. A cancellation that looks at it may find it.
func ends(s Slot) *verify.Property {
	name := string(running(s))
	return ofProgram("V7-ends-"+name, "A call of a tool has exactly one end.", func(p *petri.Program) []string {
		var out []string
		for _, t := range p.Transitions() {
			takes, reply := hasTake(p, t, name), hasPut(p, t, string(ToolReply), s.KeyNames()[s])
			switch {
			case slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
				return a.Kind == petri.ResetArc && p.Places()[a.Place].Name == name
			}):
				out = append(out, t.Name+" drops a call")
			case takes && !reply && !hasPut(p, t, string(StopTool), ""):
				out = append(out, t.Name+" ends a call and tells nobody")
			case hasArc(p, t, petri.ReadArc, name) && strings.HasSuffix(t.Name, "/compare_call_"+itoa(int(s))) &&
				!slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
					return a.Kind == petri.OutArc && lastPart(p.Places()[a.Place].Name) == string(unwanted(s))
				}):
				out = append(out, t.Name+" never finds the call that is cancelled")
			case reply && !takes && !hasTake(p, t, string(ToolCalled)):
				out = append(out, t.Name+" answers a call that has ended, or none")
			}
		}
		return out
	})
}

// outdated says that a turn of the caller, by speech or by text, makes the result
// of each call that began before late, so that it is not spoken (V7).
func outdated(s Slot) *verify.Property {
	mark := string(current(s))
	return ofProgram("V7-late-"+string(running(s)), "A turn of the caller makes results of earlier calls late.",
		func(p *petri.Program) []string {
			var out []string
			for _, t := range p.Transitions() {
				turn := hasPut(p, t, string(inTurn), "") && !hasTake(p, t, string(inTurn)) ||
					hasPut(p, t, string(TextUp), "") && hasPut(p, t, string(owing), "")
				resets := slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
					return a.Kind == petri.ResetArc && p.Places()[a.Place].Name == mark
				})
				if turn && !resets && p.Place(mark) >= 0 {
					out = append(out, t.Name+" leaves calls of an earlier turn current")
				}
			}
			return out
		})
}

// deafToNoise says that a clock of the caller's silence runs on through whatever
// a noise can do: begin speech, open a turn, and make the model owe a reply (V5).
func deafToNoise(clock string) *verify.Property {
	return ofProgram("V5-"+clock+" noise", "A noise that may be speech does not begin the caller's silence anew.",
		func(p *petri.Program) []string {
			var out []string
			for _, t := range p.Transitions() {
				for _, a := range t.Arcs {
					place := p.Places()[a.Place].Name
					noisy := slices.Contains([]string{"quiet", "speaking", "unheard", "in_turn", "owing", "model_turn"}, place)
					if strings.HasSuffix(t.Name, "/"+clock) && noisy {
						out = append(out, fmt.Sprintf("%s looks at %s", clock, place))
					}
				}
			}
			return out
		})
}

// unhurried says that the deadline of a turn looks at that turn alone, and that
// speech takes its place only when it is certain (V6).
func unhurried() *verify.Property {
	return ofProgram("V6-certain",
		"A noise that may be speech neither puts off the deadline of a turn nor takes its place.",
		func(p *petri.Program) []string {
			var out []string
			for _, t := range p.Transitions() {
				deadline := strings.HasSuffix(t.Name, "/reach_deadline")
				takes, opens, sure := false, false, false
				for _, a := range t.Arcs {
					place := p.Places()[a.Place].Name
					enables := a.Kind != petri.OutArc && a.Kind != petri.ResetArc
					if deadline && enables && place != string(owing) {
						out = append(out, "the deadline of a turn waits for "+place)
					}
					takes = takes || place == string(owing) && (a.Kind == petri.InArc || a.Kind == petri.ResetArc)
					opens = opens || place == string(inTurn) && a.Kind == petri.OutArc
					sure = sure || place == string(unheard) && a.Kind == petri.InArc && a.Label == "certain" ||
						place == string(confirmed) && a.Kind == petri.InArc
				}
				if takes && opens && !sure {
					out = append(out, t.Name+" gives up a turn that waits for its reply, for what may be a noise")
				}
			}
			return out
		})
}

// chainsEnd says that what fires at one instant ends. Each slice shows it of its
// own chains; one that led through several slices for ever is excluded by the
// structure, but for the subnets of Ends.
func chainsEnd() *verify.Property {
	return ofProgram("V1-chains", "What fires at one instant ends.", func(p *petri.Program) []string {
		return slices.DeleteFunc(verify.Unending(p), func(name string) bool {
			return slices.ContainsFunc(Ends(), func(subnet string) bool { return strings.HasPrefix(name, subnet+"/") })
		})
	})
}

// Ends are the subnets of which the structure does not tell that what they fire
// at one instant ends (verify.Config.Ends). Slices see no chain that leads
// through several of them; the machine ends one after a thousand firings, and
// runs are tested for it.
func Ends() []string {
	return []string{"session/playout", "session/model_silence", "session/caller_silence", "session/link", "watcher",
		"auditor"}
}
