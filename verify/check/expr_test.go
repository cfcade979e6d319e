package check

import (
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/expr"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// TestSumsAreWide: the checker adds up with more bits than a count has.
func TestSumsAreWide(t *testing.T) {
	type unit = petri.Place[petri.Unit]
	n := &petri.Net{Name: "net", Imported: true, Transitions: []petri.Transition{
		{Name: "go", In: petri.Arcs{unit("p")}, Out: petri.And(unit("q")), When: petri.Anytime()}}}
	for range 100 {
		n.Init = append(n.Init, unit("p").Token(petri.Unit{}))
	}
	p, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	k := &checker{p: p, m: netmodel.New(p, netmodel.RunToCompletion), final: -1}
	e, err := expr.Parse("999999999999999999*p + 999999999999999999*p > 999999999999999999")
	if err != nil {
		t.Fatal(err)
	}
	if !k.judge(e.Root, &netmodel.Names{Model: k.m})(p.Initial()) {
		t.Error("the checker overflows")
	}
}
