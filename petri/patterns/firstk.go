package patterns

import (
	"fmt"
	"slices"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// FirstKPorts are the ports of a FirstK.
type FirstKPorts[J any, R petri.Keyed] struct {
	Request petri.Place[J]          // consumed while no race runs
	Abort   petri.Place[petri.Unit] // ends the race that runs, if there is one
	Reached petri.Place[[]R]        // the first k good results, in the order in which they came
	Failed  petri.Place[[]R]        // the failed results, once fewer than k good ones can still come
}

// box carries a result without its key.
type box[R any] struct{ result R }

// FirstK gives a request to lanes and takes the first k good results. With k = 1 it is a race, with
// more a quorum. The lanes start in tiers: those of the first tier at once, those of the next one
// when patience has passed, or when so many lanes have failed that those before cannot bring k results.
// One firing decides, and it cancels all other work; exactly one of Reached and Failed follows each
// request that is not aborted. The first tier must have at least k lanes.
func FirstK[J any, R petri.Keyed](name string, p FirstKPorts[J, R], k int, patience time.Duration,
	tiers ...[]Lane[J, R]) *petri.Net {
	const open = petri.Place[petri.Unit]("open")
	const question = "question"
	asked := petri.Place[J](question)
	votes, missed := petri.Place[box[R]]("votes"), petri.Place[box[R]]("missed")
	waiting := func(tier int) petri.Place[petri.Unit] { return petri.Place[petri.Unit](fmt.Sprint("waiting", tier)) }
	lanes := slices.Concat(tiers...)
	rest := petri.Arcs{votes, missed}
	n := &petri.Net{Name: name, Ports: []petri.AnyPlace{p.Request, p.Abort, p.Reached, p.Failed}}
	for _, l := range lanes {
		n.Ports = append(n.Ports, l.ports()...)
		rest = append(rest, l.Job, l.Result, l.InFlight)
	}
	for t := range len(tiers) - 1 {
		rest = append(rest, waiting(t))
	}
	if len(tiers) > 1 {
		rest = append(rest, asked)
	}
	// start fills the jobs of a tier.
	start := func(t int, from petri.Place[J]) petri.Split {
		var out petri.Arcs
		for _, l := range tiers[t] {
			out = append(out, l.Job.Passing(from))
		}
		if t < len(tiers)-1 {
			out = append(out, waiting(t))
		}
		if t == 0 {
			out = append(out, open)
		}
		if t == 0 && len(tiers) > 1 {
			out = append(out, asked.Passing(from))
		}
		return petri.And(out...)
	}
	n.Transitions = []petri.Transition{
		{Name: "abort", In: petri.Arcs{p.Abort}, Reset: append(petri.Arcs{open}, rest...), Priority: 2},
		{Name: "begin", In: petri.Arcs{p.Request}, Inhibit: petri.Arcs{open}, Out: start(0, p.Request)},
		decide("reach", petri.Arcs{open, votes.Exactly(k)}, rest, votes, p.Reached),
		decide("give_up", petri.Arcs{open, missed.Exactly(len(lanes) - k + 1)}, rest, missed, p.Failed),
	}
	begun := 0
	for t := 1; t < len(tiers); t++ {
		begun += len(tiers[t-1])
		n.Transitions = append(n.Transitions,
			petri.Transition{Name: fmt.Sprint("start_tier", t), In: petri.Arcs{waiting(t - 1)},
				Read: petri.Arcs{asked}, Out: start(t, asked), When: petri.After(patience)},
			petri.Transition{Name: fmt.Sprint("start_tier", t, "_early"), In: petri.Arcs{waiting(t - 1)},
				Read: petri.Arcs{asked, missed.Exactly(begun - k + 1)}, Out: start(t, asked)})
	}
	for i, l := range lanes {
		n.Transitions = append(n.Transitions, count(fmt.Sprint("vote", i), l.good(), l.Result, votes),
			count(fmt.Sprint("miss", i), l.bad(), l.Result, missed))
	}
	return n
}

// count moves a result to the place where those of its kind are counted.
func count[R any](name string, in petri.Arc, from petri.Place[R], to petri.Place[box[R]]) petri.Transition {
	return petri.Transition{Name: name, In: petri.Arcs{in}, Priority: 1, Out: petri.And(to),
		Action: func(f *petri.Firing) { to.Put(f, box[R]{from.Get(f)}) }}
}

// decide ends a race: it passes on the results counted at a place, and cancels everything else.
func decide[R any](name string, in, rest petri.Arcs, counted petri.Place[box[R]],
	to petri.Place[[]R]) petri.Transition {
	return petri.Transition{Name: name, In: in, Out: petri.And(to), Action: func(f *petri.Firing) {
		var list []R
		counted.Each(f, func(b box[R]) { list = append(list, b.result) })
		to.Put(f, list)
	}, Reset: rest}
}
