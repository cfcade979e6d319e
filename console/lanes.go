package console

import (
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// A Span is a stretch of a lane of the timeline.
type Span struct {
	Lane string  `json:"lane"`
	N    int     `json:"n"` // its number in the lane, from 0
	From float64 `json:"from"`
	To   float64 `json:"to"`
	Open bool    `json:"open,omitempty"` // it goes on
	Note string  `json:"note,omitempty"`
}

// lanes makes the spans of a call.
type lanes struct {
	spots    *spots
	replying map[int32]bool // transitions that cut a reply
	list     []*lane
	phase    *lane
}

// lane is one row of the timeline. Either the marking says whether it is on, or single events do, and
// it stays on while the next one comes within gap.
type lane struct {
	name string
	on   func(*petri.Tracker) string // a note, "" if it is off
	hit  func(petri.Event) bool
	gap  time.Duration
	n    int // spans begun
	last Span
	end  time.Duration
	news []Span // closed since the last flush
}

// Lanes of single events are on while the next one comes within these times.
const (
	burstGap = 250 * time.Millisecond // the model sends in bursts
	frameGap = 120 * time.Millisecond // frames to the caller, one every 20 ms
	ackGap   = 400 * time.Millisecond // clients acknowledge several frames at once
)

func newLanes(p *petri.Program, s *spots) *lanes {
	l := &lanes{spots: s, replying: cuts(p, s)}
	state := func(name string, places ...int) {
		l.list = append(l.list, &lane{name: name, on: func(t *petri.Tracker) string {
			if has(t, places...) {
				return name
			}
			return ""
		}})
	}
	arrives := func(place int) func(petri.Event) bool {
		return func(e petri.Event) bool { return e.Kind == petri.Injected && int(e.Index) == place }
	}
	leaves := func(place int) func(petri.Event) bool {
		by := emitters(p, place)
		return func(e petri.Event) bool { return e.Kind == petri.Fired && by[e.Index] }
	}
	events := func(name string, gap time.Duration, hit func(petri.Event) bool) {
		l.list = append(l.list, &lane{name: name, hit: hit, gap: gap})
	}
	l.phase = &lane{name: "phase", on: func(t *petri.Tracker) string { return string(s.phase(t)) }}
	l.list = append(l.list, l.phase)
	state("speech", s.speaking)
	state("turn", s.inTurn)
	events("received", burstGap, arrives(s.modelAudio))
	events("sent", frameGap, leaves(s.audioDown))
	events("played", ackGap, arrives(s.ack))
	events("cleared", 0, leaves(s.clear))
	events("cut", 0, func(e petri.Event) bool { return e.Kind == petri.Fired && l.replying[e.Index] })
	for _, t := range s.tools {
		state("tool "+strings.TrimPrefix(p.Places()[t].Name, "tool_running_"), t)
	}
	state("held", s.held)
	state("muted", s.muted)
	state("protected", s.protected)
	state("unconsented", s.unconsented)
	state("online", s.online)
	l.list = append(l.list, &lane{name: "silence", on: func(t *petri.Tracker) string {
		if s.silent(t) {
			return "silence"
		}
		return ""
	}})
	return l
}

// emitters returns the transitions that put tokens out at a place.
func emitters(p *petri.Program, place int) map[int32]bool {
	set := map[int32]bool{}
	for i := range p.Transitions() {
		for _, a := range p.Transitions()[i].Arcs {
			if a.Kind == petri.OutArc && a.Place == place {
				set[int32(i)] = true
			}
		}
	}
	return set
}

// cuts returns the transitions that interrupt a reply: they end it and drop its audio.
func cuts(p *petri.Program, s *spots) map[int32]bool {
	set := map[int32]bool{}
	for i := range p.Transitions() {
		t := &p.Transitions()[i]
		ends, drops := false, false
		for _, a := range t.Arcs {
			ends = ends || a.Kind == petri.InArc && a.Place == s.replying
			drops = drops || a.Kind == petri.ResetArc && a.Place == s.waiting
		}
		if ends && drops && t.Bump {
			set[int32(i)] = true
		}
	}
	return set
}

// take looks at the marking after an event.
func (l *lanes) take(t *petri.Tracker, e petri.Event) {
	for _, one := range l.list {
		one.take(t, e)
	}
}

func (l *lane) take(t *petri.Tracker, e petri.Event) {
	if l.hit != nil {
		l.note(e)
		return
	}
	note := l.on(t)
	if l.last.Open && l.last.Note == note {
		l.last.To = ms(e.At)
		return
	}
	l.close(e.At)
	if note != "" {
		l.open(e.At, note)
	}
}

// note adds a single event.
func (l *lane) note(e petri.Event) {
	hit := l.hit(e)
	if l.last.Open && e.At > l.end+l.gap {
		l.close(l.end)
	}
	switch {
	case hit && l.last.Open:
		l.last.To = ms(e.At)
		l.end = e.At
	case hit:
		l.open(e.At, "")
		l.end = e.At
	}
}

func (l *lane) open(at time.Duration, note string) {
	l.last = Span{Lane: l.name, N: l.n, From: ms(at), To: ms(at), Open: true, Note: note}
	l.n++
}

func (l *lane) close(at time.Duration) {
	if l.last.Open {
		l.last.To, l.last.Open = ms(at), false
		l.news = append(l.news, l.last)
	}
}

// flush returns the spans that are new or have grown. A note that repeats the name is left out.
func (l *lanes) flush() []Span {
	var list []Span
	for _, one := range l.list {
		news := one.news
		if one.last.Open {
			news = append(news, one.last)
		}
		one.news = nil
		for _, s := range news {
			if s.Note == s.Lane || one.hit == nil && one != l.phase {
				s.Note = ""
			}
			list = append(list, s)
		}
	}
	return list
}
