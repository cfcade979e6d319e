package claims

import (
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/slice"
	"github.com/voicegw/voicegw/voicenets"
)

// Proofs lists what is proved of a closed session, slice by slice. A slice keeps the part of the
// conversation that its claims need; everything else may do whatever it can. In addition, no slice
// may exceed a capacity (Capacity).
func Proofs(c voicenets.Config, closed *petri.Program) []verify.Part {
	c, _ = c.Filled() // a composed session has a valid configuration
	s := &slicer{has: map[string]bool{}, closed: closed}
	for _, p := range closed.Places() {
		s.has[p.Name] = true
		s.has[p.Name[strings.LastIndexByte(p.Name, '/')+1:]] = true
	}
	s.conversation(c)
	s.inputGate(c)
	s.text()
	s.prompts(c)
	s.tools(c)
	s.answers(c)
	s.link(c)
	s.call(c)
	return s.list
}

// Capacity is the claim that no place exceeds its capacity, which every slice must prove. Audio of
// the model and of a prompt may be refused; its sender learns of the refusal.
func Capacity() *verify.Property {
	return verify.WithinCapacity(string(voicenets.ModelAudio), string(voicenets.PromptAudio))
}

// slicer lists the slices of a session.
type slicer struct {
	closed *petri.Program
	has    map[string]bool // places of the session, by their full names and last parts
	list   []verify.Part
}

// add adds a slice. It leaves out places that the configuration lacks, and claims about them.
func (s *slicer) add(name string, keep []string, places string, claims ...claim) *verify.Part {
	p := verify.Part{Slice: slice.Slice{Name: name, Keep: keep, Places: s.there(strings.Fields(places))},
		Props: properties(claims)}
	s.list = append(s.list, p)
	return &s.list[len(s.list)-1]
}

// there returns the places of a list that the session has.
func (s *slicer) there(places []string) []string {
	return slices.DeleteFunc(places, func(p string) bool { return !s.has[p] })
}

// transitions lists the transitions of some subnets, except those that without names.
func (s *slicer) transitions(groups, without []string) []string {
	var out []string
	for _, t := range s.closed.Transitions() {
		if slices.Contains(groups, t.Group) && !slices.Contains(without, lastPart(t.Name)) {
			out = append(out, t.Name)
		}
	}
	return out
}

// patience lists the transitions that decide how long a turn lingers. A session without endpointing
// has none of them.
func patience(c voicenets.Config) []string {
	if !adapts(c) || c.LeavesOut(voicenets.PartTurns) {
		return nil
	}
	var list []string
	levels := voicenets.Patience(0).KeyNames()
	for i, level := range levels {
		list = append(list, "end_turn_"+level)
		if i > 0 {
			list = append(list, "learn_"+level, "unlearn_"+level)
		}
	}
	return append(list, "stay_"+levels[len(levels)-1])
}

// conversation adds the slice of speech, turns, the model's turn and playout. It includes the
// watcher, which follows what the session sends to the peer and the model.
func (s *slicer) conversation(c voicenets.Config) {
	groups := []string{"session/speech", "session/turns", "session/hints", "session/model", "session/playout", "watcher"}
	// How long a turn lingers changes nothing here.
	s.add("conversation", s.transitions(groups, patience(c)), "prompt_audio prompt_end",
		append(stateClaims(c), outputClaims(c)...)...)
	ack := verify.Never("peer_ack && !ended")
	s.list[0].Props = append(s.list[0].Props, ack)
	late := s.add("acknowledgements", []string{"peer/peer_ack_late"}, "peer_ack")
	late.Given = []*verify.Property{ack}
	if adapts(c) {
		one := verify.Never("in_turn && model_turn")
		s.list[0].Props = append(s.list[0].Props, one)
		s.add("endpointing", nil,
			"lingering in_turn patience ended_early model_turn speech_ended speech_began").Given = []*verify.Property{one}
	}
}

// inputGate adds the slices that decide when caller audio may enter and what may go up.
func (s *slicer) inputGate(c voicenets.Config) {
	unagreed := ""
	if c.Consent {
		unagreed = " || unconsented"
	}
	closed := "input_closed || muted || held || protected" + unagreed
	claims := []claim{
		{"V8-input-closed", "(" + closed + ") && !input_closed && !ended",
			"The input gate is closed on hold, while muted, during protected input and without consent."},
		{"V8-uplink", "can(send_frame_up) && (" + closed + ")",
			"No caller audio goes up on hold, while muted, during protected input or without consent."},
		{"V9-uplink", "can(send_frame_up) && !online",
			"Caller audio goes up on the connection there is."},
	}
	if gatewayVAD(c) {
		claims = append(claims, claim{"V8-turn", "can(send_frame_up) && !in_turn",
			"Caller audio goes up in an open turn alone."})
	}
	if c.HalfDuplex {
		claims = append(claims, claim{"V8-half-duplex", "can(send_frame_up) && replying",
			"The caller is not listened to while a reply is playing."})
	}
	s.add("input gate", nil,
		"peer_mute hold protect consent input_closed muted held protected unconsented in_turn online caller_audio", claims...)
	s.add("modes", []string{"auditor/hold", "auditor/unhold", "auditor/protect", "auditor/unprotect", "auditor/wait",
		"auditor/release"},
		"hold protect held protected unconsented uplink_held hold_uplink release_uplink",
		claim{"V8-queue", "(held || protected) && !seen_wait && !ended",
			"The queue to the model holds what is the caller's while the call is on hold or input is protected."},
		claim{"V8-released", "(seen_wait || uplink_held) && !(held || protected" + unagreed + ") && !ended",
			"It goes on when that is over."},
		claim{"hold-reported", "(held && !seen_hold || !held && seen_hold || unsound) && !ended",
			"The peer knows whether the call is on hold."},
		claim{"protection-reported", "(protected && !seen_protect || !protected && seen_protect) && !ended",
			"The peer knows whether input is protected."})
	s.add("parking", nil, "hold held parked replying confirming",
		claim{"hold-parks", "held && " + paused(c) + " == 0 && !ended", "Nothing is played on hold."},
		claim{"unhold-plays", "parked && !held && !ended", "A reply goes on after a hold."})
	if c.Consent {
		s.add("consent", nil, "consent in_turn unconsented consent_due consent_pending online prompt_due replying",
			claim{"consent-asked", "(consent_due || consent_pending) && !unconsented && !ended",
				"Consent is asked for until it is given."})
	}
}

// text adds the slices of typed text and pressed digits.
func (s *slicer) text() {
	s.add("text", nil,
		"caller_text pending_text held protected unconsented in_turn replying model_turn firm parked confirming")
	s.add("context", nil, "note request pending_request held protected unconsented")
	s.add("digits", nil, "caller_digit entry entry_complete entry_protected protected pending_text held unconsented",
		claim{"V8-entered", "entry_complete && !ended", "An entry that is complete goes at once, to the host or to wait " +
			"with other text."},
		claim{"V8-digits", "entry_protected && !protected && !ended || protected && !entry_protected && !ended",
			"An entry that began before protected input, or during it, is dropped."})
}

// prompts adds the slices of the gateway's own audio.
func (s *slicer) prompts(c voicenets.Config) {
	online := ""
	if c.Prompts.Has(voicenets.Notify) {
		online = " online"
	}
	if scopeOf(c).hasPlace(string(voicenets.PromptAudio)) {
		s.add("late prompts", []string{"peer/prompt_audio_late"}, "prompt_audio")
	}
	if scopeOf(c).hasPlace(string(voicenets.Prompting)) {
		s.add("prompts", nil, "prompt_due prompting replying parked in_turn speaking prompt_end"+online)
	}
}

// answers adds the slice of what the caller gets after an unanswered turn.
func (s *slicer) answers(c voicenets.Config) {
	busy := "(replying || speaking || held)"
	if scopeOf(c).hasPlace(string(voicenets.InTurn)) {
		busy = "(replying || speaking || held || in_turn)"
	}
	s.add("answers", nil, "reply_overdue reply_pending unanswered replying speaking in_turn held",
		claim{"V6-overdue", "reply_overdue && !" + busy + " && !ended",
			"Notice that there is no reply is put off only by hold, speech or a reply."})
}

// tools adds the slice of function calls.
func (s *slicer) tools(c voicenets.Config) {
	if c.ToolSlots == 0 {
		return
	}
	places := "tool_called tool_done tool_cancelled online"
	var claims []claim
	for i := range voicenets.Slot(c.ToolSlots) {
		f, r, d := string(voicenets.SlotFree(i)), string(voicenets.ToolRunning(i)), string(voicenets.ToolDraining(i))
		places += fmt.Sprintf(" %s %s %s tool_current_%d cancel_found_%d cancel_search_%d", f, r, d, i, i, i)
		claims = append(claims,
			claim{"V7-" + r, f + " + " + r + " + " + d + " != 1", "A slot is free, running or draining."},
			claim{"V7-lost-" + r, r + " && !online && !ended", "A call ends with the connection that made it."})
	}
	s.add("tools", nil, places, claims...)
}

// link adds the slice of the connection to the model.
func (s *slicer) link(c voicenets.Config) {
	s.add("link", []string{"auditor/lost", "auditor/back", "auditor/dial", "auditor/use", "auditor/close",
		"auditor/wrong_dial_in_use"},
		"dialled link_down handle go_away dial_now dial_blocked dialling backing_off closing online retries_spent "+
			"last_handle "+
			"connected_before model_given_up "+
			"ending farewell",
		claim{"V9-one", "dial_now + dial_blocked + dialling + backing_off + closing + online + model_given_up != 1",
			"There is one connection, or attempt at one, until the model is given up."},
		claim{"link-in-order",
			"(online && !seen_link || !online && seen_link || link/dialling && !seen_dial || mislinked) && !ended",
			"Connections are asked for, used and closed one after the other."},
		claim{"loss-reported", "(online && seen_down || connected_before && !online && seen_up) && !ended",
			"The peer knows whether the connection is being replaced."},
		claim{"V9-lost", "model_given_up && !ending && !farewell && !ended", "The model is given up only with the call."})
}

// call adds the slice of the beginning and the end of the call.
func (s *slicer) call(voicenets.Config) {
	s.add("call", nil, "over drain hand_off draining ending farewell prompt_due replying",
		claim{"V11-longest", "!can(end_longest_call) && !ended",
			"Wherever the call rests before its end, the timer that ends it is under way: it is never dead."},
		claim{"V11-leaves", "ending && !farewell && !ended", "A call that is to end begins its farewell at once."})
}
