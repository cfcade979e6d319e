package patterns

import (
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// NewTurn begins the next generation for every token at begin. All tokens of the turn before become
// stale, wherever they are.
func NewTurn(name string, begin petri.Place[petri.Unit]) *petri.Net {
	return &petri.Net{Name: name, Ports: []petri.AnyPlace{begin}, Transitions: []petri.Transition{
		{Name: "begin_turn", In: petri.Arcs{begin}, Bump: true, Priority: 1},
	}}
}

// Commit moves fresh tokens from in to committed, and stale ones to discarded. It checks the
// generation and commits in one firing.
func Commit[T petri.Generational](name string, in, committed, discarded petri.Place[T]) *petri.Net {
	return &petri.Net{Name: name, Ports: []petri.AnyPlace{in, committed, discarded}, Transitions: []petri.Transition{
		{Name: "commit", In: petri.Arcs{in.Fresh()}, Out: petri.And(committed)},
		{Name: "discard", In: petri.Arcs{in.Stale()}, Out: petri.And(discarded)},
	}}
}

// Unguarded finds transitions that produce at one of the committed places and may consume a stale
// token to do so, because their arcs are not narrowed with Fresh. The error names all of them; nil
// means that there is none.
func Unguarded(p *petri.Program, committed ...string) error {
	sites := map[int]bool{}
	for _, name := range committed {
		i := p.Place(name)
		if i < 0 {
			return fmt.Errorf("patterns: check commit sites of net %s: no place %q", p.Name(), name)
		}
		sites[i] = true
	}
	var found []string
	for _, t := range p.Transitions() {
		if commits(t, sites) && takesStale(p, t) {
			found = append(found, t.Name)
		}
	}
	if found == nil {
		return nil
	}
	return fmt.Errorf("patterns: check commit sites of net %s: %s may commit stale tokens; "+
		"narrow their inputs with Fresh", p.Name(), strings.Join(found, ", "))
}

func commits(t petri.TransitionInfo, sites map[int]bool) bool {
	for _, a := range t.Arcs {
		if a.Kind == petri.OutArc && sites[a.Place] {
			return true
		}
	}
	return false
}

func takesStale(p *petri.Program, t petri.TransitionInfo) bool {
	for _, a := range t.Arcs {
		if a.Kind == petri.InArc && p.Places()[a.Place].Gen && !strings.HasSuffix(a.Label, "fresh") {
			return true
		}
	}
	return false
}
