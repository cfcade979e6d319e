package patterns

import (
	"time"

	"github.com/voicegw/voicegw/petri"
)

// OptimisticPorts are the ports of an Optimistic.
type OptimisticPorts[T any] struct {
	Propose    petri.Place[T]          // consumed while no value is tentative
	Abort      petri.Place[petri.Unit] // ends the check that runs, if there is one
	Tentative  petri.Place[T]          // produced at once
	Confirmed  petri.Place[T]          // produced if the check succeeds
	RolledBack petri.Place[T]          // produced if the check fails or takes longer than patience
}

// Optimistic publishes a proposal at once and checks it afterwards. Exactly one confirmation or
// roll-back follows each tentative value whose check is not aborted.
func Optimistic[T any, R petri.Keyed](name string, p OptimisticPorts[T], patience time.Duration,
	check Lane[T, R]) *petri.Net {
	const value = "pending"
	pending := petri.Place[T](value)
	rest := petri.Arcs{check.Job, check.Result, check.InFlight}
	return &petri.Net{
		Name:  name,
		Ports: append([]petri.AnyPlace{p.Propose, p.Abort, p.Tentative, p.Confirmed, p.RolledBack}, check.ports()...),
		Transitions: []petri.Transition{
			{Name: "abort", In: petri.Arcs{p.Abort}, Reset: append(petri.Arcs{pending}, rest...), Priority: 2},
			{Name: "publish", In: petri.Arcs{p.Propose}, Inhibit: petri.Arcs{pending},
				Out: petri.And(p.Tentative, pending, check.Job)},
			{Name: "confirm", In: petri.Arcs{pending, check.good()}, Out: petri.And(p.Confirmed)},
			{Name: "reject", In: petri.Arcs{pending, check.bad()}, Out: petri.And(p.RolledBack)},
			{Name: "lose_patience", In: petri.Arcs{pending}, Reset: rest, Out: petri.And(p.RolledBack),
				When: petri.After(patience)},
		},
	}
}
