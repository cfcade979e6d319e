package patterns

import (
	"fmt"

	"github.com/voicegw/voicegw/petri"
)

// FirstWins passes the first of several offers on to won and consumes the token at open. While open
// is empty, it discards offers.
func FirstWins[T any](name string, open petri.Place[petri.Unit], won petri.Place[T],
	offers ...petri.Place[T]) *petri.Net {
	n := &petri.Net{Name: name, Ports: []petri.AnyPlace{open, won}}
	for i, o := range offers {
		n.Ports = append(n.Ports, o)
		n.Transitions = append(n.Transitions,
			petri.Transition{Name: fmt.Sprint("win", i), In: petri.Arcs{o, open}, Out: petri.And(won.Passing(o))},
			petri.Transition{Name: fmt.Sprint("lose", i), In: petri.Arcs{o}, Inhibit: petri.Arcs{open}})
	}
	return n
}

// Quorum waits for k votes while open is marked, then consumes the token at open and produces the
// votes at reached, in the order in which they came. While open is empty, it discards votes.
func Quorum[T any](name string, k int, open petri.Place[petri.Unit], vote petri.Place[T],
	reached petri.Place[[]T]) *petri.Net {
	return &petri.Net{
		Name:  name,
		Ports: []petri.AnyPlace{open, vote, reached},
		Transitions: []petri.Transition{
			{Name: "reach", In: petri.Arcs{open, vote.Exactly(k)}, Out: petri.And(reached), Action: func(f *petri.Firing) {
				votes := make([]T, 0, k)
				vote.Each(f, func(v T) { votes = append(votes, v) })
				reached.Put(f, votes)
			}},
			{Name: "discard", In: petri.Arcs{vote}, Inhibit: petri.Arcs{open}},
		},
	}
}
