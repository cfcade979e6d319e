package mutate

import (
	"context"
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// Closure is one way to prove properties of a net: the net, or a part of it, closed with automata
// of its environment.
type Closure struct {
	Name string
	// Close closes a net; nil means that the net is closed already. A mutant that does not change
	// what Close returns costs nothing, so many small closures are faster than one large closure.
	//
	// This closure skips a mutant that it cannot close or compile, or whose Properties cannot be
	// checked because something in it can no longer happen. Other closures may cover that mutant.
	Close func(*petri.Net) (*petri.Net, error)
	// Has reports whether what Close returns has a transition, named by its subnet, a slash and its
	// name. Nil: it has all.
	Has func(transition string) bool
	// Open returns the part of Close's argument that runs, if that is not all of it; witnesses are
	// replayed on it. Nil means all of it.
	Open func(*petri.Net) (*petri.Net, error)
	// Properties and Timed of this closure, in addition to those of Config.
	Properties, Timed []*verify.Property
	// Structure lists properties that the structure of a net decides. They kill a mutant without a
	// run.
	Structure []*verify.Property
	// Max replaces Config.Max in this closure; 0 keeps Config.Max.
	Max int
}

// Config says what to prove and within which limits.
type Config struct {
	// Closures in which the properties must hold. None: the net is closed already.
	Closures []Closure
	// Properties that the net keeps in every closure, for any timing. They are checked without time
	// first. Where that finds paths to a bad end and the machine takes none of them, they are
	// checked with time.
	Properties []*verify.Property
	// Timed lists properties about time that the net keeps in every closure: stateclass.Within,
	// NotBefore and the like. They are checked on mutants that Properties do not kill.
	Timed []*verify.Property
	// Basic names properties that every net should keep, such as capacity and deadlock-free;
	// Score.Strong does not count kills by these alone.
	Basic []string
	// Max is the most markings, and classes, of each exploration; 0 means explore.DefaultMax.
	Max       int
	Semantics netmodel.Semantics
	// Hunt accepts that Max leaves properties of the net itself undecided. Violations found within
	// Max still kill mutants.
	Hunt bool
	// Workers is how many mutants are tried at a time; 0 means 1. The score depends on it only
	// where Max cuts an exploration.
	Workers int
	// Pick, if not nil, chooses the mutants to try. Closures that have none of their changed
	// transitions are left out.
	Pick func(Mutant) bool
	// Refuses, if not nil, decides in place of all properties. It tries to prove a mutant, and
	// returns what it cannot prove of it, or absurd if the mutant cannot be checked. A mutant of
	// which it proves everything survives or is equal; Closures decide which. Several goroutines
	// call it.
	Refuses func(ctx context.Context, mutant *petri.Net) (by []string, absurd bool, err error)
	// Progress, if not nil, is called for each decided mutant, by one goroutine at a time, with the
	// number decided, the number killed among them, and the total.
	Progress func(done, killed, of int)
}

// closures returns the closures with defaults filled in.
func (c *Config) closures() []Closure {
	list := append([]Closure(nil), c.Closures...)
	if len(list) == 0 {
		list = []Closure{{Name: "closed"}}
	}
	for i := range list {
		cl := &list[i]
		cl.Properties = append(append([]*verify.Property(nil), c.Properties...), cl.Properties...)
		cl.Timed = append(append([]*verify.Property(nil), c.Timed...), cl.Timed...)
		if cl.Max == 0 {
			cl.Max = c.Max
		}
		if cl.Max <= 0 || cl.Max > explore.MaxMarkings {
			cl.Max = explore.DefaultMax
		}
	}
	return list
}

// narrow leaves out closures that have none of the mutants' transitions, unless none would remain.
func (c *Config) narrow(all []Mutant) {
	left := slices.DeleteFunc(slices.Clone(c.Closures), func(cl Closure) bool {
		return cl.Has != nil && !slices.ContainsFunc(all, func(m Mutant) bool { return cl.Has(m.Transition) })
	})
	if len(left) > 0 {
		c.Closures = left
	}
}

// compiled is a net in one closure.
type compiled struct {
	open, closed *petri.Program // open is nil if the net is closed already
	model        *netmodel.Model
}

// compile compiles a net in a closure.
func (cl *Closure) compile(n *petri.Net, s netmodel.Semantics) (*compiled, error) {
	var c compiled
	var err error
	closed := n
	if cl.Close != nil {
		runs := n
		if cl.Open != nil {
			if runs, err = cl.Open(n); err != nil {
				return nil, err
			}
		}
		if c.open, err = petri.Compile(runs); err != nil {
			return nil, err
		}
		if closed, err = cl.Close(n); err != nil {
			return nil, err
		}
	}
	if c.closed, err = petri.Compile(closed); err != nil {
		return nil, err
	}
	c.model = netmodel.New(c.closed, s)
	return &c, nil
}
