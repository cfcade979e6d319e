package stateclass

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// TestLatency: worst case from barge-in to clear, (5+j) + k(2+j) + (1+j) ms, by one exploration,
// and by an observer in the net with the published classes.
func TestLatency(t *testing.T) {
	classes := map[[2]int]int{{1, 0}: 8, {1, 1}: 8, {1, 3}: 8, {2, 0}: 14, {2, 1}: 14, {2, 3}: 14, {4, 0}: 49, {4,
		1}: 134, {4, 3}: 90,
		{8, 0}: 131, {8, 1}: 428, {8, 3}: 349, {16, 0}: 343, {16, 1}: 1064, {16, 3}: 913}
	for kj, want := range classes {
		k, j := kj[0], kj[1]
		t.Run(fmt.Sprintf("k=%d j=%d", k, j), func(t *testing.T) {
			sup := 6 + 2*k + (k+2)*j
			g := exploreNet(t, latency(k, j, sup+1), netmodel.Interleave, Options{Merge: Equality})
			if g.Classes() != want || satisfies(t, g, "OVERDUE") {
				t.Errorf("%d classes, want %d; overdue %v", g.Classes(), want, satisfies(t, g, "OVERDUE"))
			}
			if g := exploreNet(t, latency(k, j, sup), netmodel.Interleave, Options{}); !satisfies(t, g, "OVERDUE") {
				t.Errorf("not overdue at %d ms", sup)
			}
			e := measured(t, bargeIn(k, j, 25), Options{})
			if e.Most != time.Duration(sup)*time.Millisecond || e.Least != 0 || e.Overdue {
				t.Errorf("measured %v, want 0 to %d ms", e, sup)
			}
		})
	}
}

func measured(t *testing.T, n *petri.Net, o Options) Elapsed {
	t.Helper()
	m := modelOf(t, n, netmodel.Interleave)
	e, _, err := Measure(context.Background(), m, netmodel.Observer{
		Name: "obs", Start: []string{"vad_edge"}, Stop: []string{"flushed"}, Limit: time.Second}, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestLatencyFromTheGraph: with exact playout never more than two chunks are in flight, so the
// bound is not the formula's.
func TestLatencyFromTheGraph(t *testing.T) {
	for _, c := range []struct{ k, played, sup, classes int }{{2, 20, 10, 14}, {4, 20, 10, 14}, {8, 20, 10, 14}, {4, 21,
		14, 113}, {8, 21, 22, 323}} {
		n := bargeIn(c.k, 0, c.played)
		if e := measured(t, n, Options{}); e.Most != time.Duration(c.sup)*time.Millisecond || e.Overdue {
			t.Errorf("k=%d played %d: %v, want %d ms", c.k, c.played, e, c.sup)
		}
		l := latency(c.k, 0, c.sup+1)
		for i := range l.Transitions {
			if l.Transitions[i].Name == "played" {
				l.Transitions[i].When = between(20, c.played)
			}
		}
		if g := exploreNet(t, l, netmodel.Interleave, Options{Merge: Equality}); g.Classes() != c.classes {
			t.Errorf("k=%d played %d: %d classes, want %d", c.k, c.played, g.Classes(), c.classes)
		}
	}
}

func TestTimedProperties(t *testing.T) {
	ms := time.Millisecond
	keyNet := imported("a b c", tr("t0", between(2, 5), "c -> b"), tr("t1", between(0, 3), "b -> c"), tr("t2", between(0,
		1), "a -> c"))
	tie := imported("p", tr("t1", between(2, 3), "p -> q"), tr("t2", between(3, 5), "p -> r"))
	for _, c := range []struct {
		net  *petri.Net
		prop *verify.Property
		want verify.Outcome
		has  string // part of the reason
		run  string
	}{
		{silence(), NotBefore("start", "+REC2", 12000*ms, Options{}), verify.Proved, "", ""},
		{silence(), NotBefore("start", "+REC2", 12001*ms, Options{}), verify.Refuted, "after 12s", "silence1 silence2"},
		{silence(), Within("+REC2", "recover", 50*ms, Options{}), verify.Proved, "0s to 50ms", ""},
		{silence(), Within("+REC2", "recover", 49*ms, Options{}), verify.Refuted, "not within", ""},
		{silence(), Within("silence1", "silence2", time.Hour, Options{}), verify.Refuted, "", ""},
		{silence(), Never("VAD && can(silence1)", Options{}), verify.Proved, "", ""},
		{silence(), DeadlockFree(Options{}), verify.Proved, "", ""},
		{silence(), Fires(Options{}), verify.Proved, "", ""},
		{keyNet, Never("b >= 3", Options{}), verify.Refuted, "b*3", "t2 t0 t1 t0 t0 t1 t0"},
		{keyNet, Reach("b >= 3", Options{Merge: Equality}), verify.Proved, "", "t2 t0 t1 t0 t0"},
		{keyNet, Bounded("b", 3, Options{}), verify.Proved, "", ""},
		{tie, Reach("r", Options{}), verify.Proved, "", "t2"},
		{tie, DeadlockFree(Options{}), verify.Refuted, "q", "t1"},
		{imported("p", tr("t1", between(2, 3), "p -> q"), tr("t2", between(4, 5), "p -> r")), Fires(Options{}),
			verify.Refuted, "t2", ""},
		{imported("p", tr("t1", between(2, 3), "p -> q"), tr("t2", between(4, 5), "p -> r")), Reach("r",
			Options{Relax: true}), verify.Unknown, "time forbids", ""},
		{imported("p", tr("t1", between(2, 3), "p -> q"), tr("t2", between(4, 5), "p -> r")), Never("q && r",
			Options{Relax: true}), verify.Proved, "", ""},
		{imported("p", tr("t1", between(2, 3), "p -> q"), tr("t2", between(4, 5), "p -> r")), Never("r", Options{Relax: true,
			Keep: []string{"t1", "t2"}}), verify.Proved, "", ""},
		{crossing(3), Never("on_1 && open", Options{}), verify.Proved, "", ""},
		{crossing(3), Mutex(Options{}, "open", "closed", "raising", "lowering"), verify.Proved, "", ""},
		{crossing(2), Never("on_1 && !closed", Options{}), verify.Proved, "", ""},
	} {
		t.Run(c.prop.Name, func(t *testing.T) {
			p, err := petri.Compile(c.net)
			if err != nil {
				t.Fatal(err)
			}
			r, err := verify.Run(context.Background(), p, verify.Config{Semantics: netmodel.Interleave}, c.prop)
			if err != nil {
				t.Fatal(err)
			}
			v := r.Results[0]
			if v.Outcome != c.want || !strings.Contains(v.Reason, c.has) {
				t.Fatalf("%s (%s), want %s (%s)", v.Outcome, v.Reason, c.want, c.has)
			}
			if c.run == "" {
				return
			}
			if strings.Contains(c.prop.Name, "not before") && v.Witness.Firings[1].At != 12*time.Second {
				t.Errorf("times %v", v.Witness.Firings)
			}
			var names []string
			for _, f := range v.Witness.Firings {
				names = append(names, f.Name)
			}
			if have := strings.Join(names, " "); have != c.run {
				t.Errorf("witness %q, want %q: %v", have, c.run, v.Witness.Firings)
			}
		})
	}
}

// TestTimeDiverges: a cycle of firings without any wait is found however it is hidden, in either
// reading of [0,0].
func TestTimeDiverges(t *testing.T) {
	zeno := imported("p", tr("go", between(1, 1), "p -> q"), tr("a", petri.Interval{}, "q -> r"), tr("b",
		petri.Interval{}, "r -> q"))
	for _, sem := range []netmodel.Semantics{netmodel.RunToCompletion, netmodel.Interleave} {
		for _, c := range []struct {
			net  *petri.Net
			want verify.Outcome
		}{{zeno, verify.Refuted}, {silence(), verify.Proved}, {crossing(2), verify.Proved}} {
			p, err := petri.Compile(c.net)
			if err != nil {
				t.Fatal(err)
			}
			r, err := verify.Run(context.Background(), p, verify.Config{Semantics: sem}, TimeDiverges(Options{}))
			if err != nil || r.Outcome() != c.want {
				t.Errorf("%v %v: %v", sem, err, r)
			}
		}
	}
}

// TestScale: multiplying every wait leaves every count as it was, and so does the order of
// declaration.
func TestScaleAndOrder(t *testing.T) {
	for _, r := range references() {
		if r.classes > 4000 {
			continue
		}
		scaled, turned := *r.net, *r.net
		scaled.Transitions, turned.Transitions = nil, nil
		for _, tr := range r.net.Transitions {
			turned.Transitions = append([]petri.Transition{tr}, turned.Transitions...)
			tr.When.Earliest *= 1000
			if tr.When.Latest != petri.Forever {
				tr.When.Latest *= 1000
			}
			scaled.Transitions = append(scaled.Transitions, tr)
		}
		for _, n := range []*petri.Net{&scaled, &turned} {
			for _, merge := range []Merge{Equality, Inclusion} {
				want := exploreNet(t, r.net, netmodel.Interleave, Options{Merge: merge})
				g := exploreNet(t, n, netmodel.Interleave, Options{Merge: merge})
				if g.Classes() != want.Classes() || g.Edges() != want.Edges() {
					t.Errorf("%s merge %d: %d classes, %d edges; %d, %d before", r.name, merge, g.Classes(), g.Edges(),
						want.Classes(), want.Edges())
				}
			}
		}
	}
}

func TestCapAndCancel(t *testing.T) {
	g := exploreNet(t, crossing(3), netmodel.Interleave, Options{Merge: Equality, Max: 100})
	if made := len(g.classes); g.Complete || made < 100 || made > 200 {
		t.Errorf("at a cap of 100: complete %v, %d made", g.Complete, made)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Explore(ctx, modelOf(t, crossing(1), netmodel.Interleave), Options{}); err == nil {
		t.Error("no error after cancel")
	}
	long := imported("p", tr("t", petri.After(MaxWait+1), "p -> q"))
	if _, err := Explore(context.Background(), modelOf(t, long, netmodel.Interleave), Options{}); err == nil ||
		!strings.Contains(err.Error(), "t waits") {
		t.Errorf("a wait beyond the limit: %v", err)
	}
}

// TestSharpen: what ignoring time leaves open, time decides.
func TestSharpen(t *testing.T) {
	race := func(slow petri.Interval) *petri.Net {
		return imported("p1 p2 c", tr("fast", between(1, 3), "p1 -> q1"), tr("slow", slow, "p2 -> q2"),
			inhibit(tr("late", between(10, 10), "c -> d"), "q2"))
	}
	for _, c := range []struct {
		slow petri.Interval
		prop *verify.Property
		want verify.Outcome
	}{
		{between(4, 5), verify.Never("q2 && p1"), verify.Proved}, {between(2, 5), verify.Never("q2 && p1"), verify.Refuted},
		{between(4, 5), verify.Never("d"), verify.Proved}, {between(4, 10), verify.Never("d"), verify.Refuted},
		{between(4, 5), verify.DeadlockFree(), verify.Refuted},
	} {
		p, err := petri.Compile(race(c.slow))
		if err != nil {
			t.Fatal(err)
		}
		r, err := verify.Run(context.Background(), p, verify.Config{}, Sharpen(Options{}, c.prop)...)
		if err != nil {
			t.Fatal(err)
		}
		if v := r.Results[0]; v.Outcome != c.want {
			t.Errorf("%s with %v: %s (%s), want %s", c.prop.Name, c.slow, v.Outcome, v.Reason, c.want)
		}
	}
}

// TestPassing: what a frame that waits does in passing counts with time too.
func TestPassing(t *testing.T) {
	send := read(tr("send", petri.Interval{}, "frame ->"), "open")
	shut := tr("shut", petri.Interval{}, "open muting -> closed")
	for _, c := range []struct {
		last []petri.Transition
		want verify.Outcome
	}{{[]petri.Transition{send, shut}, verify.Refuted}, {[]petri.Transition{shut, send}, verify.Proved}} {
		n := imported("closed", append([]petri.Transition{tr("unlock", between(1, 2), "closed -> open muting")},
			c.last...)...)
		n.Env = []petri.Env{{Place: unit("frame"), Policy: petri.Coalesce}}
		p, err := petri.Compile(n)
		if err != nil {
			t.Fatal(err)
		}
		r, err := verify.Run(t.Context(), p, verify.Config{Certify: true}, Never("muting && can(send)", Options{}))
		if err != nil || r.Outcome() != c.want {
			t.Errorf("%v: %v, want %s", err, r, c.want)
		}
	}
}

// TestInstant: a start and a stop in one chain of firings are 0 apart, also where other runs have
// time between them.
func TestInstant(t *testing.T) {
	ms := time.Millisecond
	n := imported("idle slow",
		tr("begin", petri.Anytime(), "idle -> busy"),
		tr("hurry", petri.Anytime(), "slow -> quick"),
		read(tr("skip", petri.Interval{}, "busy -> idle"), "quick"),
		tr("finish", petri.After(10*ms), "busy -> idle"))
	m := modelOf(t, n, netmodel.RunToCompletion)
	for _, start := range []string{"begin", "+busy"} {
		e, g, err := Measure(context.Background(), m, netmodel.Observer{Name: "o", Start: []string{start},
			Stop: []string{"+idle"}, Limit: 20 * ms}, Options{})
		if err != nil || !g.Complete || !e.Stopped || e.Least != 0 || e.Most != 10*ms {
			t.Errorf("%s: %v, %v", start, e, err)
		}
	}
	r, err := verify.Run(context.Background(), m.Program(), verify.Config{},
		NotBefore("begin", "+idle", ms, Options{}), Within("begin", "+idle", 10*ms, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if v := r.Results[0]; v.Outcome != verify.Refuted || !v.Witness.Replayed ||
		!strings.Contains(v.Witness.Story, "skip") {
		t.Errorf("%s: %s", v.Outcome, v.Reason)
	}
	if v := r.Results[1]; v.Outcome != verify.Proved {
		t.Errorf("%s: %s", v.Outcome, v.Reason)
	}
}

// TestStopAndStart: a firing that stops the observer and starts it anew stops it, also where it
// ends the run.
func TestStopAndStart(t *testing.T) {
	ms := time.Millisecond
	for _, final := range []bool{false, true} {
		n := imported("p", tr("first", petri.After(5*ms), "p -> q"), tr("second", petri.After(2*ms), "q -> end"))
		if final {
			n.Final = unit("end")
		}
		p, err := petri.Compile(n)
		if err != nil {
			t.Fatal(err)
		}
		r, err := verify.Run(t.Context(), p, verify.Config{}, NotBefore("first second", "second", 3*ms, Options{}),
			NotBefore("first second", "second", 2*ms, Options{}), Within("first second", "second", 2*ms, Options{}))
		if err != nil {
			t.Fatal(err)
		}
		v := r.Results[0]
		if v.Outcome != verify.Refuted || !v.Witness.Replayed || v.Witness.Firings[1].At != 7*ms {
			t.Errorf("final %v: %s (%s)", final, v.Outcome, v.Reason)
		}
		for _, v := range r.Results[1:] {
			// What starts with the last firing is followed by nothing.
			want := verify.Proved
			if strings.Contains(v.Property.Name, "within") {
				want = verify.Refuted
			}
			if v.Outcome != want {
				t.Errorf("final %v: %s: %s (%s)", final, v.Property.Name, v.Outcome, v.Reason)
			}
		}
	}
}

// TestNotBeforeEach: the time to a stop counts from each start, not from the first of several
// alone.
func TestNotBeforeEach(t *testing.T) {
	ms := time.Millisecond
	n := imported("p z", tr("first", petri.After(5*ms), "p -> q"), tr("again", petri.After(8*ms), "z -> y"),
		tr("stop", petri.After(5*ms), "q -> r"))
	p, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	r, err := verify.Run(t.Context(), p, verify.Config{Certify: true}, NotBefore("first again", "stop", 3*ms, Options{}),
		NotBefore("first again", "stop", 2*ms, Options{}), NotBefore("first", "stop", 5*ms, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []verify.Outcome{verify.Refuted, verify.Proved, verify.Proved} {
		if v := r.Results[i]; v.Outcome != want || want == verify.Proved && v.Certificate == nil {
			t.Errorf("%s: %s: %s", v.Property.Name, v.Outcome, v.Reason)
		}
	}
	story := r.Results[0].Witness.Story
	if !strings.Contains(story, "      10ms stop: ") || strings.Contains(story, "elapsed") {
		t.Errorf("no clock, or an observer's places:\n%s", story)
	}
}

// TestRelaxedTooLate: a stop that comes too soon only where a wait was relaxed refutes nothing.
func TestRelaxedTooLate(t *testing.T) {
	ms := time.Millisecond
	n := imported("p", tr("begin", petri.After(5*ms), "p -> q"), tr("stop", petri.After(5*ms), "q -> r"))
	p, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	r, err := verify.Run(t.Context(), p, verify.Config{}, NotBefore("begin", "stop", 4*ms, Options{Relax: true}),
		Within("begin", "stop", 6*ms, Options{Relax: true}))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range r.Results {
		if v.Outcome == verify.Refuted {
			t.Errorf("%s: %s (%s)\n%s", v.Property.Name, v.Outcome, v.Reason, v.Witness.Story)
		}
	}
}

// TestTimeLocked: where time cannot pass nothing is proved of what it brings; a cycle without waits
// that can be left locks nothing.
func TestTimeLocked(t *testing.T) {
	locked := []petri.Transition{tr("a", petri.Interval{}, "p -> q"), tr("b", petri.Interval{}, "q -> p"),
		tr("late", between(1000, 1000), "z -> end")}
	left := append(locked[:3:3], tr("leave", petri.Interval{}, "p -> "))
	for _, c := range []struct {
		ts   []petri.Transition
		prop *verify.Property
		want verify.Outcome
	}{
		{locked, Never("end", Options{}), verify.Unknown},
		{locked, Bounded("end", 0, Options{}), verify.Unknown},
		{locked, Never("p && q", Options{Relax: true}), verify.Unknown},
		{locked, TimeDiverges(Options{}), verify.Refuted},
		{left, TimeDiverges(Options{}), verify.Proved},
		{left, Never("end", Options{}), verify.Refuted},
		{left, Never("p && q", Options{}), verify.Proved},
	} {
		p, err := petri.Compile(imported("p z", c.ts...))
		if err != nil {
			t.Fatal(err)
		}
		r, err := verify.Run(t.Context(), p, verify.Config{Semantics: netmodel.Interleave}, c.prop)
		if err != nil {
			t.Fatal(err)
		}
		if v := r.Results[0]; v.Outcome != c.want || c.want == verify.Unknown && v.Cause != verify.Unproved {
			t.Errorf("%d transitions: %s: %s (%s)", len(c.ts), c.prop.Name, v.Outcome, v.Reason)
		}
	}
}
