package petritest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// play plays a story on a new machine. Its lines are "given PLACE[=VALUE]..." and "[TIME] [PLACE
// [VALUE]]".
func (p *Player) play(b *strings.Builder, story string) error {
	p.m = p.prog.Start()
	s := &stage{Player: p, b: b}
	for _, line := range strings.Split(strings.TrimSpace(story), "\n") {
		if err := s.line(line); err != nil {
			return fmt.Errorf("%w, in %q", err, line)
		}
	}
	b.WriteString("rests")
	for slot, n := range p.m.Marking(nil) {
		if n == 1 {
			b.WriteString(" " + p.prog.SlotName(slot))
		} else if n > 1 {
			fmt.Fprintf(b, " %s×%d", p.prog.SlotName(slot), n)
		}
	}
	b.WriteString("\n")
	return nil
}

// stage writes the trace of a story: what fires, and what it puts out.
type stage struct {
	*Player
	b     *strings.Builder
	now   time.Duration
	fired int
}

// line plays one line of a story: it advances time, then injects a token.
func (s *stage) line(line string) error {
	words := strings.Fields(line)
	if len(words) > 0 && words[0] == "given" {
		return s.given(words[1:])
	}
	if len(words) > 0 && strings.ContainsAny(words[0][:1], "0123456789+") {
		at, err := s.time(words[0])
		if err != nil {
			return err
		}
		s.now, words = at, words[1:]
	}
	for n := 0; s.m.Wake() < s.now; n++ {
		if s.report(s.m.Advance(s.m.Wake())); n > eventsMax {
			return fmt.Errorf("petritest: more than %d timers until %v", eventsMax, s.now)
		}
	}
	s.report(s.m.Advance(s.now))
	if len(words) == 0 {
		return nil
	}
	before := s.fired
	switch err := s.put(words[0], strings.Join(words[1:], " ")); {
	case errors.Is(err, petri.ErrFull):
		s.row(s.now, "refused", "")
	case err != nil:
		return err
	case s.fired == before:
		s.row(s.now, "nothing", "")
	}
	return nil
}

// given injects the tokens that a story begins with.
func (s *stage) given(tokens []string) error {
	for _, t := range tokens {
		place, value, _ := strings.Cut(t, "=")
		if err := s.put(place, value); err != nil {
			return err
		}
	}
	return nil
}

// put injects a token and reports what it causes.
func (s *stage) put(place, value string) error {
	tok, err := s.prog.ParseToken(place, value)
	if err != nil {
		return err
	}
	if err := s.m.Inject(s.now, tok); err != nil {
		return err
	}
	s.report(s.m.Advance(s.now))
	return nil
}

// report writes what fired and what each firing put out.
func (s *stage) report(r petri.Ready) {
	out := r.Out
	for _, e := range r.Events {
		outs := ""
		for len(out) > 0 && out[0].Seq() <= e.Seq {
			outs, out = outs+"  "+describe(out[0]), out[1:]
		}
		if e.Kind == petri.Fired {
			s.fired++
			s.row(e.At, s.prog.Transitions()[e.Index].Name, outs)
		}
	}
}

func (s *stage) row(at time.Duration, what, outs string) {
	fmt.Fprintln(s.b, strings.TrimRight(fmt.Sprintf("%-7v %-28s%s", at, what, outs), " "))
}
