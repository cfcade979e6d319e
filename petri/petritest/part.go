package petritest

import (
	"testing"

	"github.com/voicegw/voicegw/petri"
)

// RunPart plays the scripts of a folder on one part of a composition. The script injects tokens at
// the ports of the part. The step "inject -PORT" takes all tokens of a port away, as other parts
// do, and "inject new_generation" begins a generation.
func RunPart(t *testing.T, path string, part *petri.Net) {
	t.Helper()
	prog, err := petri.Compile(Surrounded(part))
	if err != nil {
		t.Fatal(err)
	}
	Run(t, path, prog)
}

// first is a priority above those of any part, so that the surroundings act before the part reacts.
const first = 1000

// Surrounded returns a part with transitions that empty its ports and begin generations, as RunPart
// uses it.
func Surrounded(part *petri.Net) *petri.Net {
	n := petri.Alone(part)
	does := func(name string, t petri.Transition) {
		by := petri.Place[petri.Unit](name)
		t.Name, t.In, t.Priority = name, petri.Arcs{by}, first
		n.Env = append(n.Env, petri.Env{Place: by})
		n.Transitions = append(n.Transitions[:len(n.Transitions):len(n.Transitions)], t)
	}
	open := n.Env[len(part.Env):]
	for _, e := range open {
		does("-"+e.Place.String(), petri.Transition{Reset: petri.Arcs{e.Place}})
	}
	does("new_generation", petri.Transition{Bump: true})
	return n
}
