package patterns

import (
	"time"

	"github.com/voicegw/voicegw/petri"
)

// OptimisticPorts are the ports of an Optimistic.
type OptimisticPorts[T any] struct {
	Propose    petri.Place[T] // consumed while no value is tentative
	Tentative  petri.Place[T] // produced at once
	Confirmed  petri.Place[T] // produced if the check succeeds
	RolledBack petri.Place[T] // produced if the check fails or takes longer than patience
}

// Optimistic publishes a proposal at once and checks it afterwards. Exactly one confirmation or
// roll-back follows each tentative value.
func Optimistic[T any](name string, p OptimisticPorts[T], patience time.Duration,
	check petri.Task[T, petri.Unit]) *petri.Net {
	job, verdict := petri.Place[T]("job"), petri.Place[petri.Result[petri.Unit]]("verdict")
	pending := petri.Place[T]("pending")
	return &petri.Net{
		Name: name,
		Ports: []petri.AnyPlace{p.Propose, p.Tentative, p.Confirmed, p.RolledBack,
			check.Start, check.InFlight, check.Done},
		Transitions: []petri.Transition{
			{Name: "publish", In: petri.Arcs{p.Propose}, Inhibit: petri.Arcs{pending},
				Out: petri.And(p.Tentative, pending, job)},
			{Name: "confirm", In: petri.Arcs{pending, verdict.Is(petri.Succeeded)}, Out: petri.And(p.Confirmed)},
			{Name: "reject", In: petri.Arcs{pending, verdict.Is(petri.Failed, petri.Cancelled)},
				Out: petri.And(p.RolledBack)},
			{Name: "lose_patience", In: petri.Arcs{pending}, Reset: petri.Arcs{job, verdict, check.InFlight},
				Out: petri.And(p.RolledBack), When: petri.After(patience)},
		},
		Nets: []*petri.Net{Worker("checker", job, check, verdict)},
	}
}
