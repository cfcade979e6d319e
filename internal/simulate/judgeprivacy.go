package simulate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/petri"
)

// privacy is when the input gate of a call was closed, by the events of its net: on hold, in
// protected input, and without consent nothing of the caller's may be sent to the model.
type privacy struct {
	changes map[int32]gateChange // by transition
	since   map[string]time.Time // of states that go on
	spans   []closedSpan
}

// gateChange is what a transition does to a state that closes the gate.
type gateChange struct {
	state string
	on    bool
}

// closedSpan is a time in which the gate was closed.
type closedSpan struct {
	from, to time.Time // to is zero while it goes on
	why      string
}

func newPrivacy(prog *petri.Program) privacy {
	p := privacy{changes: map[int32]gateChange{}, since: map[string]time.Time{}}
	for i, t := range prog.Transitions() {
		name := t.Name[strings.LastIndexByte(t.Name, '/')+1:]
		switch {
		case name == "hold" || name == "unhold":
			p.changes[int32(i)] = gateChange{"held", name == "hold"}
		case name == "protect" || name == "unprotect":
			p.changes[int32(i)] = gateChange{"protected", name == "protect"}
		case name == "consent" || strings.HasPrefix(name, "withdraw_consent"):
			p.changes[int32(i)] = gateChange{"unconsented", name != "consent"}
		}
	}
	if i := prog.Place("unconsented"); i >= 0 {
		p.since["unconsented"] = time.Now()
	}
	return p
}

// note follows an event.
func (p *privacy) note(e petri.Event) {
	change, ok := p.changes[e.Index]
	if e.Kind != petri.Fired || !ok {
		return
	}
	if change.on {
		p.since[change.state] = time.Now()
	} else if from, ok := p.since[change.state]; ok {
		p.spans = append(p.spans, closedSpan{from, time.Now(), change.state})
		delete(p.since, change.state)
	}
}

// closed is the state that closed the gate at a time, or "". At the instant in which a state begins
// or ends the gate may be open.
func (p *privacy) closed(at time.Time) string {
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

// upItem is something of the caller's that was sent to the model.
type upItem struct {
	at   time.Time
	what string
}

// upItemsMax is how many items a model keeps. Longer calls are judged by their beginning.
const upItemsMax = 100_000

// sent notes something of the caller's that is sent to the model from now on.
func (m *model) sent(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.upItems) < upItemsMax {
		m.upItems = append(m.upItems, upItem{time.Now(), what})
	}
}

// sentText notes a text, unless it is the gateway's own.
func (m *model) sentText(msg *live.ClientMessage) {
	for _, turn := range msg.Turns {
		m.sent(fmt.Sprintf("content %q", turn.Text))
	}
	if msg.Kind == live.ClientText && msg.Text != m.greeting && !strings.HasPrefix(msg.Text, "(The caller is waiting") {
		m.sent(fmt.Sprintf("text %q", msg.Text))
	}
}

// judgePrivacy wants nothing of the caller's to be sent to the model while the gate is closed.
func (w *world) judgePrivacy(s *caller) {
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	w.summary.sent.Add(int64(len(s.model.upItems)))
	for _, it := range s.model.upItems {
		if why := s.trace.privacy.closed(it.at); why != "" {
			w.violationOf(s, "%s was sent to the model at %v, while %s", it.what, it.at.Sub(s.line.began), why)
			return
		}
	}
}

// began reports whether a state began at a time.
func (p *privacy) began(state string, at time.Time) bool {
	from, on := p.since[state]
	return on && from.Equal(at) || slices.ContainsFunc(p.spans, func(s closedSpan) bool {
		return s.why == state && s.from.Equal(at)
	})
}
