package simulate

import (
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport"
)

// judgeReason wants peer, record, log, script and net to agree on why a call is over. The script and
// the net have a say unless somebody else ended the call at that moment.
func (w *world) judgeReason(s *caller) {
	s.line.mu.Lock()
	got, over, r := s.line.reason, s.line.over, s.record
	s.line.mu.Unlock()
	if got == transport.ReasonNone || got == transport.ReasonInternal || r.Reason != got.String() {
		w.violationOf(s, "the peer was sent %s, the record says %s: %v", got, r.Reason, s.err)
	}
	logged := 0
	for _, e := range w.log.all.lines {
		if e.what == "call ended" && e.fields["call"] == r.Call && e.fields["reason"] == r.Reason {
			logged++
		}
	}
	if logged != 1 {
		w.violationOf(s, "the log has %d lines that the call ended by %s", logged, r.Reason)
	}
	if w.plan.closes > 0 {
		return
	}
	tied := got == transport.ReasonMaxDuration && over == s.hungUp && over == w.plan.gw.Net.MaxDuration
	if want := s.plan.reason(); s.hungUp > 0 && over >= s.hungUp && want != got && want != transport.ReasonNone &&
		s.plan.peer.stallsAfter == 0 && !tied {
		w.violationOf(s, "it ended by %s, and should by %s", got, want)
	}
	gone := got == transport.ReasonPeerLost || got == transport.ReasonPeerStalled
	if why := s.trace.end.ended; why != "" && why != r.Reason && s.hungUp == 0 && !gone {
		w.violationOf(s, "its net ended it by %s, and the record says %s", why, r.Reason)
	}
}

// judgeEnd wants a call to end in time: its line, its speech, and what it holds.
func (w *world) judgeEnd(s *caller) {
	s.line.mu.Lock()
	over, sounded := s.line.over, s.line.sounded
	s.line.mu.Unlock()
	atMost := func(applies bool, late, most time.Duration, format string) {
		if applies && late > most {
			w.violationOf(s, format, late)
		}
	}
	hungUp := s.hungUp > 0
	atMost(hungUp && s.plan.peer.stallsAfter == 0, over-s.hungUp, endMax, "it ended %v after it was hung up")
	atMost(hungUp && s.plan.endsAtOnce(), sounded-s.hungUp, tailMax, "speech came %v after it was hung up")
	atMost(true, s.ended-over, toolOvertime+time.Second, "its line was free %v after its end")
}

// tailMax is how long after the end of a call speech may come.
const tailMax = 50 * time.Millisecond

// endsAtOnce reports whether the end of the script stops the reply.
func (p *callPlan) endsAtOnce() bool { return p.steps[len(p.steps)-1].do != doHandOff }

// reason is why a call ends whose script comes to its end, or none if that is open.
func (p *callPlan) reason() transport.Reason {
	return map[action]transport.Reason{doBye: transport.ReasonCallerHungUp, doBreak: transport.ReasonPeerLost,
		doBreach: transport.ReasonBadJSON, doHangUp: transport.ReasonDone}[p.steps[len(p.steps)-1].do]
}

// netEnd follows how a net ends a call by itself.
type netEnd struct {
	names   []string // of the transitions, without the part
	leaving string   // why it wants to say goodbye
	parting string   // why it says goodbye
	ended   string   // why it ended the call; empty: it did not, or was asked to
}

func newNetEnd(prog *petri.Program) netEnd { return netEnd{names: transitionNames(prog)} }

// note follows an event.
func (s *netEnd) note(e petri.Event) {
	if e.Kind != petri.Fired {
		return
	}
	switch s.names[e.Index] {
	case "give_up_on_caller":
		s.leaving = transport.ReasonCallerSilent.String()
	case "give_up_on_consent":
		s.leaving = transport.ReasonNoConsent.String()
	case "end_drain_in_quiet":
		s.leaving = transport.ReasonGoingAway.String()
	case "say_goodbye":
		s.parting = s.leaving
	case "say_fallback": // whoever ended the connection says why
		s.parting = ""
	case "end_farewell", "end_farewell_in_time":
		s.ended = s.parting
	case "end_drain_in_time":
		s.ended = transport.ReasonGoingAway.String()
	case "hand_off":
		s.ended = transport.ReasonTransferred.String()
	case "end_longest_call":
		s.ended = transport.ReasonMaxDuration.String()
	}
}
