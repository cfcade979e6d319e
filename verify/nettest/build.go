package nettest

import (
	"fmt"
	"testing"

	"github.com/voicegw/voicegw/petri"
)

// Unit is a place whose tokens carry nothing.
type Unit = petri.Place[petri.Unit]

// Word is a colour of two kinds, yes and no.
type Word uint8

// Key returns the kind.
func (w Word) Key() petri.Key { return petri.Key(w) }

// KeyNames names the kinds.
func (w Word) KeyNames() []string { return []string{"yes", "no"} }

// Tokens returns one token for each place.
func Tokens(names ...string) []petri.Token {
	var out []petri.Token
	for _, n := range names {
		out = append(out, Unit(n).Token(petri.Unit{}))
	}
	return out
}

// Many returns n tokens for a place.
func Many(name string, n int) []petri.Token {
	var out []petri.Token
	for range n {
		out = append(out, Unit(name).Token(petri.Unit{}))
	}
	return out
}

// Arcs returns an arc for each place.
func Arcs(names ...string) petri.Arcs {
	var out petri.Arcs
	for _, n := range names {
		out = append(out, Unit(n))
	}
	return out
}

// Outs returns a branch that puts a token into each place.
func Outs(names ...string) petri.Split { return petri.And(Arcs(names...)...) }

// Imported makes a net of the field: every transition may fire at any time unless it says otherwise.
func Imported(init []petri.Token, ts ...petri.Transition) *petri.Net {
	return &petri.Net{Name: "net", Imported: true, Init: init, Transitions: ts}
}

// Classic is a transition that may fire at any time.
func Classic(name string, in, out petri.Arcs) petri.Transition {
	t := petri.Transition{Name: name, In: in, When: petri.Anytime()}
	if out != nil {
		t.Out = petri.Split{}
		anys := make([]petri.AnyArc, len(out))
		copy(anys, out)
		t.Out = petri.And(anys...)
	}
	return t
}

// AtOnce is a transition that fires at once.
func AtOnce(name string, in, out petri.Arcs) petri.Transition {
	t := Classic(name, in, out)
	t.When = petri.Interval{}
	return t
}

// Inhibit returns a transition with these inhibitor arcs.
func Inhibit(t petri.Transition, names ...string) petri.Transition {
	t.Inhibit = Arcs(names...)
	return t
}

// Read returns a transition with these read arcs.
func Read(t petri.Transition, names ...string) petri.Transition { t.Read = Arcs(names...); return t }

// Reset returns a transition with these reset arcs.
func Reset(t petri.Transition, names ...string) petri.Transition { t.Reset = Arcs(names...); return t }

// Compile compiles a net that has no errors.
func Compile(t testing.TB, n *petri.Net) *petri.Program {
	t.Helper()
	p, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Calibration is an untimed voice net with a budget of k chunks.
func Calibration(k int, newUtterance bool) *petri.Net {
	any := petri.Anytime()
	n := &petri.Net{Name: "voice", Imported: true, Init: append(Many("BUDGET", k), Tokens("IDLE")...)}
	n.Transitions = []petri.Transition{
		{Name: "utt_start", In: Arcs("IDLE"), Inhibit: Arcs("VAD_OPEN"), Out: Outs("LISTEN", "VAD_OPEN"), When: any},
		{Name: "utt_end", In: Arcs("LISTEN", "VAD_OPEN"), Out: Outs("THINK"), When: any},
		{Name: "model_start", In: Arcs("THINK"), Out: Outs("SPEAK"), When: any},
		{Name: "model_tool", In: Arcs("THINK"), Out: Outs("TOOL"), When: any},
		{Name: "tool_done", In: Arcs("TOOL"), Out: Outs("THINK"), When: any},
		{Name: "chunk", In: Arcs("BUDGET"), Read: Arcs("SPEAK"), Inhibit: Arcs("BARGE"), Out: Outs("INFLIGHT"), When: any},
		{Name: "played", In: Arcs("INFLIGHT"), Out: Outs("BUDGET"), When: any},
		{Name: "turn_complete", In: Arcs("SPEAK"), Inhibit: Arcs("INFLIGHT"), Out: Outs("IDLE"), When: any},
		{Name: "barge_in", In: Arcs("SPEAK"), Inhibit: Arcs("BARGE", "VAD_OPEN"), Out: Outs("BARGE", "VAD_OPEN"), When: any},
		{Name: "flush", In: Arcs("BARGE", "INFLIGHT"), Out: Outs("BARGE", "BUDGET"), When: any},
		{Name: "barge_done", In: Arcs("BARGE"), Inhibit: Arcs("INFLIGHT"), Out: Outs("LISTEN"), When: any},
		{Name: "silence1", In: Arcs("THINK"), Out: Outs("REC1"), When: any},
		{Name: "rec1_ok", In: Arcs("REC1"), Out: Outs("THINK"), When: any},
		{Name: "silence2", In: Arcs("REC1"), Out: Outs("REC2"), When: any},
		{Name: "rec2", In: Arcs("REC2"), Out: Outs("IDLE"), When: any},
	}
	if newUtterance {
		n.Transitions = append(n.Transitions, petri.Transition{
			Name: "new_utt", In: Arcs("THINK"), Inhibit: Arcs("VAD_OPEN"), Reset: Arcs("TOOL", "REC1", "REC2", "VAD_OPEN"),
			Out: Outs("LISTEN", "VAD_OPEN"), When: any,
		})
	}
	return n
}

// Rings are n rings that have nothing to do with each other.
func Rings(n int) *petri.Net {
	net := &petri.Net{Name: "rings", Imported: true}
	for i := range n {
		a, b, c := fmt.Sprint("a", i), fmt.Sprint("b", i), fmt.Sprint("c", i)
		net.Init = append(net.Init, Tokens(a)...)
		net.Transitions = append(net.Transitions, Classic("ab"+a, Arcs(a), Arcs(b)), Classic("bc"+a, Arcs(b), Arcs(c)))
	}
	return net
}
