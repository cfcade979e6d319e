package verify

import (
	"testing"

	"github.com/voicegw/voicegw/petri"
)

// TestMoveOnEveryWay: a claim about moves speaks of every way to a marking in the
// midst of a chain, not only of the first.
func TestMoveOnEveryWay(t *testing.T) {
	for _, first := range []string{"x", "y"} {
		second := map[string]string{"x": "y", "y": "x"}[first]
		n := imported(tokens("p"), classic("begin", arcs("p"), arcs("c")),
			petri.Transition{Name: "fork", In: arcs("c"), Out: petri.Free(arcs(first), arcs(second))},
			petri.Transition{Name: "beep", In: arcs("x"), Out: outs("z")},
			petri.Transition{Name: "pass", In: arcs("y"), Out: outs("z")},
			petri.Transition{Name: "part", In: arcs("z"), Out: petri.Free(arcs("left"), arcs("right"))})
		for _, c := range []struct {
			move Move
			want Outcome
		}{
			{Move{On: []string{"begin"}, Says: []string{"!beep"}}, Refuted},
			{Move{On: []string{"begin"}, Says: []string{"!pass"}}, Refuted},
			{Move{On: []string{"begin"}, Says: []string{"beep"}}, Refuted},
			{Move{On: []string{"beep"}, Then: "left"}, Refuted},
			{Move{On: []string{"begin"}, Says: []string{"beep|pass"}}, Proved},
		} {
			c.move.Name = "claim"
			if v := check(t, n, Config{}, c.move.Property()).Results[0]; v.Outcome != c.want {
				t.Errorf("%s first: %+v: %s: %s", first, c.move, v.Outcome, v.Reason)
			}
		}
	}
}
