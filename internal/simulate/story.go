package simulate

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// story is what happened in a call, line by line, with the violations that were seen while it ran.
type story struct {
	lines      []storyLine
	violations []string
	frames     int           // of audio in a row, which make one line
	lastFrame  time.Duration // when the last of them came
}

// storyLine is a line of a story.
type storyLine struct {
	at   time.Duration
	what string
}

// Limits of a story. What exceeds them is dropped.
const (
	storyLinesMax      = 4000
	storyViolationsMax = 5
)

// note adds a line.
func (s *story) note(at time.Duration, format string, args ...any) {
	if n := s.frames; n > 0 {
		s.frames = 0
		s.note(s.lastFrame, "<- %d frames", n)
	}
	if len(s.lines) < storyLinesMax {
		s.lines = append(s.lines, storyLine{at, fmt.Sprintf(format, args...)})
	}
}

// frame adds a frame of audio to the line of those before it.
func (s *story) frame(at time.Duration) {
	s.lastFrame = at
	s.frames++
}

// violation adds something that must not happen.
func (s *story) violation(at time.Duration, format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	s.note(at, "!! %s", what)
	if len(s.violations) < storyViolationsMax {
		s.violations = append(s.violations, fmt.Sprintf("%v: %s", at, what))
	}
}

// report fails the test if a judge saw a violation. It prints all violations, the seed, and the
// stories of the calls that they are about.
func (w *world) report() {
	if len(w.violations) == 0 {
		return
	}
	w.summary.failed.Add(1)
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d violations; again: make sim SEED=%d CALLS=1\n", w.plan.seed, len(w.violations),
		w.plan.seed)
	for _, v := range w.violations {
		fmt.Fprintf(&b, "  %s\n", v)
	}
	fmt.Fprintf(&b, "net: %+v\ngreeting %q, prompts %v, %d tools, closes after %v\n", w.plan.gw.Net, w.plan.gw.Greeting,
		len(w.plan.gw.Prompts), len(w.plan.gw.Tools), w.plan.closes)
	all := strings.Join(w.violations, "\n")
	for _, s := range w.callers {
		if strings.Contains(all, fmt.Sprintf("call %d:", s.plan.n)) {
			s.tell(&b)
		}
	}
	if os.Getenv("VOICEGW_SIM_CALLS") == "" {
		w.t.Error(b.String())
		return
	}
	fmt.Fprintln(os.Stderr, b.String()) // now: the rest may take long
	w.t.Fail()
}

// tell writes the plan and the story of a call.
func (s *caller) tell(b *strings.Builder) {
	p, model := s.plan, s.plan.model
	model.Greeting = nil
	fmt.Fprintf(b, "call %d, after %v: hello %+v\n  model %+v\n  faults: %s\n  model's script: %s\n  peer %+v\n", p.n,
		p.after, p.hello, model, strings.Join(p.faults, ", "), strings.ReplaceAll(p.script, "\n", "; "), p.peer)
	for _, l := range s.line.story.lines {
		fmt.Fprintf(b, "  %10v %s\n", l.at.Round(time.Millisecond), l.what)
	}
	fmt.Fprintf(b, "  %10v closed: %s, %v\n", s.line.over.Round(time.Millisecond), s.line.reason, s.err)
}
