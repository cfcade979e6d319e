//go:build !race

package voicegw_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap/zapcore"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/voicenets"
)

// simWatched is the least number of proved properties that a monitor of a session must be able to see.
const simWatched = 12

// properties are the proved ones that can be seen in an open session, once for each net. w.mu is held.
func (w *simWorld) properties(prog *petri.Program) []*verify.Property {
	if list, ok := w.watched[prog]; ok {
		return list
	}
	c := w.plan.gw.Net
	c.Greeting, c.HalfDuplex, c.Detection = w.plan.gw.Greeting != "", false, voicenets.Server
	for _, t := range prog.Transitions() {
		switch t.Name[strings.LastIndexByte(t.Name, '/')+1:] {
		case "start_turn":
			c.Detection = voicenets.Manual
		case "drop_frame_over_reply":
			c.HalfDuplex = true
		}
	}
	for p := range w.plan.gw.Prompts {
		c.Prompts = c.Prompts.With(p)
	}
	if len(w.plan.gw.Tools) > 0 && c.ToolSlots == 0 {
		c.ToolSlots = 4
	}
	w.admitted[prog] = admitted(c)
	var seen []*verify.Property
	model := verify.NewModel(prog, verify.RunToCompletion)
	for _, part := range voicenets.Proofs(c, prog) {
		for _, p := range part.Props {
			if p.Bad == nil {
				continue
			}
			if _, err := p.Bad(model); err == nil { // it does not speak of the automata around a session
				seen = append(seen, p)
			}
		}
	}
	w.watched[prog] = seen
	return seen
}

// judge looks at all calls of a world that is over.
func (w *simWorld) judge() {
	for _, s := range w.callers {
		record, ok := w.record(s)
		if !ok {
			if w.plan.closes == 0 || !errors.Is(s.err, voicegw.ErrClosed) {
				w.wrong("call %d has no record; it ended by %v", s.plan.n, s.err)
			}
			continue
		}
		w.sums.calls.Add(1)
		w.sums.talked.Add(int64(record.Duration))
		w.sums.heard.Add(int64(s.mic.heard))
		w.sums.called.Add(int64(s.model.called))
		w.sums.replied.Add(int64(s.model.replied))
		w.judgeEnd(s, record)
		if seen := w.seen[record.Call]; seen == nil {
			w.wrongOf(s, "its net was not watched")
		} else {
			w.judgeNet(s, seen)
			w.judgeReason(s, seen, record)
			w.judgeAnswers(s, seen)
			w.judgeCarried(s, seen, record)
			w.judgePrivate(s, seen)
			w.judgeCut(s, seen)
		}
	}
	for _, wrong := range w.plan.box.wrongs {
		w.wrong("%s", wrong)
	}
	for _, e := range w.log.book.lines {
		if e.level == zapcore.ErrorLevel && e.what != "a tool panicked" {
			w.wrong("the log has an error: %s %v", e.what, e.fields)
		}
	}
}

func (w *simWorld) record(s *simCaller) (voicegw.Record, bool) {
	for _, r := range w.records {
		if r.Labels["n"] == fmt.Sprint(s.plan.n) {
			return r, true
		}
	}
	return voicegw.Record{}, false
}

func (w *simWorld) wrongOf(s *simCaller, format string, args ...any) {
	w.wrong("call %d: %s", s.plan.n, fmt.Sprintf(format, args...))
}

// judgeEnd wants a call to end in time, and peer, log and record to know why.
func (w *simWorld) judgeEnd(s *simCaller, r voicegw.Record) {
	s.line.mu.Lock()
	defer s.line.mu.Unlock()
	for _, wrong := range s.line.ear.wrongs {
		w.wrongOf(s, "%s", wrong)
	}
	told := s.line.reason
	if told == transport.ReasonNone || told == transport.ReasonInternal || r.Reason != told.String() {
		w.wrongOf(s, "the peer was told %s, the record says %s: %v", told, r.Reason, s.err)
	}
	tied := told == transport.ReasonMaxDuration && s.line.over == s.hungUp && s.line.over == w.plan.gw.Net.MaxDuration
	if want := s.plan.reason(); s.hungUp > 0 && s.line.over >= s.hungUp && want != told && want != transport.ReasonNone &&
		s.plan.manner.deaf == 0 && w.plan.closes == 0 && !tied {
		w.wrongOf(s, "it ended by %s, and should by %s", told, want)
	}
	logged := 0
	for _, e := range w.log.book.lines {
		if e.what == "call ended" && e.fields["call"] == r.Call && e.fields["reason"] == r.Reason {
			logged++
		}
	}
	if logged != 1 {
		w.wrongOf(s, "the log tells %d times that the call ended by %s", logged, r.Reason)
	}
	if late := s.line.over - s.hungUp; s.hungUp > 0 && late > simEndMax && s.plan.manner.deaf == 0 {
		w.wrongOf(s, "it ended %v after it was hung up", late)
	}
	if late := s.line.ear.sounded - s.hungUp; s.hungUp > 0 && late > simTailMax && s.plan.endsAtOnce() {
		w.wrongOf(s, "speech came %v after it was hung up", late)
	}
	if late := s.ended - s.line.over; late > toolDeaf+time.Second {
		w.wrongOf(s, "its line was free %v after its end", late)
	}
}

// judgeReason wants a call that its net ended to be over for the net's reason, unless somebody else ended it at that
// moment.
func (w *simWorld) judgeReason(s *simCaller, seen *simSeen, r voicegw.Record) {
	gone := s.line.reason == transport.ReasonPeerLost || s.line.reason == transport.ReasonPeerStalled
	if why := seen.ends.ended; why != "" && why != r.Reason && s.hungUp == 0 && w.plan.closes == 0 && !gone {
		w.wrongOf(s, "its net ended it by %s, and the record says %s", why, r.Reason)
	}
}

// simTailMax is how long after its end speech of a call may come.
const simTailMax = 50 * time.Millisecond

// endsAtOnce reports whether a call is ended by somebody who does not want to hear the rest.
func (p *simCallPlan) endsAtOnce() bool { return p.steps[len(p.steps)-1].do != simHandOff }

// reason is why a call ends whose script comes to its end, if that is sure.
func (p *simCallPlan) reason() transport.Reason {
	return map[simVerb]transport.Reason{simBye: transport.ReasonCallerHungUp, simBreak: transport.ReasonPeerLost,
		simBreach: transport.ReasonBadJSON, simHangUp: transport.ReasonDone}[p.steps[len(p.steps)-1].do]
}

// judgeNet wants the net to have done what it can, within what is proved, and the record of it to replay.
func (w *simWorld) judgeNet(s *simCaller, seen *simSeen) {
	if seen.monitor == nil {
		return
	}
	w.sums.events.Add(int64(seen.monitor.Events()))
	if seen.foreign != "" {
		w.wrongOf(s, "%s was injected, and the environment of the proofs has no such token", seen.foreign)
	}
	err := seen.monitor.End()
	if seen.broken != nil {
		w.wrongOf(s, "%v\n%s", seen.broken, seen.broken.Story)
	} else if err != nil {
		w.wrongOf(s, "%v", err)
	}
	if !seen.taped {
		return
	}
	if n, err := event.Replay(seen.prog, bytes.NewReader(seen.tape.Bytes())); err != nil || n != seen.monitor.Events() {
		w.wrongOf(s, "of %d events %d replayed: %v", seen.monitor.Events(), n, err)
	}
}

// judgeAnswers wants every question to be answered that the net took for a turn of the caller's.
func (w *simWorld) judgeAnswers(s *simCaller, seen *simSeen) {
	for _, ask := range s.asked {
		began := seen.turnIn(s.line.began.Add(ask.from), s.line.began.Add(ask.to)).Sub(s.line.began)
		if began < 0 {
			began = seen.turnIn(s.line.began.Add(ask.to), s.line.began.Add(ask.to+time.Second)).Sub(s.line.began)
		}
		w.sums.asked.Add(1)
		switch {
		case began < 0:
			w.sums.voided.Add(1)
			masked := s.line.answeredIn(ask.from, ask.from+simConfirmed)
			if s.plan.mustBeHeard(&w.plan.gw) && !ask.over && !ask.shut && !masked {
				w.wrongOf(s, "what was said from %v to %v was not heard", ask.from, ask.to)
			}
		case !ask.over && !s.line.answeredIn(began, ask.to+simAnswerMax):
			w.wrongOf(s, "what was said from %v to %v was not answered", ask.from, ask.to)
		}
	}
}

// simConfirmed is how much of a question the detector needs to be sure of it. A reply that begins before that may
// explain what the microphone hears: the echo guard does not know the room yet.
const simConfirmed = 600 * time.Millisecond

// mustBeHeard reports whether a turn begins whenever this caller asks something. What is said over a reply that must be
// heard, and is over before it, is not.
func (p *simCallPlan) mustBeHeard(cfg *voicegw.Config) bool {
	_, asks := cfg.Prompts[voicenets.AskConsent]
	_, notifies := cfg.Prompts[voicenets.Notify]
	firm := cfg.Net.GreetingFirm || asks || notifies
	return p.good && p.hello.Detection != transport.DetectionServer && !p.hello.HalfDuplex && !firm
}

// turnIn is when the last turn of the caller's began that began from one time to another.
func (s *simSeen) turnIn(from, to time.Time) (began time.Time) {
	for _, at := range s.turns {
		if !at.Before(from) && !at.After(to) {
			began = at
		}
	}
	return began
}

// answeredIn reports whether an answer came from one time to another.
func (l *simLine) answeredIn(from, to time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.ear.answers, func(at time.Duration) bool { return at >= from && at <= to })
}

// tell fails the test if anything was wrong, and says how to see it again.
func (w *simWorld) tell() {
	w.judge()
	if len(w.wrongs) == 0 {
		return
	}
	w.sums.failed.Add(1)
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d things are wrong; again: make sim SEED=%d CALLS=1\n", w.plan.seed,
		len(w.wrongs), w.plan.seed)
	for _, wrong := range w.wrongs {
		fmt.Fprintf(&b, "  %s\n", wrong)
	}
	fmt.Fprintf(&b, "net: %+v\ngreeting %q, prompts %v, %d tools, closes after %v\n", w.plan.gw.Net, w.plan.gw.Greeting,
		len(w.plan.gw.Prompts), len(w.plan.gw.Tools), w.plan.closes)
	for _, s := range w.callers {
		if wrongs := strings.Join(w.wrongs, "\n"); strings.Contains(wrongs, fmt.Sprintf("call %d:", s.plan.n)) {
			s.story(&b)
		}
	}
	if os.Getenv("VOICEGW_SIM_CALLS") == "" {
		w.t.Error(b.String())
		return
	}
	fmt.Fprintln(os.Stderr, b.String()) // now: the rest may take long
	w.t.Fail()
}

// story tells a call.
func (s *simCaller) story(b *strings.Builder) {
	p, model := s.plan, s.plan.model
	model.Greeting = nil
	fmt.Fprintf(b, "call %d, after %v: hello %+v\n  model %+v\n  faults: %s\n  manner %+v\n", p.n, p.after, p.hello,
		model, strings.ReplaceAll(p.faults, "\n", "; "), p.manner)
	for _, h := range s.line.ear.log {
		fmt.Fprintf(b, "  %10v %s\n", h.at.Round(time.Millisecond), h.what)
	}
	fmt.Fprintf(b, "  %10v closed: %s, %v\n", s.line.over.Round(time.Millisecond), s.line.reason, s.err)
}
