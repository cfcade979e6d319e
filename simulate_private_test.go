//go:build !race

package voicegw_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/petri"
)

// simPrivate is when nothing of a caller's may leave for the model, by the events of the net of the call.
type simPrivate struct {
	turns map[int32]simTurn // by transition
	since map[string]time.Time
	spans []simShut
}

// simTurn is what a transition does to a state in which nothing may leave.
type simTurn struct {
	state string
	on    bool
}

// simShut is a time in which nothing may leave.
type simShut struct {
	from, to time.Time // to is zero while it goes on
	why      string
}

func newSimPrivate(prog *petri.Program) simPrivate {
	p := simPrivate{turns: map[int32]simTurn{}, since: map[string]time.Time{}}
	for i, t := range prog.Transitions() {
		name := t.Name[strings.LastIndexByte(t.Name, '/')+1:]
		switch {
		case name == "hold" || name == "unhold":
			p.turns[int32(i)] = simTurn{"held", name == "hold"}
		case name == "protect" || name == "unprotect":
			p.turns[int32(i)] = simTurn{"protected", name == "protect"}
		case name == "consent" || strings.HasPrefix(name, "withdraw_consent"):
			p.turns[int32(i)] = simTurn{"unconsented", name != "consent"}
		}
	}
	if i := prog.Place("unconsented"); i >= 0 {
		p.since["unconsented"] = time.Now()
	}
	return p
}

// note follows an event.
func (p *simPrivate) note(e petri.Event) {
	turn, ok := p.turns[e.Index]
	if e.Kind != petri.Fired || !ok {
		return
	}
	if turn.on {
		p.since[turn.state] = time.Now()
	} else if from, ok := p.since[turn.state]; ok {
		p.spans = append(p.spans, simShut{from, time.Now(), turn.state})
		delete(p.since, turn.state)
	}
}

// shut says why nothing could leave at a time; "" if something could. What leaves at the instant in which a state
// begins or ends may be before or behind that.
func (p *simPrivate) shut(at time.Time) string {
	for why, from := range p.since {
		if at.After(from) {
			return why
		}
	}
	for _, s := range p.spans {
		if at.After(s.from) && at.Before(s.to) {
			return s.why
		}
	}
	return ""
}

// simSent is something of the caller's that began to be written to the model.
type simSent struct {
	at   time.Time
	what string
}

// sentMax is how much a simulated model remembers of what it was sent: longer calls are judged by their beginning.
const sentMax = 100_000

// sent notes what of the caller's is written to the model from now on.
func (m *simModel) sent(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.callers) < sentMax {
		m.callers = append(m.callers, simSent{time.Now(), what})
	}
}

// sentText notes a text, unless it is one of the gateway's own.
func (m *simModel) sentText(msg *live.ClientMessage) {
	if msg.Kind == live.ClientText && msg.Text != m.greeting && !strings.HasPrefix(msg.Text, "(The caller is waiting") {
		m.sent(fmt.Sprintf("text %q", msg.Text))
	}
}

// judgePrivate wants nothing of the caller's to have been sent to the model while nothing might leave.
func (w *simWorld) judgePrivate(s *simCaller, seen *simSeen) {
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	w.sums.sent.Add(int64(len(s.model.callers)))
	for _, it := range s.model.callers {
		if why := seen.private.shut(it.at); why != "" {
			w.wrongOf(s, "%s was sent to the model at %v, while %s", it.what, it.at.Sub(s.line.began), why)
			return
		}
	}
}

// judgeCut wants a reply that was complete when the gateway closed its connection to have been cut by the caller, who
// withdrew consent at that moment.
func (w *simWorld) judgeCut(s *simCaller, seen *simSeen) {
	for _, at := range s.line.ear.cut {
		if !seen.private.began("unconsented", s.line.began.Add(at)) {
			w.wrongOf(s, "a reply is complete, and the model said more: the gateway closed its connection at %v", at)
		}
	}
}

// began reports whether a state began at a time.
func (p *simPrivate) began(state string, at time.Time) bool {
	from, on := p.since[state]
	return on && from.Equal(at) || slices.ContainsFunc(p.spans, func(s simShut) bool {
		return s.why == state && s.from.Equal(at)
	})
}
