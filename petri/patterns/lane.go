package patterns

import "github.com/voicegw/voicegw/petri"

// Lane is a worker as other patterns see it. A job goes in at Job, and its result comes out at Result.
// InFlight is marked meanwhile; whoever empties it cancels the work, and no result comes. The first
// key of R means success, every other one failure.
type Lane[J any, R petri.Keyed] struct {
	Job      petri.Place[J]
	Result   petri.Place[R]
	InFlight petri.Place[petri.Unit]
}

func (l Lane[J, R]) ports() []petri.AnyPlace { return []petri.AnyPlace{l.Job, l.Result, l.InFlight} }

func (l Lane[J, R]) good() petri.Arc { return l.Result.Is(petri.Key(0)) }

func (l Lane[J, R]) bad() petri.Arc {
	var zero R
	var keys []petri.HasKey
	for k := 1; k < len(zero.KeyNames()); k++ {
		keys = append(keys, petri.Key(k))
	}
	return l.Result.Is(keys...)
}
