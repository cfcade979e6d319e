package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netfile"
)

// TestExport: what is printed can be read again, and every net we ship can be printed.
func TestExport(t *testing.T) {
	t.Parallel()
	const idle, busy = petri.Place[petri.Unit]("idle"), petri.Place[petri.Unit]("busy")
	p, err := petri.Compile(&petri.Net{
		Name: "loop",
		Init: []petri.Token{idle.Token(petri.Unit{})},
		Transitions: []petri.Transition{
			{Name: "begin", In: petri.Arcs{idle}, Out: petri.And(busy), When: petri.Anytime()},
			{Name: "finish", In: petri.Arcs{busy}, Out: petri.And(idle), When: petri.Anytime()},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"pnml", "tina"} {
		text, err := exportNet(p, format)
		if err != nil {
			t.Fatal(err)
		}
		f, err := netfile.Read("loop."+format, text)
		if err != nil || len(f.Net.Transitions) != 2 || len(f.Net.Init) != 1 {
			t.Errorf("%s: %v\n%s", format, err, text)
		}
		for _, n := range shippedNets() {
			r := command(t, nil, "net", n.name, "--format", format)
			r.want(t, 0)
			if f, err := netfile.Read(n.name, []byte(r.stdout)); err != nil || len(f.Net.Transitions) < 30 {
				t.Errorf("%s as %s: %v", n.name, format, err)
			}
		}
	}
	err = drawNet(nil, "session", "png")
	if !errors.As(err, new(*usageError)) || !strings.Contains(err.Error(), "pnml, tina") {
		t.Errorf("png: %v", err)
	}
}
