package check_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// A list of markings proves a claim if it holds the first one, each that a firing reaches from
// one of the list, and none that the claim excludes. The second list lacks a marking.
func ExampleListMarkings() {
	idle, busy := petri.Place[petri.Unit]("idle"), petri.Place[petri.Unit]("busy")
	prog, err := petri.Compile(&petri.Net{
		Name: "worker",
		Init: []petri.Token{idle.Token(petri.Unit{})},
		Transitions: []petri.Transition{
			{Name: "begin", In: petri.Arcs{idle}, Out: petri.And(busy), When: petri.After(1)},
			{Name: "end", In: petri.Arcs{busy}, Out: petri.And(idle), When: petri.After(1)},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	model, one := netmodel.New(prog, netmodel.RunToCompletion), claim.Mutex("idle", "busy")
	for _, rows := range [][]string{{"\x01\x00", "\x00\x01"}, {"\x01\x00"}} {
		cert, err := check.ListMarkings(model, rows, one)
		if err == nil {
			err = cert.Check(context.Background(), model, one)
		}
		fmt.Println(errors.Is(err, check.ErrCertificate), err)
	}
	// Output:
	// false <nil>
	// true verify: check certificate: the certificate proves nothing: busy is reached, and not listed
}
