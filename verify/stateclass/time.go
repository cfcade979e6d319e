package stateclass

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// Elapsed is what an observer saw over all runs.
type Elapsed struct {
	// Stopped reports that some run stops the observer. Least and Most are
	// then the shortest and the longest time, each attained by some run, from
	// a start to the next stop, of those that are at most the limit.
	Stopped     bool
	Least, Most time.Duration
	// Overdue reports that some run does not stop it within the limit: it takes
	// longer, never happens, or the final place is marked before.
	Overdue bool
}

// String is "2ms to 14ms", "2ms to over the limit" or "never".
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

// Measure explores a model with an observer and returns how long it takes from
// its start events to its stop events. The graph is that of the observed model;
// if it is not complete, Elapsed is what was seen so far.
func Measure(ctx context.Context, m *verify.Model, ob verify.Observer, o Options) (Elapsed, *Graph, error) {
	watched, err := m.Observe(ob)
	if err != nil {
		return Elapsed{}, nil, err
	}
	o.watch = int32(watched.Transitions() - 1)
	if o.Relax {
		o.Keep = append(append([]string(nil), o.Keep...), watched.Transition(o.watch))
	}
	g, err := Explore(ctx, watched, o)
	if err != nil {
		return Elapsed{}, nil, err
	}
	e := Elapsed{Stopped: g.stopped, Least: time.Duration(g.elapsed.Least), Most: time.Duration(g.elapsed.Most)}
	e.Overdue = g.find(g.overdue(ob)) >= 0
	return e, g, nil
}

// overdue is the condition that an observer was not stopped in time.
func (g *Graph) overdue(ob verify.Observer) *verify.Cond {
	e, err := verify.ParseExpr(fmt.Sprintf("%q >= 1 || ended && %q >= 1", ob.Name+"_overdue", ob.Name))
	if err != nil {
		panic(err)
	}
	c, err := e.Bind(g.Model)
	if err != nil {
		panic(err)
	}
	return c
}

// measure notes the time from the start of the observer to a firing that
// stopped it: what remained of the limit is a row of the zone.
func (e *explorer) measure() {
	g := e.g
	if g.Options.watch == 0 || e.from < 0 || e.first.Transition == g.Options.watch {
		return
	}
	c := int32(len(g.of) - 1) // the clock of an observer is the last
	mk := &g.markings[g.classes[e.from].marking]
	if mk.running[c>>6]>>(c&63)&1 == 0 || e.w.Kept[c>>6]>>(c&63)&1 == 1 || g.Model.Ended(e.w.Marking) && !e.stops() {
		return
	}
	limit := g.of[c].latest
	least, most := limit-e.fire.up[e.rows[c]], limit+e.fire.low[e.rows[c]]
	if !g.stopped || least < g.elapsed.Least {
		g.quickest = origin{int32(e.from), e.first}
	}
	if !g.stopped {
		g.stopped, g.elapsed = true, Span{least, most}
		return
	}
	g.elapsed.Least, g.elapsed.Most = min(g.elapsed.Least, least), max(g.elapsed.Most, most)
}

// stops reports whether the observer's place is empty: it was stopped, not cut
// off by the end of the run.
func (e *explorer) stops() bool { return e.w.Marking[e.g.Model.Slots()-2] == 0 }

// Within says that after each start event a stop event comes within limit, over
// all timings: the worst case, which the reason states. It needs every wait
// that bounds it; relaxed ones can make it Unknown, never wrongly Proved. See
// verify.Observer for events.
func Within(start, stop string, limit time.Duration, o Options) *verify.Property {
	return &verify.Property{
		Name:     fmt.Sprintf("%s within %v of %s", stop, limit, start),
		Doc:      "the longest time from one event to the next other one",
		Requires: []*verify.Property{TimeDiverges(o)},
		Check: func(ctx context.Context, pass *verify.Pass) (verify.Verdict, error) {
			ob := observer(start, stop, limit+1)
			e, g, err := Measure(ctx, pass.Model(), ob, o)
			switch {
			case err != nil:
				return verify.Verdict{}, err
			case e.Overdue:
				c := g.find(g.overdue(ob))
				return g.refute(g.PathTo(c), "not within %v", limit), nil
			case g.Complete && !e.Stopped:
				return verify.Doubt(method, verify.Vacuous, g.Classes(), "%s never comes after %s", stop, start), nil
			}
			return g.whole("%v", e), nil
		},
	}
}

// NotBefore says that after each start event no stop event comes earlier than
// least.
func NotBefore(start, stop string, least time.Duration, o Options) *verify.Property {
	return &verify.Property{
		Name:     fmt.Sprintf("%s not before %v of %s", stop, least, start),
		Doc:      "the shortest time from one event to the next other one",
		Requires: []*verify.Property{TimeDiverges(o)},
		Check: func(ctx context.Context, pass *verify.Pass) (verify.Verdict, error) {
			e, g, err := Measure(ctx, pass.Model(), observer(start, stop, least), o)
			switch {
			case err != nil:
				return verify.Verdict{}, err
			case e.Stopped && e.Least < least:
				return g.early(e.Least), nil
			case g.Complete && !e.Stopped && !e.Overdue:
				return verify.Doubt(method, verify.Vacuous, g.Classes(), "%s never comes", start), nil
			}
			return g.whole("not before %v", least), nil
		},
	}
}

// early is the refutation by the run that stops the observer soonest.
func (g *Graph) early(least time.Duration) verify.Verdict {
	steps := g.pathAcross(int(g.quickest.from), g.quickest.first, func(w *verify.Walker) bool {
		return w.Marking[g.Model.Slots()-2] == 0
	})
	v := g.refute(steps, "after %v", least)
	stop := g.stopOf(steps)
	at, ok := g.Model.ScheduleWithin(steps, g.startOf(steps[:stop+1]), stop, least)
	if v.Witness == nil || !ok {
		return v
	}
	for i := range v.Witness.Firings {
		v.Witness.Firings[i].At = at[i]
	}
	return v
}

// stopOf is the firing that stops the observer: the timed one at which the path
// crosses the last edge.
func (g *Graph) stopOf(steps []verify.Step) int {
	for i := len(steps) - 1; i >= 0; i-- {
		if steps[i] == g.quickest.first {
			return i
		}
	}
	return len(steps) - 1
}

// startOf is the firing that started the observer last; -1 for the start.
func (g *Graph) startOf(steps []verify.Step) int {
	slot := g.Model.Slots() - 2
	start := -1
	was := g.Model.Initial()[slot]
	g.Model.Along(steps, func(i int, marking []int32) {
		if marking[slot] > was {
			start = i
		}
		was = marking[slot]
	})
	return start
}

// observer reads lists of events, separated by spaces.
func observer(start, stop string, limit time.Duration) verify.Observer {
	return verify.Observer{Name: "elapsed", Start: strings.Fields(start), Stop: strings.Fields(stop), Limit: limit}
}

// TimeDiverges says that no state of the net forces infinitely many firings
// within a finite time, without which a claim about time would be empty.
//
// Whoever waits as long as the net allows fires transitions at their latest
// times only. Of infinitely many such firings some transition has infinitely
// many, each at least its latest time, which is above 0, after the one before.
// So time passes all bounds, provided that the firings at each instant end.
func TimeDiverges(o Options) *verify.Property {
	return &verify.Property{
		Name: "time diverges", Doc: "the net never has to fire for ever within a finite time",
		Check: func(ctx context.Context, pass *verify.Pass) (verify.Verdict, error) {
			g, err := Of(ctx, pass, o)
			if err != nil {
				return verify.Verdict{}, err
			}
			for _, f := range g.Faults {
				return g.refute(g.pathToFault(f), "%s", g.Model.Describe(f.Fault)), nil
			}
			if c := g.instantCycle(); c >= 0 {
				return g.refute(g.PathTo(c), "firings at one instant repeat for ever from here"), nil
			}
			return g.whole("at most %d firings at one instant", g.Chain), nil
		},
	}
}

// instantCycle finds a class on a cycle of firings of interval [0,0], which
// exists only where those interleave; -1 if there is none.
func (g *Graph) instantCycle() int {
	state := make([]uint8, len(g.classes)) // 1: on the stack, 2: done
	type frame struct{ class, edge int }
	for root := range g.classes {
		if state[root] != 0 {
			continue
		}
		stack := []frame{{root, 0}}
		state[root] = 1
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			edges := g.From(f.class)
			if f.edge == len(edges) {
				state[f.class] = 2
				stack = stack[:len(stack)-1]
				continue
			}
			e := edges[f.edge]
			f.edge++
			if g.Model.When(e.Step.Transition) != (petri.Interval{}) {
				continue
			}
			switch to := int(g.Rep(e.To)); state[to] {
			case 0:
				state[to] = 1
				stack = append(stack, frame{to, 0})
			case 1:
				return to
			}
		}
	}
	return -1
}
