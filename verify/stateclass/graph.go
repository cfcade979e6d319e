package stateclass

import (
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// Merge says when two classes of one marking become one.
type Merge uint8

const (
	// Inclusion merges a class into one that holds all its states, in either order of discovery. It
	// keeps the set of markings exact. It is the default.
	Inclusion Merge = iota
	// Equality merges only equal classes. It keeps firing sequences too.
	Equality
)

// Options limit and shape an exploration. The zero value merges by inclusion, keeps every wait and
// explores up to DefaultMax classes.
type Options struct {
	Merge Merge
	// Max is the most classes to make, including those that others replaced; 0 means DefaultMax. At
	// the cap the graph is incomplete.
	Max int
	// Relax lets every timed transition except those in Keep fire at any time. A property that then
	// holds of every marking also holds with the waits; upper bounds of times do not carry over.
	Relax bool
	// Keep names the transitions that keep their waits under Relax. A name matches every transition
	// whose name ends in it after a slash.
	Keep []string
	// TimersFirst explores only what a petri.Machine does at a tie: a timer of the net that runs
	// fires before a move of its environment, and timers fire in order of declaration. Otherwise
	// the exploration resolves ties in every way, which a proof should rest on. Every run of a
	// graph with TimersFirst can be replayed. Relaxed transitions have no ties.
	TimersFirst bool
	// Progress, if not nil, is called every 1024 classes with the number found and the number of
	// those already done.
	Progress func(found, done int)

	// Visit, if not nil, is called for every way in which a class is reached, in an order that is
	// the same for the same net. Once it returns false, no further class is expanded.
	Visit func(Way) bool

	watch  int32 // transition of an observer; 0: none
	latest bool  // the observer counts from the latest start
}

// Way is one way in which an exploration reached a class. The slices are valid during the call and
// must not be changed.
type Way struct {
	From, To int // classes; From is -1 at the start
	// Chain holds the firings: the timed one and those that followed at once.
	Chain []netmodel.Step
	// Kept says which clocks ran on: clock i is bit i%64 of word i/64.
	Kept    []uint64
	Marking []int32
	Zone    []int64 // what was reached; the class may hold more
}

// DefaultMax is the cap on classes unless Options set another.
const DefaultMax = 1 << 20

// Graph is a state class graph. It is immutable once made and may be read concurrently.
type Graph struct {
	// Model is what was explored.
	Model *netmodel.Model
	// Options are those of the exploration.
	Options Options
	// Complete reports that all classes were found.
	Complete bool
	// Chain is the longest run of firings at one instant.
	Chain int
	// Faults are the firings at which a machine would panic, once for each place and transition;
	// From is the class before.
	Faults []explore.FaultAt
	// Refusals are the tokens that full environment places refused.
	Refusals []explore.RefusalAt

	of       []ticks // by clock
	place    []int32 // by clock: its order at a tie; nil: any order
	set      *explore.MarkingSet
	markings []marking
	classes  []class
	zones    []int64
	edges    []Edge
	alive    int
	kept     int                 // edges that leave live classes
	passing  *explore.MarkingSet // markings with an immediate firing, and its rank
	passedBy []origin
	stopped  bool
	left     bool // Visit returned false
	elapsed  Span
	quickest origin
	instant  bool    // quickest is a chain that both starts and stops the observer
	fired    []int32 // by step: class from which it was first seen to fire, plus 2
}

// origin is a firing from a class.
type origin struct {
	from  int32
	first netmodel.Step
}

// marking is what all classes of one marking share.
type marking struct {
	clocks  []int32 // clocks that have a row, ascending
	open    []int32 // enabled clocks with interval [0,inf)
	running []uint64
	ended   bool
	classes []uint32 // the live ones
}

// class is a marking with a zone.
type class struct {
	zone    int // offset
	marking uint32
	parent  int32 // class it was found from; -1 at the start
	by      netmodel.Step
	edge    int    // first edge; -1 if the class was not expanded
	degree  int32  // number of edges
	rep     uint32 // the class itself, or the class that replaced it
}

// Edge leads from one class to another by a timed firing and the firings that follow at once.
type Edge struct {
	To   uint32
	Step netmodel.Step
}

// Span is how long something takes: at least and at most. Most is petri.Forever if nothing bounds
// it.
type Span struct{ Least, Most int64 }

// Classes is the number of classes, not counting those that others replaced.
func (g *Graph) Classes() int { return g.alive }

// Edges is the number of edges that leave the classes counted by Classes.
func (g *Graph) Edges() int { return g.kept }

// Markings is the number of markings of the classes.
func (g *Graph) Markings() int { return g.set.Len() }

// Each calls fn for every class with its marking until fn returns false. fn must not keep the
// marking.
func (g *Graph) Each(fn func(class int, marking []int32) bool) {
	m := make([]int32, g.Model.Slots())
	for i := range g.classes {
		c := &g.classes[i]
		if c.rep != uint32(i) {
			continue
		}
		g.set.Get(int(c.marking), m)
		if !fn(i, m) {
			return
		}
	}
}

// Marking writes the marking of a class to m and returns it. If m is too short, it returns a new
// slice.
func (g *Graph) Marking(class int, m []int32) []int32 {
	if len(m) < g.Model.Slots() {
		m = make([]int32, g.Model.Slots())
	}
	g.set.Get(int(g.classes[class].marking), m)
	return m
}

// from returns the edges that leave a class. An edge may lead to a class that another has replaced
// since; Rep finds that one. The caller must not change the slice.
func (g *Graph) from(class int) []Edge {
	c := &g.classes[class]
	if c.edge < 0 {
		return nil
	}
	return g.edges[c.edge : c.edge+int(c.degree)]
}

// rep is the class itself, or the one that replaced it.
func (g *Graph) rep(class uint32) uint32 {
	for g.classes[class].rep != class {
		class = g.classes[class].rep
	}
	return class
}

// Dead returns the classes from which nothing can fire, except those at the end of the run.
func (g *Graph) Dead() []int {
	var out []int
	for i := range g.classes {
		c := &g.classes[i]
		mk := &g.markings[c.marking]
		if c.rep == uint32(i) && c.edge >= 0 && len(mk.clocks)+len(mk.open) == 0 && !mk.ended {
			out = append(out, i)
		}
	}
	return out
}

// fires reports whether a transition fires from some class, or would fire as a frame if a frame
// arrived.
func (g *Graph) fires(t int32) bool {
	from, to := g.Model.StepsOf(t)
	for _, f := range g.fired[from:to] {
		if f > 0 {
			return true
		}
	}
	return false
}

// Idle lists the transitions that fire nowhere.
func (g *Graph) Idle() []int32 {
	var out []int32
	for t := range g.Model.Count() {
		if !g.fires(int32(t)) {
			out = append(out, int32(t))
		}
	}
	return out
}

// Bounds returns, by place of the program, the most tokens that the place holds in any class.
func (g *Graph) Bounds() []int {
	out := make([]int, len(g.Model.Program().Places()))
	m := make([]int32, g.Model.Slots())
	for i := range g.set.Len() {
		g.set.Get(i, m)
		for p := range out {
			out[p] = max(out[p], g.Model.Marked(p, m))
		}
	}
	return out
}
