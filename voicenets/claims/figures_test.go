package claims

import (
	"context"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

// TestFigures computes the worst cases of every variant: each is attained, and within what the
// configuration promises.
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
	n, err := Hostile(voicenets.Config{})
	closed := compile(t, n, err)
	full, err := voicenets.Config{}.Filled()
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

// TestFigureOfSlowClear: a pause that clears the peer a moment later, or never, is no figure of 0.
func TestFigureOfSlowClear(t *testing.T) {
	const clearSoon petri.Place[petri.Unit] = "clear_soon"
	for name, c := range map[string]struct {
		change func(*petri.Net, *petri.Transition)
		want   string
	}{
		"late": {func(n *petri.Net, pause *petri.Transition) {
			pause.Out, pause.Action = petri.And(voicenets.Confirming, voicenets.NotifyReply.Is(voicenets.ReplyPaused),
				clearSoon),
				notify(voicenets.NotifyReply, voicenets.ReplyPaused)
			n.Caps = append(n.Caps, caps(1, clearSoon)...)
			n.Transitions = append(n.Transitions, petri.Transition{Name: "clear_late", In: petri.Arcs{clearSoon},
				When: petri.After(50 * time.Millisecond), Out: petri.And(voicenets.Clear.Is(voicenets.ClearPlayout)),
				Action: notify(voicenets.Clear, voicenets.ClearPlayout)})
		}, "more than 0s"},
		"never": {func(_ *petri.Net, pause *petri.Transition) {
			pause.Out, pause.Action = petri.And(voicenets.Confirming, voicenets.NotifyReply.Is(voicenets.ReplyPaused)),
				notify(voicenets.NotifyReply, voicenets.ReplyPaused)
		}, "more than 0s"},
	} {
		turns := func(config voicenets.Config) *petri.Net {
			n := own(t, config, voicenets.PartTurns)
			i := slices.IndexFunc(n.Transitions, func(t petri.Transition) bool { return t.Name == "pause_reply" })
			c.change(n, &n.Transitions[i])
			return n
		}
		_,
			err := Figures(context.Background(),
			voicenets.Config{Parts: map[voicenets.Part]func(voicenets.Config) *petri.Net{voicenets.PartTurns: turns}})
		if err == nil || !strings.Contains(err.Error(), "barge-in to clear") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// notify puts out one notice about the current generation.
func notify(place petri.Place[voicenets.Notice], kind voicenets.NoticeKind) func(*petri.Firing) {
	return func(f *petri.Firing) { place.Put(f, voicenets.Notice{Kind: kind, Gen: f.Gen()}) }
}

// own is a part of a session as package voicenets makes it.
func own(t *testing.T, c voicenets.Config, name voicenets.Part) *petri.Net {
	t.Helper()
	c.Parts = nil
	n, err := voicenets.Subnet(c, name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestTimingsRefused: timings that leave a stage of recovery no time are refused with the story of
// what happens.
func TestTimingsRefused(t *testing.T) {
	cases := []struct {
		config voicenets.Config
		want   []string
	}{
		{voicenets.Config{ReplyDeadline: 3 * time.Second}, []string{"asked again", "reach_deadline comes first",
			"type_when_quiet"}},
		{voicenets.Config{ReplyDeadline: 10 * time.Second}, []string{"nudge", "renew_link", "reach_deadline"}},
		{voicenets.Config{NudgeAfter: 40 * time.Second}, []string{"reach_deadline comes first"}},
		{voicenets.Config{ToolSlots: 1, Prompts: voicenets.Prompts(0).With(voicenets.Filler),
			FillerAfter: 20 * time.Second},
			[]string{"filler", "time_out_call_0 comes first", "start_call_0"}},
	}
	list := map[string]voicenets.Config{}
	for i, c := range cases {
		list[strconv.Itoa(i)] = c.config
	}
	proofs := proveAll(t, list)
	for i, c := range cases {
		err := proofs[strconv.Itoa(i)].Err()
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v does not tell of %s", c.config, err, want)
			}
		}
	}
}

// TestEveryTimerWaitsAsConfigured: no timer of a session is left out of what is proved of waits,
// but those of a turn that lingers, which has three waits.
func TestEveryTimerWaitsAsConfigured(t *testing.T) {
	for name, c := range variants() {
		full, err := c.Filled()
		if err != nil {
			t.Fatal(err)
		}
		stated := map[string]bool{}
		for _, w := range waits(full) {
			stated[w.transition] = true
		}
		n, err := voicenets.Session(c)
		for _, tr := range compile(t, n, err).Transitions() {
			if last := lastPart(tr.Name); !tr.When.AtOnce() && !stated[last] {
				t.Errorf("%s: nothing says how long %s waits, %v", name, tr.Name, tr.When)
			}
		}
	}
}

// TestTimingsShareCertificates: slices do not depend on how long timers wait, and do on how many
// frames may be under way.
func TestTimingsShareCertificates(t *testing.T) {
	slicesOf := func(c voicenets.Config) (ids []string) {
		n, err := voicenets.Session(c)
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
	usual := slicesOf(voicenets.Config{RepromptAfter: 5 * time.Second})
	late, err := voicenets.Config{RepromptAfter: 9 * time.Second, PreRollFrames: 3}.Filled()
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range reflect.ValueOf(&late).Elem().Fields() {
		if wait, ok := field.Addr().Interface().(*time.Duration); ok {
			*wait += 20 * time.Millisecond
		}
	}
	for i := range late.Backoff {
		late.Backoff[i] += 20 * time.Millisecond
	}
	if other := slicesOf(late); !slices.Equal(usual, other) {
		t.Errorf("other timings have slices of their own:\n%q\n%q", usual, other)
	}
	for name, c := range map[string]voicenets.Config{"budget": {BudgetFrames: 3},
		"length of a reply": {ReplyFramesMax: 500}} {
		if c.RepromptAfter = 5 * time.Second; slices.Equal(usual, slicesOf(c)) {
			t.Errorf("another %s has the same slices", name)
		}
	}
}
