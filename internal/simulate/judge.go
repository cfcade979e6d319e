package simulate

import (
	"errors"
	"fmt"

	"go.uber.org/zap/zapcore"

	"github.com/voicegw/voicegw"
)

// A judge holds one invariant of a call that is over.
type judge struct {
	invariant string
	check     func(w *world, s *caller) // reports with w.violationOf
}

// judges is the table of them. What can be seen while a call runs is judged then: judgereplies.go,
// judgespeech.go, judgemodes.go, judgenoticed.go, judgeframes.go, judgetools.go and judgedials.go.
// judgeleaks.go looks at a whole world.
func judges() []judge {
	return []judge{
		{"a call ends in time", (*world).judgeEnd},
		{"peer, record, log, script and net agree on why a call is over", (*world).judgeReason},
		{"every event is a move of the net, within what is proved, and the archive replays", (*world).judgeProofs},
		{"every question is answered", (*world).judgeAnswers},
		{"what the net puts out arrives, and what is sent to it enters", (*world).judgeDelivery},
		{"nothing of the caller's is sent to the model while the input gate is closed", (*world).judgePrivacy},
		{"a reply is cut off only where consent was withdrawn", (*world).judgeCuts},
	}
}

// judge judges all calls of a world that is over.
func (w *world) judge() {
	for _, s := range w.callers {
		if !w.over(s) {
			if w.plan.closes == 0 || !errors.Is(s.err, voicegw.ErrClosed) {
				w.violation("call %d has no record; it ended by %v", s.plan.n, s.err)
			}
			continue
		}
		w.summary.add(s)
		for _, v := range s.line.story.violations {
			w.violationOf(s, "%s", v)
		}
		if s.trace == nil {
			w.violationOf(s, "its net was not watched")
			continue
		}
		for _, j := range judges() {
			j.check(w, s)
		}
	}
	for _, v := range w.plan.tools.violations {
		w.violation("%s", v)
	}
	for _, e := range w.log.all.lines {
		if e.level == zapcore.ErrorLevel && e.what != "tool panicked" {
			w.violation("the log has an error: %s %v", e.what, e.fields)
		}
	}
}

// over gives a caller the record and the trace of its call. It reports false if there is no record.
func (w *world) over(s *caller) bool {
	for _, r := range w.records {
		if r.Labels["n"] == fmt.Sprint(s.plan.n) {
			s.record, s.trace = r, w.traces[r.Call]
			return true
		}
	}
	return false
}

// violation notes something that must not happen in a world.
func (w *world) violation(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.violations = append(w.violations, fmt.Sprintf(format, args...))
}

// violationOf notes something that must not happen in a call.
func (w *world) violationOf(s *caller, format string, args ...any) {
	w.violation("call %d: %s", s.plan.n, fmt.Sprintf(format, args...))
}
