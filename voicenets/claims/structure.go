package claims

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	vclaim "github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/structure"
	"github.com/voicegw/voicegw/voicenets"
)

// Structure lists the properties that the structure of a closed session decides, for every marking.
// Each is refuted of a session that lacks a transition or a place that the property selects by name
// and that the configuration has.
func Structure(c voicenets.Config) []*verify.Property { return scopeOf(c).structure() }

// structure lists the properties of Structure, for the nets of a scope.
func (s scope) structure() []*verify.Property {
	waits := []string{string(voicenets.ModelAudio), string(voicenets.PromptAudio)} // they may wait for room
	list := []*verify.Property{
		called("V1-answered", "Whatever comes from outside is answered at once.", verify.Answered(append(waits,
			string(voicenets.PeerAck))...)),
		called("V3-fresh", "Audio is handed over as a token of the current generation.",
			verify.FreshCommits("send_frame", "play_again")),
		called("V8-writer", "Caller audio goes up by one transition.", verify.SingleWriter(string(voicenets.AudioUp))),
		called("V11-end", "Once the call is over nothing fires.", verify.EndStops(string(voicenets.CallEnded))),
		s.selects(unanswered(), nil, voicenets.ReplyPending), s.unhurried(),
		s.selects(settled(), nil, voicenets.Closing, voicenets.CloseLink, voicenets.Online, voicenets.TurnEndPending,
			voicenets.Discarding),
		s.selects(accepted(), nil, voicenets.ModelAudio, voicenets.ReplyAudio),
		spoken(), chainsEnd(),
		s.selects(renewed(), nil, voicenets.PlayPrompt, voicenets.ToModel, voicenets.TextUp, voicenets.InTurn,
			voicenets.NotifyReply),
		neverStuck(),
	}
	list = append(list, s.private()...)
	for slot := range voicenets.Slot(s.config.ToolSlots) {
		list = append(list,
			s.selects(ends(slot), []string{comparing(slot)}, voicenets.ToolRunning(slot), voicenets.CancelFound(slot),
				voicenets.ToolCalled, voicenets.ToolReply, voicenets.StopTool),
			s.selects(outdated(slot), nil, voicenets.ToolCurrent(slot), voicenets.InTurn, voicenets.TextUp,
				voicenets.ReplyPending))
	}
	return append(list, s.considerate()...)
}

func called(name, doc string, p *verify.Property) *verify.Property {
	p.Name, p.Doc = name, doc
	return p
}

// renewed claims that a generation begins whenever earlier audio becomes old: at the end of a
// reply, at a prompt, and at a turn of the caller.
func renewed() *verify.Property {
	return ofProgram("V3-renewed", "What ends a reply, begins a prompt or opens a turn begins a generation.",
		func(p *petri.Program) []string {
			var out []string
			ends := []voicenets.NoticeKind{voicenets.ReplyCut, voicenets.ReplyComplete, voicenets.ReplyLost}
			for _, t := range p.Transitions() {
				begins := hasPut(p, t, string(voicenets.PlayPrompt), "") || hasPut(p, t, string(voicenets.ToModel),
					voicenets.ActivityStart.String()) ||
					hasPut(p, t, string(voicenets.TextUp), "") && !looks(string(voicenets.InTurn))(p, t) ||
					slices.ContainsFunc(ends, func(k voicenets.NoticeKind) bool {
						return hasPut(p, t,
							string(voicenets.NotifyReply), k.String())
					})
				if begins && !t.Bump {
					out = append(out, t.Name+" begins no generation")
				}
			}
			return out
		})
}

// ofProgram makes a property that holds if a function finds no problems.
func ofProgram(name, doc string, problems func(*petri.Program) []string) *verify.Property {
	return &verify.Property{Name: name, Doc: doc, Claim: vclaim.Structural{},
		Check: func(_ context.Context, pass *verify.Pass) (verify.Verdict, error) {
			if list := problems(pass.Program); len(list) > 0 {
				return verify.Refuted.By("structure", 0, "%s", strings.Join(list, "; ")), nil
			}
			return verify.Proved.By("structure", 0, "nothing found"), nil
		}}
}

// hasArc reports whether a transition has an arc of some kind to a place, with count 1 and without
// a key.
func hasArc(p *petri.Program, t petri.TransitionInfo, kind petri.ArcKind, place string) bool {
	return slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
		return a.Kind == kind && p.Places()[a.Place].Name == place && a.Label == "" && a.Count == 1
	})
}

// unanswered claims that a turn which waits for its reply ends with one, with the notice that there
// is none, or with another turn (V6).
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
					takes = takes || place == string(voicenets.ReplyPending) &&
						(a.Kind == petri.InArc || a.Kind == petri.ResetArc)
					ends = ends || a.Kind == petri.OutArc && (slices.Contains(
						[]string{string(voicenets.ReplyPending), string(voicenets.InTurn), string(voicenets.ReplyOverdue),
							string(voicenets.DropUplink)}, place) ||
						slices.Contains([]string{voicenets.ReplyStarted.String(), voicenets.ReplyLost.String(),
							voicenets.ReplyCut.String(), voicenets.NoReply.String()},
							a.Label))
				}
				if takes && !ends {
					out = append(out, t.Name+" forgets a turn that waits for its reply")
				}
			}
			return out
		})
}

// settled claims that a transition which takes the connection away also clears what was pending on
// it and the wish to replace it (V9).
func settled() *verify.Property {
	return ofProgram("V9-settled", "What is pending on a connection, and the request to replace it, end with it.",
		func(p *petri.Program) []string {
			var out []string
			for _, t := range p.Transitions() {
				awaits := slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
					return a.Kind == petri.OutArc && lastPart(p.Places()[a.Place].Name) == string(voicenets.Closing)
				})
				if awaits != hasPut(p, t, string(voicenets.CloseLink), "") {
					out = append(out, t.Name+" closes a connection and does not await its end, or awaits that without closing it")
				}
				if !hasTake(p, t, string(voicenets.Online)) || hasPut(p, t, string(voicenets.Online), "") {
					continue
				}
				for _, place := range []string{string(voicenets.TurnEndPending), string(voicenets.Discarding)} {
					if p.Place(place) >= 0 && !hasArc(p, t, petri.ResetArc, place) {
						out = append(out, fmt.Sprintf("%s keeps %s", t.Name, place))
					}
				}
			}
			return out
		})
}

// Unseen lists the properties that only the structure of the gateway's own subnets decides: waiting
// frames and transcripts decide nothing and appear in no marking. A replacement part may behave
// differently.
func Unseen(c voicenets.Config) []*verify.Property { return scopeOf(c).unseen() }

// unseen lists the properties of Unseen, for the nets of a scope.
func (s scope) unseen() []*verify.Property {
	return append(s.unseenAudio(), s.transcriptShown(), s.transcriptDropped())
}

// unseenAudio lists the properties of frames of the caller that wait.
func (s scope) unseenAudio() []*verify.Property {
	return []*verify.Property{
		s.selects(dropped(s.config), nil, voicenets.CallerAudio, voicenets.InputClosed, voicenets.NotifyReply,
			voicenets.Confirming),
		s.selects(sentUp(s.config), nil, voicenets.CallerAudio, voicenets.AudioUp, voicenets.Online, voicenets.Quiet),
	}
}

// transcriptShown is the property of transcripts that wait.
func (s scope) transcriptShown() *verify.Property {
	return s.selects(shown(), nil, voicenets.Transcript, voicenets.Show, voicenets.Unconsented)
}

// transcriptDropped is the property of transcripts that wait for audio which is dropped.
func (s scope) transcriptDropped() *verify.Property {
	return s.selects(droppedTranscripts(), nil, voicenets.Transcript, voicenets.ReplyAudio, voicenets.Online,
		voicenets.ModelTurn)
}

// Structure lists the properties of Structure and Unseen, for the view. It asks for the transitions
// that the view has, not for those of the whole session.
func (s *Shape) Structure(c voicenets.Config) []*verify.Property {
	of := scopeOf(c)
	of.view = s
	return append(of.structure(), of.unseen()...)
}

// shown claims that transcripts are shown. Markings leave out payload that decides nothing, so the
// claim is checked on the structure.
func shown() *verify.Property {
	return ofProgram("transcript-shown", "What the caller says is shown with consent, and what the model says unless "+
		"nothing of it is played.",
		func(p *petri.Program) []string {
			var out []string
			for _, t := range p.Transitions() {
				unplayed := looks(string(voicenets.Discarding), string(voicenets.InTurn), string(voicenets.Unconsented))
				callers := slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
					return a.Kind == petri.InArc && p.Places()[a.Place].Name == string(voicenets.Transcript) && a.Label != "model"
				})
				if callers && hasPut(p, t, string(voicenets.Show), "") && p.Place(string(voicenets.Unconsented)) >= 0 &&
					!hasArc(p, t, petri.InhibitArc, string(voicenets.Unconsented)) {
					out = append(out, t.Name+" shows what the caller said without consent")
				}
				if hasTake(p, t, string(voicenets.Transcript)) && !unplayed(p, t) && !hasPut(p, t, string(voicenets.Show), "") {
					out = append(out, t.Name+" keeps a transcript from the page")
				}
			}
			return out
		})
}

// droppedTranscripts claims that waiting transcripts of the model are dropped exactly where their
// reply is dropped before it begins: by firings that drop its audio, give up the model's turn, or
// take the connection away.
func droppedTranscripts() *verify.Property {
	return ofProgram("transcript-dropped", "Transcripts of the model that wait for their audio are dropped with it, and "+
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
			drops := resets(string(voicenets.ReplyAudio), "") || ends(voicenets.Online) || ends(voicenets.ModelTurn) &&
				resets(string(voicenets.ModelTurn), "")
			if waits := p.Place(string(voicenets.Transcript)) >= 0; waits &&
				drops != resets(string(voicenets.Transcript), "model") {
				out = append(out, t.Name+" drops a reply and keeps its transcript, or drops the transcript of one that may come")
			}
		}
		return out
	})
}

// sentUp claims what happens to the caller's frames: with a connection, those of an open turn go
// up; while the caller is silent, the session keeps the frames with which a turn begins.
func sentUp(c voicenets.Config) *verify.Property {
	c, _ = c.Filled()
	return ofProgram("V8-sent", "The caller's turn goes up, from a little before it was noticed.",
		func(p *petri.Program) []string {
			var out []string
			for _, t := range p.Transitions() {
				if !hasTake(p, t, string(voicenets.CallerAudio)) {
					continue
				}
				goes := hasArc(p, t, petri.ReadArc, string(voicenets.Online))
				if goes && !hasPut(p, t, string(voicenets.AudioUp), "") {
					out = append(out, t.Name+" does not send a frame up")
				}
				waits := slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
					return a.Kind == petri.ReadArc && p.Places()[a.Place].Name == string(voicenets.CallerAudio) &&
						a.Count > c.PreRollFrames
				})
				if hasArc(p, t, petri.ReadArc, string(voicenets.Quiet)) && !waits {
					out = append(out, t.Name+" drops what comes before speech")
				}
			}
			return out
		})
}

// ends claims that each tool call has exactly one end (V7). A call that has started but not ended
// is the token in the running place of its slot. That place holds at most one token (V7-running).
// The token stays from the start of the call until a firing takes it; no firing drops it. Each
// firing that takes it is one end: it replies, or stops the tool, or does both on a timeout. Any
// other reply refuses a call for which there is no room. A cancellation that reads the token may
// find the call.
func ends(s voicenets.Slot) *verify.Property {
	name := string(voicenets.ToolRunning(s))
	return ofProgram("V7-ends-"+name, "A call of a tool has exactly one end.", func(p *petri.Program) []string {
		var out []string
		for _, t := range p.Transitions() {
			takes, reply := hasTake(p, t, name), hasPut(p, t, string(voicenets.ToolReply), s.KeyNames()[s])
			switch {
			case slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
				return a.Kind == petri.ResetArc && p.Places()[a.Place].Name == name
			}):
				out = append(out, t.Name+" drops a call")
			case takes && !reply && !hasPut(p, t, string(voicenets.StopTool), ""):
				out = append(out, t.Name+" ends a call without a notice")
			case hasArc(p, t, petri.ReadArc, name) && lastPart(t.Name) == comparing(s) &&
				!slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
					return a.Kind == petri.OutArc && lastPart(p.Places()[a.Place].Name) == string(voicenets.CancelFound(s))
				}):
				out = append(out, t.Name+" never finds the call that is cancelled")
			case reply && !takes && !hasTake(p, t, string(voicenets.ToolCalled)):
				out = append(out, t.Name+" answers a call that has ended, or none")
			}
		}
		return out
	})
}

// comparing names the transition that compares a cancelled call with that of a slot.
func comparing(s voicenets.Slot) string { return "compare_call_" + itoa(int(s)) }

// outdated claims that a turn of the caller, by speech or by text, makes the result of each earlier
// call late, so that it is not spoken (V7).
func outdated(s voicenets.Slot) *verify.Property {
	mark := string(voicenets.ToolCurrent(s))
	return ofProgram("V7-late-"+string(voicenets.ToolRunning(s)),
		"A turn of the caller makes results of earlier calls late.",
		func(p *petri.Program) []string {
			var out []string
			for _, t := range p.Transitions() {
				turn := hasPut(p, t, string(voicenets.InTurn), "") && !hasTake(p, t, string(voicenets.InTurn)) ||
					hasPut(p, t, string(voicenets.TextUp), "") && hasPut(p, t, string(voicenets.ReplyPending), "")
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

// deadlineOfTurn is the transition that notes that a turn has waited too long for its reply.
const deadlineOfTurn = "reach_deadline"

// unhurried claims that the deadline of a turn depends on that turn alone, and that only confirmed
// speech replaces the turn (V6).
func (s scope) unhurried() *verify.Property {
	p := ofProgram("V6-certain",
		"A noise that may be speech neither puts off the deadline of a turn nor takes its place.", hurries)
	if s.config.LeavesOut(voicenets.PartModelSilence) {
		return s.selects(p, nil, voicenets.ReplyPending, voicenets.InTurn)
	}
	return s.selects(p, []string{deadlineOfTurn}, voicenets.ReplyPending, voicenets.InTurn)
}

// hurries lists what breaks the claim of unhurried.
func hurries(p *petri.Program) []string {
	var out []string
	for _, t := range p.Transitions() {
		deadline := lastPart(t.Name) == deadlineOfTurn
		takes, opens, sure := false, false, false
		for _, a := range t.Arcs {
			place := p.Places()[a.Place].Name
			enables := a.Kind != petri.OutArc && a.Kind != petri.ResetArc
			if deadline && enables && place != string(voicenets.ReplyPending) {
				out = append(out, "the deadline of a turn waits for "+place)
			}
			takes = takes || place == string(voicenets.ReplyPending) &&
				(a.Kind == petri.InArc || a.Kind == petri.ResetArc)
			opens = opens || place == string(voicenets.InTurn) && a.Kind == petri.OutArc
			sure = sure || place == string(voicenets.PendingSpeech) && a.Kind == petri.InArc && a.Label == "confirmed" ||
				place == string(voicenets.SpeechConfirmed) && a.Kind == petri.InArc
		}
		if takes && opens && !sure {
			out = append(out, t.Name+" gives up a turn that waits for its reply, for what may be a noise")
		}
	}
	return out
}

// chainsEnd claims that every chain of firings at one instant ends. Each slice shows it for its own
// chains. The structure excludes an endless chain through several slices, except through the
// subnets of unendingSubnets.
func chainsEnd() *verify.Property {
	return ofProgram("V1-chains", "What fires at one instant ends.", func(p *petri.Program) []string {
		return slices.DeleteFunc(structure.Unending(p), func(name string) bool {
			return slices.ContainsFunc(unendingSubnets(), func(s string) bool { return strings.HasPrefix(name, s+"/") })
		})
	})
}

// unendingSubnets lists the subnets for which the structure does not show that their chains at one
// instant end (verify.Config.Ends). No slice sees a chain that leads through several slices. The
// machine ends a chain after a thousand firings, and tests check runs for it.
func unendingSubnets() []string {
	return []string{"session/playout", "session/model_silence", "session/caller_silence", "session/link", "watcher",
		"auditor"}
}
