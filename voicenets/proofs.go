package voicenets

import (
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// Proofs are what is proved of a closed session, slice by slice: each slice is
// the conversation as far as some claims need it, and everything else may do to
// it whatever it can. Beside them no slice may exceed a capacity (Capacity).
func Proofs(c Config, closed *petri.Program) []verify.Part {
	c, _ = c.withDefaults() // a session that was composed has none that is wrong
	s := &slicer{has: map[string]bool{}, closed: closed}
	for _, p := range closed.Places() {
		s.has[p.Name] = true
		s.has[p.Name[strings.LastIndexByte(p.Name, '/')+1:]] = true
	}
	s.conversation(c)
	s.ears(c)
	s.text()
	s.prompts(c)
	s.tools(c)
	s.answers()
	s.link(c)
	s.call(c)
	return s.list
}

// Capacity is asked of every slice: no place exceeds its capacity. The model's
// audio and a prompt's may be turned away, and whoever sends them learns that.
func Capacity() *verify.Property {
	return verify.WithinCapacity(string(ModelAudio), string(PromptAudio))
}

// slicer lists the slices of a session.
type slicer struct {
	closed *petri.Program
	has    map[string]bool // places of the session, in full and by their last parts
	list   []verify.Part
}

// add adds a slice. Places that a configuration does not have are left out, and
// so are claims about them.
func (s *slicer) add(name string, keep []string, places string, claims ...claim) *verify.Part {
	p := verify.Part{Slice: verify.Slice{Name: name, Keep: keep, Places: s.there(strings.Fields(places))},
		Props: properties(claims)}
	s.list = append(s.list, p)
	return &s.list[len(s.list)-1]
}

// there are those of some places that the session has.
func (s *slicer) there(places []string) []string {
	return slices.DeleteFunc(places, func(p string) bool { return !s.has[p] })
}

// transitions are those of some subnets, but for some.
func (s *slicer) transitions(groups, without []string) []string {
	var out []string
	for _, t := range s.closed.Transitions() {
		left := slices.ContainsFunc(without, func(w string) bool { return strings.Contains(t.Name, w) })
		if slices.Contains(groups, t.Group) && !left {
			out = append(out, t.Name)
		}
	}
	return out
}

// conversation is speech, turns, the model's turn and playout, with the
// watcher, which sees what peer and model are told.
func (s *slicer) conversation(c Config) {
	groups := []string{"session/speech", "session/turns", "session/hints", "session/model", "session/playout", "watcher"}
	patience := []string{"/end_turn_", "learn_", "/stay_"} // how long a turn lingers changes nothing here
	s.add("conversation", s.transitions(groups, patience), "prompt_audio prompt_end",
		append(stateClaims(c), toldClaims(c)...)...)
	ack := verify.Never("peer_ack && !ended")
	s.list[0].Props = append(s.list[0].Props, ack)
	late := s.add("acknowledgements", []string{"peer/peer_ack_late"}, "peer_ack")
	late.Given = []*verify.Property{ack}
	if c.Adaptive && c.manual() {
		one := verify.Never("in_turn && model_turn")
		s.list[0].Props = append(s.list[0].Props, one)
		s.add("endpointing", nil, "lingering in_turn patience hurried model_turn ended began").Given = []*verify.Property{one}
	}
}

// ears is who may listen, and what may go up.
func (s *slicer) ears(c Config) {
	unagreed := ""
	if c.Consent {
		unagreed = " || unconsented"
	}
	closed := "deaf || muted || held || protected" + unagreed
	claims := []claim{
		{"V8-deaf", "(" + closed + ") && !deaf && !ended",
			"The ear is closed on hold, while muted, during protected input and without consent."},
		{"V8-uplink", "can(send_frame_up) && (" + closed + ")",
			"No caller audio goes up on hold, while muted, during protected input or without consent."},
		{"V9-uplink", "can(send_frame_up) && !online",
			"Caller audio goes up on the connection there is."},
	}
	if c.manual() {
		claims = append(claims, claim{"V8-turn", "can(send_frame_up) && !in_turn",
			"Caller audio goes up in an open turn alone."})
	}
	if c.HalfDuplex {
		claims = append(claims, claim{"V8-half-duplex", "can(send_frame_up) && replying",
			"The caller is not listened to while a reply is playing."})
	}
	s.add("ears", nil,
		"peer_mute hold protect consent deaf muted held protected unconsented in_turn online caller_audio", claims...)
	s.add("modes", []string{"auditor/hold", "auditor/unhold", "auditor/protect", "auditor/unprotect", "auditor/wait",
		"auditor/release"},
		"hold protect held protected unconsented withheld hold_uplink release_uplink",
		claim{"V8-queue", "(held || protected) && !seen_wait && !ended",
			"The queue to the model holds what is the caller's while the call is on hold or input is protected."},
		claim{"V8-released", "(seen_wait || withheld) && !(held || protected" + unagreed + ") && !ended",
			"It goes on when that is over."},
		claim{"told-of-hold", "(held && !seen_hold || !held && seen_hold || unsound) && !ended",
			"The peer knows whether the call is on hold."},
		claim{"told-of-protection", "(protected && !seen_protect || !protected && seen_protect) && !ended",
			"The peer knows whether input is protected."})
	s.add("parking", nil, "hold held parked replying confirming",
		claim{"hold-parks", "held && " + c.paused() + " == 0 && !ended", "Nothing is played on hold."},
		claim{"unhold-plays", "parked && !held && !ended", "A reply goes on after a hold."})
	if c.Consent {
		s.add("consent", nil, "consent in_turn unconsented unasked considering online prompt_due replying",
			claim{"consent-asked", "(unasked || considering) && !unconsented && !ended",
				"Consent is asked for until it is given."})
	}
}

// text is what is typed, or pressed.
func (s *slicer) text() {
	s.add("text", nil, "caller_text typed held protected unconsented in_turn replying model_turn firm parked confirming")
	s.add("digits", nil, "caller_digit digits entered entry_protected protected typed held unconsented",
		claim{"V8-entered", "entered && !ended", "An entry that is complete goes at once, to the host or to wait " +
			"with other text."},
		claim{"V8-digits", "entry_protected && !protected && !ended || protected && !entry_protected && !ended",
			"An entry that began before protected input, or during it, is dropped."})
}

// prompts are audio of our own.
func (s *slicer) prompts(c Config) {
	online := ""
	if c.Prompts.Has(Notify) {
		online = " online"
	}
	if s.has["prompt_audio"] {
		s.add("late prompts", []string{"peer/prompt_audio_late"}, "prompt_audio")
	}
	if s.has["prompting"] {
		s.add("prompts", nil, "prompt_due prompting replying parked in_turn speaking prompt_end"+online)
	}
}

// answers are what a caller gets whose turn went unanswered.
func (s *slicer) answers() {
	busy := "(replying || speaking || held)"
	if s.has["in_turn"] {
		busy = "(replying || speaking || held || in_turn)"
	}
	s.add("answers", nil, "reply_owed owing said replying speaking in_turn held",
		claim{"V6-owed", "reply_owed && !" + busy + " && !ended",
			"Notice that there is no reply is put off only by hold, speech or a reply."})
}

// tools are calls of functions.
func (s *slicer) tools(c Config) {
	if c.ToolSlots == 0 {
		return
	}
	places := "tool_called tool_done tool_cancelled online"
	var claims []claim
	for i := range Slot(c.ToolSlots) {
		f, r, d := string(free(i)), string(running(i)), string(draining(i))
		places += fmt.Sprintf(" %s %s %s current_%d unwanted_%d sought_%d", f, r, d, i, i, i)
		claims = append(claims,
			claim{"V7-" + r, f + " + " + r + " + " + d + " != 1", "A slot is free, running or draining."},
			claim{"V7-lost-" + r, r + " && !online && !ended", "A call ends with the connection that made it."})
	}
	s.add("tools", nil, places, claims...)
}

// link is the connection to the model.
func (s *slicer) link(c Config) {
	s.add("link", []string{"auditor/lost", "auditor/back", "auditor/dial", "auditor/use", "auditor/close",
		"auditor/wrong_dial_in_use"},
		"dialled link_down handle go_away dial_now dial_barred dialling waiting closing online spent last_handle "+
			"served lost "+
			"leaving parting",
		claim{"V9-one", "dial_now + dial_barred + dialling + waiting + closing + online + lost != 1",
			"There is one connection, or attempt at one, until the model is given up."},
		claim{"told-of-link",
			"(online && !seen_link || !online && seen_link || link/dialling && !seen_dial || mislinked) && !ended",
			"Connections are asked for, used and closed one after the other."},
		claim{"told-of-loss", "(online && seen_down || served && !online && seen_up) && !ended",
			"The peer knows whether the connection is being replaced."},
		claim{"V9-lost", "lost && !leaving && !parting && !ended", "The model is given up only with the call."})
}

// call is its beginning and its end.
func (s *slicer) call(Config) {
	s.add("call", nil, "over drain hand_off draining leaving parting prompt_due replying",
		claim{"V11-longest", "!can(end_longest_call) && !ended",
			"Wherever the call rests before its end, the timer that ends it is under way: it is never dead."},
		claim{"V11-leaves", "leaving && !parting && !ended", "A call that shall end takes its leave at once."})
}
