package voicenets

import (
	"context"
	"testing"
	"time"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/stateclass"
)

// TestTimes measures, over all runs of a session in a hostile environment and
// all times at which it may act, how long things take at most.
func TestTimes(t *testing.T) {
	c, err := small(Config{}, 2).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	n, err := Hostile(c)
	prog := compile(t, n, err)
	ends := []string{"session/call/end_call", "session/call/end_longest_call"}
	for _, m := range []struct {
		name  string
		watch verify.Observer
		most  time.Duration
	}{
		{"a pause, until it is confirmed or the reply resumes",
			verify.Observer{Name: "pause", Start: []string{"+confirming"}, Stop: append([]string{"-confirming"}, ends...)},
			c.ConfirmWindow},
		{"the call", verify.Observer{Name: "call", Start: []string{"start"}, Stop: ends}, c.MaxDuration},
	} {
		m.watch.Limit = m.most + time.Millisecond
		e, g, err := stateclass.Measure(context.Background(), verify.NewModel(prog, verify.RunToCompletion), m.watch,
			stateclass.Options{Max: 200_000})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %v (%d classes, complete %v)", m.name, e, g.Classes(), g.Complete)
		if !g.Complete || e.Overdue || !e.Stopped || e.Most != m.most {
			t.Errorf("%s takes %v, complete %v; want at most, and at worst, %v", m.name, e, g.Complete, m.most)
		}
	}
}
