package smt_test

import (
	"context"
	"fmt"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/smt"
)

// A sender has a window of 8. That it never exceeds its window is proved for every size a window
// can have.
func Example() {
	const flying petri.Place[petri.Unit] = "flying"
	prog, err := petri.Compile(&petri.Net{Name: "window", Imported: true, Transitions: []petri.Transition{
		{Name: "send", Inhibit: petri.Arcs{flying.AtLeast(8)}, Out: petri.And(flying), When: petri.Anytime()},
		{Name: "acknowledge", In: petri.Arcs{flying}, When: petri.Anytime()},
	}})
	if err != nil {
		panic(err)
	}
	window := smt.Param{Name: "K", Min: 1, Thresholds: []smt.Threshold{{Transition: "send", Place: "flying"}}}
	every := smt.Config{Params: []smt.Param{window}}
	report, err := verify.Run(context.Background(), prog, verify.Config{},
		every.Bound("flying", "K"), smt.Bound("flying", 7))
	if err != nil {
		panic(err)
	}
	for _, r := range report.Results {
		fmt.Println(r.Property.Name, "is", r.Outcome)
	}
	// Output:
	// bound flying <= K is proved
	// bound flying <= 7 is refuted
}
