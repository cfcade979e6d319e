package mutate

import "slices"

// Score says what became of the mutants.
type Score struct {
	Mutants int // that count: refused and equal ones do not
	Killed  int
	Strong  int // killed by others than the basic properties
	Refused int // by Compile, or by a property that names what is gone
	Equal   int // the graph is that of the net, with time and all that leaves it
	// Survivors are the names of those that were not killed.
	Survivors []string
	// Idle are the survivors in which a transition of the net fires no more: a
	// proof that asks for transitions that fire would refuse them.
	Idle []string
	// KilledBy names, by mutant, properties that were refuted: one that is not
	// basic if there is any, and what was found before.
	KilledBy map[string][]string
	// Alive names, by survivor, the closures in which it behaves otherwise than the
	// net.
	Alive map[string][]string
	// Why says, by survivor, what was left open; nothing if it keeps everything.
	Why map[string]string
}

// Rate is the share of mutants that were killed, 1 if there is none.
func (s *Score) Rate() float64 { return share(s.Killed, s.Mutants) }

// StrongRate is the share of those killed by others than the basic properties.
func (s *Score) StrongRate() float64 { return share(s.Strong, s.Mutants) }

func share(n, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(n) / float64(of)
}

// add counts what became of one mutant.
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
