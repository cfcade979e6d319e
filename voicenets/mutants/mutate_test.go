package mutants

import (
	"bufio"
	"context"
	"flag"
	"hash/fnv"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/mutate"
	"github.com/voicegw/voicegw/voicenets"
	"github.com/voicegw/voicegw/voicenets/claims"
)

var (
	allMutants = flag.Bool("mutation", false, "look at every mutant of the session, in all views: minutes")
	mutantsIn  = flag.String("config", "", "the session that TestMutantsRefused changes; by default gateway-vad")
	every      = flag.Uint("every", 1, "with -mutation: one of how many mutants is looked at, by a hash of its name")
	mutantsOf  = flag.String("mutants", "", "with -mutation: those whose names begin so, or so: link/,call/")
)

// TestMutants changes the session in one place at a time and counts what its properties notice.
// Without -mutation it looks at one part of it.
func TestMutants(t *testing.T) {
	s := score(t, picked)
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
		if m := (mutate.Mutant{Name: name}); picked(m) && !slices.Contains(s.Survivors, name) {
			t.Errorf("testdata/survivors.txt explains why %s survives; it does not", name)
		}
	}
}

// mutationConfigs are the sessions of which the score of what is proved at a start is stated: see
// docs/verification.md.
func mutationConfigs() map[string]voicenets.Config {
	usual := func(c voicenets.Config) voicenets.Config {
		c.Greeting, c.ToolSlots, c.Prompts = true, 1, usualPrompts(c)
		return c
	}
	return map[string]voicenets.Config{
		"gateway-vad": usual(voicenets.Config{}),
		"model-vad":   usual(voicenets.Config{Detection: voicenets.ModelVAD}),
		"half-duplex": usual(voicenets.Config{HalfDuplex: true}),
		"consent":     usual(voicenets.Config{Consent: true}),
		"adaptive":    usual(voicenets.Config{Adaptive: true}),
		"reprompt":    usual(voicenets.Config{RepromptAfter: 10 * time.Second}),
	}
}

// usualPrompts are those that a gateway has unless settings say otherwise.
func usualPrompts(c voicenets.Config) voicenets.Prompts {
	p := voicenets.Prompts(0).With(voicenets.Fallback).With(voicenets.Goodbye)
	if c.Consent {
		p = p.With(voicenets.AskConsent)
	}
	if c.RepromptAfter > 0 {
		p = p.With(voicenets.Reprompt)
	}
	return p
}

// TestMutantsRefused counts which mutants of a session a gateway would refuse to start with: the
// score of exactly what it proves then.
func TestMutantsRefused(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(mutationConfigs())) {
		if *mutantsIn != "" && *mutantsIn != name || *mutantsIn == "" && name != "gateway-vad" {
			continue
		}
		s := refused(t, mutationConfigs()[name])
		t.Logf("%s: %d of %d mutants refused at the start (%.1f %%); %d more by Compile, %d equal", name, s.Killed,
			s.Mutants,
			100*s.Rate(), s.Refused, s.Equal)
		for _, m := range s.Survivors {
			t.Log("survives:", m, s.Alive[m], s.Why[m])
		}
		if s.Mutants < 20 || s.Rate() < floor {
			t.Errorf("%s: of %d mutants %.1f %% were refused, want %.0f %%", name, s.Mutants, 100*s.Rate(), 100*floor)
		}
	}
}

// refused tries mutants of a session as a gateway would, in the views that show whether they differ
// at all.
func refused(t *testing.T, c voicenets.Config) *mutate.Score {
	t.Helper()
	n, err := voicenets.Session(c)
	if err != nil {
		t.Fatal(err)
	}
	views, err := closures(c, claims.Views(c))
	if err != nil {
		t.Fatal(err)
	}
	for i := range views {
		views[i].Properties, views[i].Timed, views[i].Structure = nil, nil, nil
	}
	judge, err := claims.Refusal(t.Context(), c, 50_000)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mutate.Run(t.Context(), n, mutate.Config{Closures: views, Max: 40_000, Workers: 2, Refuses: judge,
		Pick: picked, Progress: progress(t)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// picked reports whether a mutant is among those that flags choose: a small part without -mutation.
func picked(m mutate.Mutant) bool {
	if !*allMutants {
		return strings.HasPrefix(m.Name, "digits/")
	}
	sum := fnv.New32a()
	sum.Write([]byte(m.Name))
	return sum.Sum32()%uint32(*every) == 0 &&
		slices.ContainsFunc(strings.Split(*mutantsOf, ","), func(p string) bool { return strings.HasPrefix(m.Name, p) })
}

// byStructure is how many mutants were killed without a run.
func byStructure(s *mutate.Score) (n int) {
	structure := append(claims.Structure(mutated()), claims.Unseen(mutated())...)
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
	n, err := voicenets.Session(mutated())
	if err != nil {
		t.Fatal(err)
	}
	list, err := Closures(mutated())
	if err != nil {
		t.Fatal(err)
	}
	s, err := mutate.Run(context.Background(), n, mutate.Config{Closures: list, Max: 40_000, Workers: 2, Pick: pick,
		Basic: Basic(list), Progress: progress(t)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// progress says every 15 s how far mutation is.
func progress(t *testing.T) func(done, killed, of int) {
	last := time.Now()
	return func(done, killed, of int) {
		if time.Since(last) > 15*time.Second {
			last = time.Now()
			t.Logf("%d of %d mutants, %d killed", done, of, killed)
		}
	}
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
