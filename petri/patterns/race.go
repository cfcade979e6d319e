package patterns

import (
	"time"

	"github.com/voicegw/voicegw/petri"
)

// RacePorts are the ports of a Race.
type RacePorts[Q, A any] struct {
	Request   petri.Place[Q]          // consumed while no race runs
	Interrupt petri.Place[petri.Unit] // ends the race that runs, if there is one
	Default   petri.Place[A]          // holds the answer of last resort; only read
	Response  petri.Place[A]          // one for each race that is not interrupted
}

// RaceTimes are the times of a Race, measured from the request.
type RaceTimes struct {
	Deadline time.Duration // until then, only the slow answer is taken
	LastCall time.Duration // from then on, the default is the answer
}

// Race asks a slow and a fast source at once. It takes the slow answer as soon as it comes. From
// the deadline on, or once the slow source has failed, it also takes the fast answer. At the last
// call it takes the default. The answer consumes the only permit and cancels all other work in the
// same firing, so there is at most one response. An interruption cancels all work without a
// response.
func Race[Q, A any](name string, p RacePorts[Q, A], times RaceTimes, slow, fast petri.Task[Q, A]) *petri.Net {
	const (
		permit  = petri.Place[petri.Unit]("permit")
		waiting = petri.Place[petri.Unit]("waiting")
		overdue = petri.Place[petri.Unit]("overdue")
	)
	slowJob, fastJob := petri.Place[Q]("slow_job"), petri.Place[Q]("fast_job")
	slowAnswer, fastAnswer := petri.Place[petri.Result[A]]("slow_answer"), petri.Place[petri.Result[A]]("fast_answer")
	rest := petri.Arcs{waiting, overdue, slowJob, fastJob, slowAnswer, fastAnswer, slow.InFlight, fast.InFlight}
	answer := func(from petri.Place[petri.Result[A]]) func(*petri.Firing) {
		return func(f *petri.Firing) { p.Response.Put(f, from.Get(f).Value) }
	}
	failed := []petri.HasKey{petri.Failed, petri.Cancelled}
	return &petri.Net{
		Name: name,
		Ports: []petri.AnyPlace{p.Request, p.Interrupt, p.Default, p.Response,
			slow.Start, slow.InFlight, slow.Done, fast.Start, fast.InFlight, fast.Done},
		Transitions: []petri.Transition{
			{Name: "interrupt", In: petri.Arcs{p.Interrupt}, Reset: append(petri.Arcs{permit}, rest...), Priority: 2},
			{Name: "ask_both", In: petri.Arcs{p.Request}, Inhibit: petri.Arcs{permit},
				Out: petri.And(slowJob, fastJob, permit, waiting)},
			{Name: "commit_slow", In: petri.Arcs{slowAnswer.Is(petri.Succeeded), permit}, Reset: rest, Priority: 1,
				Out: petri.And(p.Response), Action: answer(slowAnswer)},
			{Name: "slow_fails", In: petri.Arcs{slowAnswer.Is(failed...), waiting}, Out: petri.And(overdue)},
			{Name: "slow_fails_late", In: petri.Arcs{slowAnswer.Is(failed...)}, Inhibit: petri.Arcs{waiting}},
			{Name: "pass_deadline", In: petri.Arcs{waiting}, Out: petri.And(overdue), When: petri.After(times.Deadline)},
			{Name: "commit_fast", In: petri.Arcs{fastAnswer.Is(petri.Succeeded), overdue, permit}, Reset: rest,
				Out: petri.And(p.Response), Action: answer(fastAnswer)},
			{Name: "fast_fails", In: petri.Arcs{fastAnswer.Is(failed...)}},
			{Name: "answer_by_default", In: petri.Arcs{permit}, Read: petri.Arcs{p.Default}, Reset: rest,
				Out: petri.And(p.Response.Passing(p.Default)), When: petri.After(times.LastCall)},
		},
		Nets: []*petri.Net{Worker("slow", slowJob, slow, slowAnswer), Worker("fast", fastJob, fast, fastAnswer)},
	}
}
