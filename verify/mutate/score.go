package mutate

import "slices"

// Score counts the results of the mutants.
type Score struct {
	Mutants int // those that count: not the refused and equal ones
	Killed  int
	Strong  int // killed by a property that is not basic
	Refused int // by Compile, or by a property that names something absent
	Equal   int // the graph is that of the net, with time and all outputs
	// Survivors are the names of mutants that were not killed.
	Survivors []string
	// Idle are the survivors in which a transition of the net no longer fires. A proof that
	// requires transitions to fire would refuse them.
	Idle []string
	// KilledBy names, by mutant, the refuted properties: one that is not basic if there is any, and
	// those found before it.
	KilledBy map[string][]string
	// Alive names, by survivor, the closures in which it behaves differently from the net.
	Alive map[string][]string
	// Why says, by survivor, what stayed undecided; it has no entry for a mutant that keeps
	// everything.
	Why map[string]string
}

// Rate is the share of mutants that were killed; 1 without mutants.
func (s *Score) Rate() float64 { return share(s.Killed, s.Mutants) }

// StrongRate is the share of mutants that a property killed that is not basic.
func (s *Score) StrongRate() float64 { return share(s.Strong, s.Mutants) }

func share(n, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(n) / float64(of)
}

// add counts the result of one mutant.
func (s *Score) add(name string, f *fate, basic []string) {
	switch {
	case f.refused:
		s.Refused++
		return
	case f.equal:
		s.Equal++
		return
	}
	s.Mutants++
	if len(f.by) == 0 {
		s.Survivors = append(s.Survivors, name)
		s.Alive[name] = f.alive
		if f.idle {
			s.Idle = append(s.Idle, name)
		}
		if f.why != "" {
			s.Why[name] = f.why
		}
		return
	}
	s.Killed++
	s.KilledBy[name] = f.by
	if slices.ContainsFunc(f.by, func(p string) bool { return !slices.Contains(basic, p) }) {
		s.Strong++
	}
}
