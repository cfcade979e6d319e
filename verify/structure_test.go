package verify

import (
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
)

func TestStructure(t *testing.T) {
	const held = petri.Place[turn]("held")
	stale := imported([]petri.Token{held.Token(0)}, petri.Transition{Name: "commit", In: petri.Arcs{held},
		Out: outs("done"), When: petri.After(1)},
		petri.Transition{Name: "careful", In: petri.Arcs{held.Fresh()}, Out: outs("done"), When: petri.After(2)})
	for _, c := range []struct {
		net  *petri.Net
		prop *Property
		want Outcome
		has  string
	}{
		{stale, FreshCommits("careful"), Proved, ""}, {stale, FreshCommits("careful", "commit"), Refuted, "commit neither"},
		{stale, SingleWriter("held"), Proved, ""}, {stale, SingleWriter("done"), Refuted,
			"done is filled by commit and careful"},
	} {
		v := checkNet(t, c.net, Config{}, c.prop).Results[0]
		if v.Outcome != c.want || !strings.Contains(v.Reason, c.has) {
			t.Errorf("%s: %s (%s), want %s (%s)", c.prop.Name, v.Outcome, v.Reason, c.want, c.has)
		}
	}
}

func TestRestarts(t *testing.T) {
	n := imported(tokens("A", "P", "Q"), petri.Transition{Name: "one", In: arcs("A"), Read: arcs("P"), Out: outs("B")},
		petri.Transition{Name: "other", In: arcs("A"), Inhibit: arcs("P"), Out: outs("C")},
		petri.Transition{Name: "third", In: arcs("A"), Out: outs("D")},
		petri.Transition{Name: "first", In: arcs("A"), Read: arcs("B"), Priority: 1},
		petri.Transition{Name: "timer", In: arcs("Q"), Out: outs("R"), When: petri.After(time.Second)},
		petri.Transition{Name: "touch", In: arcs("B", "Q"), Out: outs("Q")})
	m := netmodel.New(compile(t, n), netmodel.RunToCompletion)
	r := Restarts(m)
	if len(r) != 1 || r[0] != (Restart{"touch", "timer", time.Second}) {
		t.Errorf("restarts %v", r)
	}
}
