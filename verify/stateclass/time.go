package stateclass

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/walk"
)

// Elapsed is what an observer saw over all runs.
type Elapsed struct {
	// Stopped reports that some run stops the observer. Least and Most are then the shortest and
	// the longest time from a start to the next stop, among those up to the limit; some run attains
	// each.
	Stopped     bool
	Least, Most time.Duration
	// Overdue reports that some run does not stop the observer within the limit: the stop comes
	// later or never, or the final place is marked before it.
	Overdue bool
}

// String is "2ms to 14ms", "2ms to over the limit", "over the limit" or "never started".
func (e Elapsed) String() string {
	switch {
	case e.Overdue && e.Stopped:
		return fmt.Sprintf("%v to over the limit", e.Least)
	case e.Stopped:
		return fmt.Sprintf("%v to %v", e.Least, e.Most)
	case e.Overdue:
		return "over the limit"
	default:
		return "never started"
	}
}

// Measure explores a model with an observer and returns the time from its start events to its stop
// events. The graph is that of the observed model; if it is incomplete, Elapsed holds what was seen
// so far.
func Measure(ctx context.Context, m *netmodel.Model, ob netmodel.Observer, o Options) (Elapsed, *Graph, error) {
	watched, err := m.Observe(ob)
	if err != nil {
		return Elapsed{}, nil, err
	}
	o.watch, o.latest = int32(watched.Count()-1), ob.Latest
	if o.Relax {
		o.Keep = append(append([]string(nil), o.Keep...), watched.Transition(o.watch))
	}
	g, err := Explore(ctx, watched, o)
	if err != nil {
		return Elapsed{}, nil, err
	}
	e := Elapsed{Stopped: g.stopped, Least: time.Duration(g.elapsed.Least), Most: time.Duration(g.elapsed.Most)}
	e.Overdue = g.overdue() >= 0
	return e, g, nil
}

// overdue finds a class in which an observer was not stopped in time, or -1.
func (g *Graph) overdue() int {
	late := g.Model.Slots() - 1
	return g.first(func(m []int32) bool { return m[late] > 0 || g.Model.Ended(m) && m[late-1] > 0 })
}

// measure notes the time from the start of the observer to a firing that stopped it. A row of the
// zone holds what remained of the limit.
func (e *explorer) measure() {
	g := e.g
	if g.Options.watch == 0 || e.from < 0 || e.first.Transition == g.Options.watch {
		return
	}
	c := int32(len(g.of) - 1) // an observer has the last clock
	mk := &g.markings[g.classes[e.from].marking]
	if mk.running[c>>6]>>(c&63)&1 == 0 || !e.w.Stopped {
		return
	}
	limit := g.of[c].latest
	e.saw(Span{limit - e.fire.up[e.rows[c]], limit + e.fire.low[e.rows[c]]}, false)
}

// instant notes a firing that stops the observer at the instant of its start: the observer's token
// arrived after the class, or at the start of the net.
func (e *explorer) instant(s netmodel.Step) {
	m, c := e.g.Model, len(e.g.of)-1
	if m.Stops(s) && e.w.Marking[m.Slots()-2] > 0 && e.w.Kept[c>>6]>>(c&63)&1 == 0 {
		e.saw(Span{}, true)
	}
}

// saw notes the time between a start and the next stop.
func (e *explorer) saw(s Span, instant bool) {
	g := e.g
	if !g.stopped || s.Least < g.elapsed.Least {
		g.quickest, g.instant = origin{int32(e.from), e.first}, instant
	}
	if !g.stopped {
		g.stopped, g.elapsed = true, s
		return
	}
	g.elapsed.Least, g.elapsed.Most = min(g.elapsed.Least, s.Least), max(g.elapsed.Most, s.Most)
}

// Within claims that after each start event a stop event comes within limit, over all timings. The
// verdict's reason states the worst case. It needs every wait that bounds it; relaxed waits can
// make it Unknown, but never wrongly Proved. See netmodel.Observer for events.
func Within(start, stop string, limit time.Duration, o Options) *verify.Property {
	return within(observer(start, stop, limit+1), o)
}

// within is Within for an observer whose limit is the first time that is too late.
func within(ob netmodel.Observer, o Options) *verify.Property {
	start, stop, limit := strings.Join(ob.Start, " "), strings.Join(ob.Stop, " "), ob.Limit-1
	return timed(fmt.Sprintf("%s within %v of %s", stop, limit, start),
		"the longest time from one event to the next other one", claim.Watch{Observer: ob}, o,
		func(ctx context.Context, pass *verify.Pass, o Options) (verify.Verdict, *Graph, error) {
			e, g, err := Measure(ctx, pass.Model(), ob, o)
			switch {
			case err != nil:
				return verify.Verdict{}, nil, err
			case e.Overdue:
				c := g.overdue()
				return g.refute(g.PathTo(c), "not within %v", limit), g, nil
			case g.Complete && !e.Stopped:
				return verify.Vacuous.By(method, g.Classes(), "%s never comes after %s", stop, start), g, nil
			}
			return g.whole("%v", e), g, nil
		})
}

// NotBefore claims that no stop event comes earlier than least after a start event. The time counts
// from the latest start before the stop.
func NotBefore(start, stop string, least time.Duration, o Options) *verify.Property {
	ob := observer(start, stop, least)
	ob.Latest = true
	return timed(fmt.Sprintf("%s not before %v of %s", stop, least, start),
		"the shortest time from one event to the next other one", claim.Watch{Observer: ob, Soonest: true}, o,
		func(ctx context.Context, pass *verify.Pass, o Options) (verify.Verdict, *Graph, error) {
			e, g, err := Measure(ctx, pass.Model(), ob, o)
			switch {
			case err != nil:
				return verify.Verdict{}, nil, err
			case e.Stopped && e.Least < least:
				return g.early(e.Least), g, nil
			case g.Complete && !e.Stopped && !e.Overdue:
				return verify.Vacuous.By(method, g.Classes(), "%s never comes", start), g, nil
			}
			return g.whole("not before %v", least), g, nil
		})
}

// timedCheck checks a claim about time on the graph of the observed net, and returns that graph.
type timedCheck func(context.Context, *verify.Pass, Options) (verify.Verdict, *Graph, error)

// timed makes a property of a claim about time.
func timed(name, doc string, w claim.Watch, o Options, check timedCheck) *verify.Property {
	p := &verify.Property{Name: name, Doc: doc, Requires: []*verify.Property{TimeDiverges(o)}, Claim: w}
	p.Check = second(p, o, check)
	return p
}

// second repeats a check that refutes by a run which the machine does not take: first with ties as
// a machine resolves them, then with all waits if some were relaxed. It certifies what the first
// check proves.
func second(p *verify.Property, o Options, check timedCheck) func(context.Context, *verify.Pass) (verify.Verdict,
	error) {
	return func(ctx context.Context, pass *verify.Pass) (verify.Verdict, error) {
		o := o
		if o.Max == 0 {
			o.Max = pass.Config.Max
		}
		if o.Progress == nil {
			o.Progress = pass.Config.Progress
		}
		v, g, err := check(ctx, pass, o)
		if err != nil || o.TimersFirst {
			return v, err
		}
		if !doubtful(pass, v) {
			return g.certified(ctx, pass, p, v)
		}
		for _, looks := range o.sharper() {
			again, _, err := check(ctx, pass, looks)
			if err != nil || again.Outcome == verify.Refuted && !doubtful(pass, again) {
				return again, err
			}
		}
		return v, nil
	}
}

// early is the refutation by the run that stops the observer soonest.
func (g *Graph) early(least time.Duration) verify.Verdict {
	if g.instant {
		return g.refute(g.pathAcross(int(g.quickest.from), g.quickest.first, g.atOnce), "at once")
	}
	steps := g.pathAcross(int(g.quickest.from), g.quickest.first, stopped)
	v := g.refute(steps, "after %v", least)
	stop := g.stopOf(steps)
	at, ok := walk.ScheduleWithin(g.Model, steps, g.startOf(steps[:stop]), stop, least)
	if v.Witness == nil || !ok {
		return verify.Spurious.By(method, g.Classes(), "after %v, but only where waits are relaxed", least)
	}
	for i := range v.Witness.Firings {
		v.Witness.Firings[i].At = at[i]
	}
	return v
}

// stopped reports whether a chain stopped an observer that was already waiting.
func stopped(w *walk.Walker) bool { return w.Stopped }

// atOnce reports whether a chain starts the observer and stops it again.
func (g *Graph) atOnce(w *walk.Walker) bool {
	started := g.quickest.from < 0 && g.Model.Initial()[g.Model.Slots()-2] > 0
	for _, s := range w.Chain {
		if started && g.Model.Stops(s) {
			return true
		}
		started = started || g.Model.Starts(s)
	}
	return false
}

// stopOf is the firing that stops the observer: the timed one with which the path crosses the last
// edge.
func (g *Graph) stopOf(steps []netmodel.Step) int {
	for i := len(steps) - 1; i >= 0; i-- {
		if steps[i] == g.quickest.first {
			return i
		}
	}
	return len(steps) - 1
}

// startOf is the firing that started an observer which still waits after some steps; -1 for the
// start of the net.
func (g *Graph) startOf(steps []netmodel.Step) int {
	start, waits := -1, g.Model.Initial()[g.Model.Slots()-2] > 0
	for i, s := range steps {
		waits = waits && !g.Model.Stops(s)
		if g.Model.Starts(s) && (g.Options.latest || !waits) {
			start, waits = i, true
		}
	}
	return start
}

// observer reads lists of events, separated by spaces.
func observer(start, stop string, limit time.Duration) netmodel.Observer {
	return netmodel.Observer{Name: "elapsed", Start: strings.Fields(start), Stop: strings.Fields(stop), Limit: limit}
}

// TimeDiverges claims that time can go on forever from every state of the net. Without that, a
// claim about what happens in time would be empty.
//
// A run that waits as long as the net allows fires transitions only at their latest times. Of
// infinitely many such firings some transition has infinitely many. Each comes at least that
// transition's latest time, which is above 0, after the one before. So time exceeds every bound,
// provided that firings at one instant can end: from every class, a class is reachable in which no
// transition must fire at once. Relaxed waits could open such a path, so they are not relaxed if
// some transition must fire at once.
func TimeDiverges(o Options) *verify.Property {
	return &verify.Property{
		Name: "time diverges", Doc: "from every state time can go on for ever",
		Claim: claim.TimeDiverges{},
		Check: func(ctx context.Context, pass *verify.Pass) (verify.Verdict, error) {
			m, o := pass.Model(), o
			if slices.ContainsFunc(m.Timed(), func(t int32) bool { return m.When(t) == petri.Interval{} }) {
				o.Relax, o.Keep = false, nil
			}
			g, err := Of(ctx, pass, o)
			if err != nil {
				return verify.Verdict{}, err
			}
			for _, f := range g.Faults {
				return g.refute(g.pathToFault(f), "%s", walk.Describe(g.Model, f.Fault)), nil
			}
			if c := g.locked(); c >= 0 {
				return g.refute(g.PathTo(c), "time stops here: whatever fires, something must fire at once"), nil
			}
			return g.whole("at most %d firings at one instant", g.Chain), nil
		},
	}
}

// locked finds a class from which no class is reachable in which time may pass; -1 if there is
// none. (A transition must fire at once in a class only where firings interleave.)
func (g *Graph) locked() int {
	if !g.Complete {
		return -1 // it may be reachable from a class that was not expanded
	}
	into := make([][]int32, len(g.classes))
	free := make([]bool, len(g.classes))
	var queue []int32
	for i := range g.classes {
		for _, e := range g.from(i) {
			to := g.rep(e.To)
			into[to] = append(into[to], int32(i))
		}
		if !g.urgent(&g.markings[g.classes[i].marking]) {
			free[i] = true
			queue = append(queue, int32(i))
		}
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, from := range into[i] {
			if !free[from] {
				free[from] = true
				queue = append(queue, from)
			}
		}
	}
	for i := range g.classes {
		if g.classes[i].rep == uint32(i) && !free[i] {
			return i
		}
	}
	return -1
}

// urgent reports whether some clock of a marking must fire at once.
func (g *Graph) urgent(mk *marking) bool {
	return slices.ContainsFunc(mk.clocks, func(c int32) bool { return g.of[c].latest == 0 })
}
