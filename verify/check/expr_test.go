package check

import (
	"fmt"
	"slices"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/expr"
	"github.com/voicegw/voicegw/verify/netmodel"
)

type unit = petri.Place[petri.Unit]

// checkerOf is a checker of a net of one transition that fires at any time.
func checkerOf(t *testing.T, init []petri.Token, in ...petri.AnyArc) *checker {
	t.Helper()
	p, err := petri.Compile(&petri.Net{Name: "net", Imported: true, Init: init, Transitions: []petri.Transition{
		{Name: "go", In: in, Out: petri.And(unit("q")), When: petri.Anytime()}}})
	if err != nil {
		t.Fatal(err)
	}
	return &checker{p: p, m: netmodel.New(p, netmodel.RunToCompletion), final: -1}
}

// judged reports whether the checker finds a text true of a marking.
func (k *checker) judged(t *testing.T, text string, marking []int32) bool {
	t.Helper()
	e, err := expr.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	names := &netmodel.Names{Model: k.m}
	judge := k.judge(e.Root, names)
	if names.Err != nil {
		t.Fatal(names.Err)
	}
	return judge(marking)
}

// TestSumsAreWide: the checker adds up with more bits than a count has.
func TestSumsAreWide(t *testing.T) {
	k := checkerOf(t, slices.Repeat([]petri.Token{unit("p").Token(petri.Unit{})}, 100), unit("p"))
	text := "999999999999999999*p + 999999999999999999*p > 999999999999999999"
	if !k.judged(t, text, k.p.Initial()) {
		t.Error("the checker overflows")
	}
}

// side is a colour of tokens of two kinds.
type side int

func (s side) Key() petri.Key   { return petri.Key(s) }
func (side) KeyNames() []string { return []string{"left", "right"} }

// TestComparisons compares sums of each form, the count of one slot among them, with each other.
func TestComparisons(t *testing.T) {
	k := checkerOf(t, nil, unit("p"), petri.Place[side]("s"))
	at := func(slot string) int {
		i := slices.IndexFunc(k.m.SlotName, func(name string) bool { return name == slot })
		if i < 0 {
			t.Fatalf("there is no slot %s in %q", slot, k.m.SlotName)
		}
		return i
	}
	p, q, left, right := at("p"), at("q"), at("s[left]"), at("s[right]")
	sums := map[string]func(m []int32) int32{
		"0": func([]int32) int32 { return 0 }, "2": func([]int32) int32 { return 2 },
		"p": func(m []int32) int32 { return m[p] }, "q": func(m []int32) int32 { return m[q] },
		"p + 1": func(m []int32) int32 { return m[p] + 1 }, "2*p": func(m []int32) int32 { return 2 * m[p] },
		"p + q": func(m []int32) int32 { return m[p] + m[q] }, "q + 1": func(m []int32) int32 { return m[q] + 1 },
		"s": func(m []int32) int32 { return m[left] + m[right] }, "s[right]": func(m []int32) int32 { return m[right] },
	}
	orders := map[string]func(a, b int32) bool{
		"<": func(a, b int32) bool { return a < b }, "<=": func(a, b int32) bool { return a <= b },
		">": func(a, b int32) bool { return a > b }, ">=": func(a, b int32) bool { return a >= b },
		"==": func(a, b int32) bool { return a == b }, "!=": func(a, b int32) bool { return a != b },
	}
	const most = 3 // tokens of a slot
	for i := range int32(most * most * most * most) {
		m := make([]int32, k.m.Slots())
		m[p], m[q], m[left], m[right] = i%most, i/most%most, i/most/most%most, i/most/most/most
		for l, a := range sums {
			for r, b := range sums {
				for op, holds := range orders {
					text := fmt.Sprintf("%s %s %s", l, op, r)
					if is := k.judged(t, text, m); is != holds(a(m), b(m)) {
						t.Fatalf("%s is %t of %s", text, is, k.m.Format(m))
					}
				}
			}
		}
	}
}
