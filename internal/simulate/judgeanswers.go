package simulate

import (
	"slices"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// judgeAnswers wants every question to be answered that the net took for a turn of the caller's.
func (w *world) judgeAnswers(s *caller) {
	for _, q := range s.asked {
		began := s.trace.turnIn(s.line.began.Add(q.from), s.line.began.Add(q.to)).Sub(s.line.began)
		if began < 0 {
			began = s.trace.turnIn(s.line.began.Add(q.to), s.line.began.Add(q.to+time.Second)).Sub(s.line.began)
		}
		w.summary.asked.Add(1)
		switch {
		case began < 0:
			w.summary.voided.Add(1)
			masked := s.line.answeredIn(q.from, q.from+confirmedWithin)
			if s.plan.mustBeHeard(&w.plan.gw) && !q.over && !q.muted && !masked {
				w.violationOf(s, "what was said from %v to %v was not heard", q.from, q.to)
			}
		case !q.over && !s.line.answeredIn(began, q.to+answerMax):
			w.violationOf(s, "what was said from %v to %v was not answered", q.from, q.to)
		}
	}
}

// confirmedWithin is how much of a question the detector needs to confirm speech. If a reply begins
// before, the echo guard may take the question for its echo: it does not know the room yet.
const confirmedWithin = 600 * time.Millisecond

// mustBeHeard reports whether a turn begins whenever this caller asks something. A question over a
// reply that cannot be interrupted may be over before it.
func (p *callPlan) mustBeHeard(cfg *voicegw.Config) bool {
	_, asks := cfg.Prompts[voicenets.AskConsent]
	_, notifies := cfg.Prompts[voicenets.Notify]
	firm := cfg.Net.GreetingFirm || asks || notifies
	return p.good && p.hello.Detection != transport.DetectionModelVAD && !p.hello.HalfDuplex && !firm
}

// turnIn is when the last turn of the caller's began between two times, or the zero time.
func (t *trace) turnIn(from, to time.Time) (began time.Time) {
	for _, at := range t.turns {
		if !at.Before(from) && !at.After(to) {
			began = at
		}
	}
	return began
}

// answeredIn reports whether an answer came between two times.
func (l *line) answeredIn(from, to time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.answers, func(at time.Duration) bool { return at >= from && at <= to })
}
