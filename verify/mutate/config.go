package mutate

import (
	"context"
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// Closure is one way to prove something of a net: the net, or a part of it,
// closed with automata of its environment.
type Closure struct {
	Name string
	// Close closes a net; nil: it is closed already. A mutant that makes no
	// difference to what it returns costs nothing, so many small closures are
	// quicker than a large one.
	// A mutant that cannot be closed or compiled so, or of which Properties cannot
	// be asked, because something in it happens no more, is not seen here; others
	// may show it.
	Close func(*petri.Net) (*petri.Net, error)
	// Has reports whether a transition, after the name of its subnet and a slash,
	// is in what Close returns. nil: all are.
	Has func(transition string) bool
	// Open is what runs, of the net that Close is given, if that is not all of
	// it: witnesses are replayed on it. nil means all of it.
	Open func(*petri.Net) (*petri.Net, error)
	// Properties and Timed of this closure, beside those of Config.
	Properties, Timed []*verify.Property
	// Structure are properties that the structure of a net decides: they need no
	// run to kill a mutant.
	Structure []*verify.Property
	// Max is Config.Max for this closure; 0 means that.
	Max int
}

// Config says what the proofs are.
type Config struct {
	// Closures in which the properties must hold. None: the net is closed
	// already.
	Closures []Closure
	// Properties that the net keeps in every closure, whatever its timing: they
	// are looked at without time first, and with time where a way to a bad end
	// was found that no machine takes.
	Properties []*verify.Property
	// Timed are properties that speak of time and that the net keeps in every
	// closure: stateclass.Within, NotBefore and the like. They are asked of
	// mutants that Properties do not kill.
	Timed []*verify.Property
	// Basic names properties that every net should keep, such as capacity and
	// deadlock-free: Score.Strong does without them.
	Basic []string
	// Max markings, and classes, of each exploration; 0 means
	// verify.DefaultMax.
	Max       int
	Semantics verify.Semantics
	// Hunt lets Max leave properties of the net itself open: mutants are then
	// killed by what is found within Max.
	Hunt bool
	// Workers is how many mutants are tried at a time, 1 if it is 0. The score
	// depends on it only where Max cuts.
	Workers int
	// Pick, if not nil, chooses the mutants that are looked at. Closures that have
	// none of the transitions they change are left out.
	Pick func(Mutant) bool
	// Refuses, if not nil, decides in place of all properties: it proves a mutant,
	// and returns what it does not prove of it, or that it cannot be asked. A mutant
	// of which it proves everything survives, or is equal: Closures tell. It is
	// called by several goroutines.
	Refuses func(ctx context.Context, mutant *petri.Net) (by []string, absurd bool, err error)
	// Progress, if not nil, is called for each mutant that was decided, by one
	// goroutine at a time: how many were, how many of them were killed, and how
	// many there are.
	Progress func(done, killed, of int)
}

// closures are the ways of proving, with what each leaves out filled in.
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
		if cl.Max <= 0 || cl.Max > verify.MaxMarkings {
			cl.Max = verify.DefaultMax
		}
	}
	return list
}

// narrow leaves out closures that show none of the mutants, unless none would be left.
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
	model        *verify.Model
}

// compile compiles a net in a closure.
func (cl *Closure) compile(n *petri.Net, s verify.Semantics) (*compiled, error) {
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
	c.model = verify.NewModel(c.closed, s)
	return &c, nil
}
