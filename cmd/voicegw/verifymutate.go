package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/verify/mutate"
	"github.com/voicegw/voicegw/voicenets"
	"github.com/voicegw/voicegw/voicenets/mutants"
)

// viewMax is how many markings of a view are visited for each mutant.
const viewMax = 20_000

// mutantsJSON is what --mutate --json prints of a net.
type mutantsJSON struct {
	Net       string            `json:"net"`
	Mutants   int               `json:"mutants"` // that count: refused and equal ones do not
	Killed    int               `json:"killed"`
	Score     float64           `json:"score"`                              // of 1
	Strong    int               `json:"killed_by_others_than_basic_claims"` // capacity, and that what comes is answered
	Refused   int               `json:"refused"`
	Equal     int               `json:"equal"`
	Idle      int               `json:"idle"` // survivors in which a transition fires no more
	Survivors []string          `json:"survivors"`
	Open      map[string]string `json:"open,omitempty"` // by survivor: what no verdict was reached about, if that is known
}

// checkMutate refuses flags that do not go together; picked says that --mutants is there.
func (c *fileCheck) checkMutate(picked bool) error {
	switch {
	case c.mutate && c.kept.wanted():
		return usagef("--script and --frames keep what refutes a property; --mutate checks changed nets")
	case c.mutate && (len(c.properties) > 0 || c.certificates != ""):
		return usagef("--mutate asks all properties of changed nets; leave --property and --certificates out")
	case picked && !c.mutate:
		return usagef("--mutants chooses among the changes that --mutate makes; add that")
	}
	return nil
}

// score prints how much the properties of nets notice.
func (c *fileCheck) score(ctx context.Context, nets []shippedNet, w io.Writer,
	of func(shippedNet, context.Context) (*mutate.Score, error)) error {
	for _, n := range nets {
		s, err := of(n, ctx)
		if err != nil {
			return err
		}
		m := mutantsJSON{n.name, s.Mutants, s.Killed, s.Rate(), s.Strong, s.Refused, s.Equal, len(s.Idle),
			append([]string{}, s.Survivors...), s.Why}
		if s.Mutants+s.Refused+s.Equal == 0 {
			return usagef("no change of %s has a name that begins with %q; they begin with a part, such as link/", n.name,
				c.mutants)
		}
		if c.json {
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			if err := e.Encode(m); err != nil {
				return err
			}
			continue
		}
		printScore(w, m, s)
	}
	return nil
}

// printScore prints a score for people.
func printScore(w io.Writer, m mutantsJSON, s *mutate.Score) {
	fmt.Fprintf(w, "%s: %d of %d mutants killed (%.1f %%), %d of them by others than capacity and that what comes is "+
		"answered;\n  %d more were refused, %d are equal\n", m.Net, m.Killed, m.Mutants, 100*m.Score, m.Strong, m.Refused,
		m.Equal)
	for _, name := range m.Survivors {
		note := ""
		if slices.Contains(s.Idle, name) {
			note = " (a transition fires no more)"
		}
		if why := s.Why[name]; why != "" {
			note += ": " + why
		}
		fmt.Fprintf(w, "  survives: %s%s\n", name, note)
	}
}

// mutate changes the net in one place at a time, where the names of the changes begin so; with small counts, so that
// it ends in minutes.
func (n shippedNet) mutate(ctx context.Context, begins string, p *progress) (*mutate.Score, error) {
	config := mutants.Small(n.config)
	net, err := voicenets.Session(config)
	if err != nil {
		return nil, err
	}
	views, err := mutants.Closures(config)
	if err != nil {
		return nil, err
	}
	return mutate.Run(ctx, net, mutate.Config{
		Closures: views,
		Max:      viewMax,
		Basic:    mutants.Basic(views),
		Workers:  runtime.GOMAXPROCS(0),
		Pick:     func(m mutate.Mutant) bool { return strings.HasPrefix(m.Name, begins) },
		Progress: func(done, killed, of int) { p.say("%s: %d of %d mutants done, %d killed", n.name, done, of, killed) },
	})
}
