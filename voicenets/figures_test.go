package voicenets

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// TestFigures computes the worst cases of every variant: each is attained, and
// within what the configuration promises.
func TestFigures(t *testing.T) {
	for name, c := range variants() {
		list, err := Figures(context.Background(), c)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		classes := 0
		for _, f := range list {
			if f.Most != f.Limit {
				t.Errorf("%s: %s takes %v at most, and the promise is %v: say what it is", name, f.Name, f.Most, f.Limit)
			}
			if classes += f.Classes; f.Classes > 100 {
				t.Errorf("%s: %d classes for %s", name, f.Classes, f.Name)
			}
			if name == "everything" {
				t.Logf("%-17s %8v  %s", f.Name, f.Most, f.Doc)
			}
		}
		if len(list) < 8 || classes == 0 {
			t.Errorf("%s: %d figures of %d classes", name, len(list), classes)
		}
	}
}

// TestFigureExceeded: a deadline that is not kept is an error.
func TestFigureExceeded(t *testing.T) {
	n, err := Hostile(Config{})
	closed := compile(t, n, err)
	full, err := Config{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range deadlines(full) {
		if d.limit -= time.Millisecond; d.limit < 0 {
			continue // TestFigureOfSlowClear
		}
		m, err := d.part().Model(closed)
		if err != nil {
			t.Fatal(err)
		}
		if f, err := d.measure(context.Background(), m); err == nil {
			t.Errorf("%s within %v, which is too short: %v", d.name, d.limit, f.Most)
		}
	}
}

// TestFigureOfSlowClear: a pause that clears the peer a moment later, or never, is
// no figure of 0.
func TestFigureOfSlowClear(t *testing.T) {
	const soon petri.Place[petri.Unit] = "clear_soon"
	for name, c := range map[string]struct {
		change func(*petri.Net, *petri.Transition)
		want   string
	}{
		"late": {func(n *petri.Net, pause *petri.Transition) {
			pause.Out, pause.Action = petri.And(confirming, TellReply.Is(ReplyPaused), soon), tell(TellReply, ReplyPaused)
			n.Caps = append(n.Caps, caps(1, soon)...)
			n.Transitions = append(n.Transitions, petri.Transition{Name: "clear_late", In: petri.Arcs{soon},
				When: petri.After(50 * time.Millisecond), Out: petri.And(Clear.Is(ClearPlayout)),
				Action: tell(Clear, ClearPlayout)})
		}, "more than 0s"},
		"never": {func(_ *petri.Net, pause *petri.Transition) {
			pause.Out, pause.Action = petri.And(confirming, TellReply.Is(ReplyPaused)), tell(TellReply, ReplyPaused)
		}, "more than 0s"},
	} {
		turns := func(config Config) *petri.Net {
			n := manualTurns(config)
			i := slices.IndexFunc(n.Transitions, func(t petri.Transition) bool { return t.Name == "pause_reply" })
			c.change(n, &n.Transitions[i])
			return n
		}
		_, err := Figures(context.Background(), Config{Parts: map[Part]func(Config) *petri.Net{PartTurns: turns}})
		if err == nil || !strings.Contains(err.Error(), "barge-in to clear") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTimingsRefused: timings that leave a stage of recovery no time are
// refused with the story of what happens.
func TestTimingsRefused(t *testing.T) {
	for _, c := range []struct {
		config Config
		want   []string
	}{
		{Config{ReplyDeadline: 3 * time.Second}, []string{"asked again", "reach_deadline comes first", "type_when_quiet"}},
		{Config{ReplyDeadline: 10 * time.Second}, []string{"nudge", "renew_link", "reach_deadline"}},
		{Config{NudgeAfter: 40 * time.Second}, []string{"reach_deadline comes first"}},
		{Config{ToolSlots: 1, Prompts: Prompts(0).With(Filler), FillerAfter: 20 * time.Second},
			[]string{"filler", "time_out_call_0 comes first", "start_call_0"}},
	} {
		_, err := Prove(context.Background(), c.config, nil)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v does not tell of %s", c.config, err, want)
			}
		}
	}
}

// TestEveryTimerWaitsAsConfigured: no timer of a session is left out of what is
// proved of waits, but those of a turn that lingers, which has three waits.
func TestEveryTimerWaitsAsConfigured(t *testing.T) {
	for name, c := range variants() {
		full, err := c.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		stated := map[string]bool{}
		for _, w := range waits(full) {
			stated[w.transition] = true
		}
		n, err := Session(c)
		for _, tr := range compile(t, n, err).Transitions() {
			if last := lastPart(tr.Name); !tr.When.AtOnce() && !stated[last] {
				t.Errorf("%s: nothing says how long %s waits, %v", name, tr.Name, tr.When)
			}
		}
	}
}

// TestTimingsShareCertificates: slices do not depend on how long timers wait, and
// do on how many frames may be under way.
func TestTimingsShareCertificates(t *testing.T) {
	slicesOf := func(c Config) (ids []string) {
		n, err := Session(c)
		if err != nil {
			t.Fatal(err)
		}
		o, err := obligationsOf(n, c)
		if err != nil {
			t.Fatal(err)
		}
		k := &proving{obligations: o}
		if err := k.layOut(); err != nil {
			t.Fatal(err)
		}
		for _, s := range k.slices {
			ids = append(ids, s.name())
		}
		return ids
	}
	usual := slicesOf(Config{RepromptAfter: 5 * time.Second})
	late, err := Config{RepromptAfter: 9 * time.Second, PreRollFrames: 3}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range late.times() {
		*f.v += 20 * time.Millisecond
	}
	for i := range late.Backoff {
		late.Backoff[i] += 20 * time.Millisecond
	}
	if other := slicesOf(late); !slices.Equal(usual, other) {
		t.Errorf("other timings have slices of their own:\n%q\n%q", usual, other)
	}
	for name, c := range map[string]Config{"budget": {BudgetFrames: 3}, "length of a reply": {ReplyFramesMax: 500}} {
		if c.RepromptAfter = 5 * time.Second; slices.Equal(usual, slicesOf(c)) {
			t.Errorf("another %s has the same slices", name)
		}
	}
}
