package voicenets

import (
	"context"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/mutate"
)

// TestMutants changes the session in one place at a time and counts what its
// properties notice.
func TestMutants(t *testing.T) {
	c := small(Config{Greeting: true}, 2)
	n, err := Session(c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mutate.Run(context.Background(), n, mutate.Config{
		Closures: []mutate.Closure{{Name: "hostile", Close: func(n *petri.Net) (*petri.Net, error) {
			return CloseHostile(n, c)
		}}},
		Properties: append(Properties(c), Protocol(c)...),
		Max:        ceiling,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d mutants: %d killed (%.0f %%), %d more refused by Compile, %d equal",
		s.Mutants, s.Killed, 100*s.Rate(), s.Refused, s.Equal)
	for _, name := range s.Survivors {
		t.Log("survives:", name)
	}
	// The rest needs proofs that speak of time: a witness that ignores it often
	// cannot be taken by the machine, and then counts as none.
	if s.Rate() < 0.4 {
		t.Errorf("only %.0f %% of the mutants were killed", 100*s.Rate())
	}
}
