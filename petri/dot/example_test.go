package dot_test

import (
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/dot"
)

func Example() {
	const off, on = petri.Place[petri.Unit]("off"), petri.Place[petri.Unit]("on")
	prog, err := petri.Compile(&petri.Net{
		Name: "blinker",
		Init: []petri.Token{off.Token(petri.Unit{})},
		Transitions: []petri.Transition{
			{Name: "light", In: petri.Arcs{off}, Out: petri.And(on), When: petri.After(1e9)},
			{Name: "darken", In: petri.Arcs{on}, Out: petri.And(off), When: petri.After(1e9)},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	svg, err := dot.SVG(prog, dot.Options{Bare: true})
	fmt.Println(strings.Contains(string(svg), `<g id="transition:light"`), err)
	fmt.Println(strings.SplitN(dot.Graph(prog, dot.Options{}), "\n", 2)[0])
	// Output:
	// true <nil>
	// digraph "blinker" {
}
