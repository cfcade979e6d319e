package life

import (
	"bufio"
	"context"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/mutate"
)

var allMutants = flag.Bool("mutation", false, "look at every mutant of the net: a minute")

// picked reports whether a mutant is looked at without -mutation.
func picked(m mutate.Mutant) bool {
	return *allMutants || slices.ContainsFunc([]string{"expire", "interrupt_turn", "park_turn", "resume:", "take_result"},
		func(t string) bool { return strings.HasPrefix(m.Name, "life/"+t) })
}

// mutantMax is the most markings of a mutant, and more than twice those of the net.
const mutantMax = 2000

// refuses tries to prove a mutant as Prove does. A mutant counts as refused if a claim is refuted or a
// transition never fires; what stays unknown does not count.
func refuses(c Config) func(context.Context, *petri.Net) ([]string, bool, error) {
	return func(ctx context.Context, mutant *petri.Net) (by []string, absurd bool, err error) {
		r, err := prove(ctx, c, mutant, verify.Config{Max: mutantMax})
		if err != nil {
			return nil, true, nil
		}
		for _, one := range r.Reports[0].Results {
			if one.Outcome == verify.Refuted {
				by = append(by, one.Property.Name)
			}
		}
		if len(by) == 0 && len(r.Idle) > 0 {
			by = append(by, "every transition fires")
		}
		return by, false, nil
	}
}

// TestMutants changes the net in one place at a time. Prove refuses each mutant, but for those with a
// reason in testdata/survivors.txt.
func TestMutants(t *testing.T) {
	c := usual
	c.calls, c.queue, c.anytime = proofCalls, proofQueue, true
	n, err := Net(c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mutate.Run(t.Context(), n, mutate.Config{Closures: []mutate.Closure{{Name: "hostile", Close: closing}},
		Max: mutantMax, Workers: 2, Refuses: refuses(c), Pick: picked})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d mutants: %d refused by Prove (%.1f %%); %d more that do not compile or close, %d equal", s.Mutants,
		s.Killed, 100*s.Rate(), s.Refused, s.Equal)
	if s.Mutants < 20 || s.Rate() < 0.8 || *allMutants && s.Rate() < 0.94 {
		t.Errorf("of %d mutants %.1f %% were refused", s.Mutants, 100*s.Rate())
	}
	reasons := survivors(t)
	for _, name := range s.Survivors {
		if reasons[name] == "" {
			t.Errorf("%s survives without a reason in testdata/survivors.txt", name)
		}
	}
	for name := range reasons {
		if picked(mutate.Mutant{Name: name}) && !slices.Contains(s.Survivors, name) {
			t.Errorf("testdata/survivors.txt says why %s survives; it does not", name)
		}
	}
}

// survivors are the reasons why mutants survive, by name.
func survivors(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open("testdata/survivors.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list := map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, reason, found := strings.Cut(lines.Text(), "\t"); found {
			list[name] = reason
		}
	}
	return list
}
