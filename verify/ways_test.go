package verify

import (
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/claim"
)

// TestMoveOnEveryWay: a claim about moves speaks of every way to a marking in the midst of a chain,
// not only of the first.
func TestMoveOnEveryWay(t *testing.T) {
	for _, first := range []string{"x", "y"} {
		second := map[string]string{"x": "y", "y": "x"}[first]
		n := imported(tokens("p"), classic("begin", arcs("p"), arcs("c")),
			petri.Transition{Name: "fork", In: arcs("c"), Out: petri.Free(arcs(first), arcs(second))},
			petri.Transition{Name: "beep", In: arcs("x"), Out: outs("z")},
			petri.Transition{Name: "pass", In: arcs("y"), Out: outs("z")},
			petri.Transition{Name: "part", In: arcs("z"), Out: petri.Free(arcs("left"), arcs("right"))})
		for _, c := range []struct {
			move claim.Move
			want Outcome
		}{
			{claim.Move{On: []string{"begin"}, Does: []string{"!beep"}}, Refuted},
			{claim.Move{On: []string{"begin"}, Does: []string{"!pass"}}, Refuted},
			{claim.Move{On: []string{"begin"}, Does: []string{"beep"}}, Refuted},
			{claim.Move{On: []string{"beep"}, Then: "left"}, Refuted},
			{claim.Move{On: []string{"begin"}, Does: []string{"beep|pass"}}, Proved},
		} {
			c.move.Name = "claim"
			if v := checkNet(t, n, Config{}, EachMove(c.move)).Results[0]; v.Outcome != c.want {
				t.Errorf("%s first: %+v: %s: %s", first, c.move, v.Outcome, v.Reason)
			}
		}
	}
}
