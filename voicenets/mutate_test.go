package voicenets

import (
	"bufio"
	"context"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/mutate"
)

var (
	allMutants = flag.Bool("mutation", false, "look at every mutant of the session, in all views: minutes")
	mutantsOf  = flag.String("mutants", "", "with -mutation: those whose names begin so, or so: link/,call/")
)

// TestMutants changes the session in one place at a time and counts what its
// properties notice. Without -mutation it looks at one part of it.
func TestMutants(t *testing.T) {
	pick := func(m mutate.Mutant) bool {
		begins := func(p string) bool { return strings.HasPrefix(m.Name, p) }
		return slices.ContainsFunc(strings.Split(*mutantsOf, ","), begins)
	}
	if !*allMutants {
		pick = func(m mutate.Mutant) bool { return strings.HasPrefix(m.Name, "digits/") }
	}
	s := score(t, pick)
	t.Logf("%d mutants: %d killed (%.1f %%), %d (%.1f %%) by others than V1 and V2; %d more refused, %d equal", s.Mutants,
		s.Killed, 100*s.Rate(), s.Strong, 100*s.StrongRate(), s.Refused, s.Equal)
	t.Logf("%d of them by what their structure tells alone, without a run", byStructure(s))
	if s.Mutants < 40 || s.Rate() < floor {
		t.Errorf("of %d mutants %.1f %% were killed, want %.0f %%", s.Mutants, 100*s.Rate(), 100*floor)
	}
	explained := explanations(t)
	for _, name := range s.Survivors {
		reason := explained[name]
		if t.Log("survives:", name, s.Alive[name], s.Why[name], reason); reason == "" {
			t.Errorf("%s survives without a reason in testdata/survivors.txt", name)
		}
	}
	for name := range explained {
		if m := (mutate.Mutant{Name: name}); pick(m) && !slices.Contains(s.Survivors, name) {
			t.Errorf("testdata/survivors.txt explains why %s survives; it does not", name)
		}
	}
}

// byStructure is how many mutants were killed without a run.
func byStructure(s *mutate.Score) (n int) {
	structure := append(Structure(mutated()), unseen(mutated())...)
	for _, by := range s.KilledBy {
		if !slices.ContainsFunc(by, func(name string) bool {
			return !slices.ContainsFunc(structure, func(p *verify.Property) bool { return p.Name == name })
		}) {
			n++
		}
	}
	return n
}

// floor is what the properties notice at least; see docs/verification.md.
const floor = 0.95

// score tries mutants of a small session in the views that show any.
func score(t *testing.T, pick func(mutate.Mutant) bool) *mutate.Score {
	t.Helper()
	n, err := Session(mutated())
	if err != nil {
		t.Fatal(err)
	}
	list, err := Views(mutated())
	if err != nil {
		t.Fatal(err)
	}
	last := time.Now()
	s, err := mutate.Run(context.Background(), n, mutate.Config{Closures: list, Max: 20_000, Workers: 2, Pick: pick,
		Basic: Basic(list), Progress: func(done, killed, of int) {
			if time.Since(last) > 15*time.Second {
				last = time.Now()
				t.Logf("%d of %d mutants, %d killed", done, of, killed)
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// explanations are why mutants survive, by name.
func explanations(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open("testdata/survivors.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list := map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, found := strings.Cut(line, "\t")
		if !found || reason == "" || list[name] != "" {
			t.Errorf("testdata/survivors.txt: %q gives no reason, or another one", line)
		}
		list[name] = reason
	}
	return list
}
