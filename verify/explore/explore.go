package explore

import (
	"context"
	"fmt"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/walk"
)

// Options limit and shape an exploration. The zero value explores up to DefaultMax markings, run to
// completion.
type Options struct {
	// Max is the most markings to visit; 0 means DefaultMax. At the cap the graph is incomplete.
	Max int
	// Semantics of transitions that fire at once.
	Semantics netmodel.Semantics
	// Reduce, if not nil, leaves out markings that differ only in the order of independent firings:
	// see Reduction.
	Reduce *Reduction
	// Progress, if not nil, is called every few thousand markings with the number of markings found
	// and the number expanded.
	Progress func(found, done int)
}

// DefaultMax is the cap on markings unless Options say otherwise.
const DefaultMax = 1 << 20

// progressEvery is the number of markings expanded between checks of the context.
const progressEvery = 4096

// Graph is the reachability graph of a net without time. It has every tangible marking (no
// transition is enabled that fires at once). Between markings it has one edge for each way in which
// a timed transition can fire, together with what follows at once. Waits are ignored: any enabled
// transition may fire next, so the graph holds every marking that any timing can reach.
//
// A Graph does not change after it is made. Checks of properties on it are not safe for concurrent
// use.
type Graph struct {
	// Model is the explored model.
	Model *netmodel.Model
	// Complete reports that all markings were found.
	Complete bool
	// Reduced reports that markings were left out that are not needed for what Options.Reduce
	// preserves. The counts of states and edges are then smaller than those of the net, and bounds
	// and fired transitions cover only what was kept.
	Reduced bool
	// Chain is the length of the longest chain of firings at one instant, after a timer or at the
	// start.
	Chain int
	// Faults are the firings at which a machine would panic, each place and transition once.
	Faults []FaultAt
	// Refusals are the tokens that full environment places turned away, each place and transition
	// once.
	Refusals []RefusalAt

	set     *MarkingSet
	roots   []uint32
	parent  []uint32        // by state: the state from which it was first reached; itself for roots
	by      []netmodel.Step // by state: the timed step that reached it
	edges   []Edge
	firstE  []int // by expanded state: its first edge
	passing *passing
	waits   map[int32]bool // kinds of frame that wait in some state; nil: not computed
	amidst  []bool         // by state: it is not at rest; nil: all are
	fired   []origin       // by branch of a mode: where it was first seen to fire
}

// origin is where something was first seen: in or after the first step from a state, or at the
// start of the net (from -1).
type origin struct {
	seen, frame bool
	from        int32
	first       netmodel.Step
}

// Edge leads from one state to another by a step and what follows at once.
type Edge struct {
	To   uint32
	Step netmodel.Step
}

// FaultAt is a fault and the state before the step that leads to it; From is -1 for the start of
// the net.
type FaultAt struct {
	walk.Fault
	From  int
	First netmodel.Step // the timed step from that state
}

// RefusalAt is a refusal and the state before the step that leads to it; From is -1 for the start
// of the net.
type RefusalAt struct {
	walk.Refusal
	From  int
	First netmodel.Step
}

// Explore visits every marking that a net can reach when time is ignored. It returns an error only
// when ctx ends; at the cap it returns the graph with Complete false.
//
// Each marking takes as many bytes as it has slots, rounded up to a multiple of 8, plus 24, plus 11
// to 21. Each edge takes 16 bytes. Memory may be up to twice that because arrays double.
func Explore(ctx context.Context, prog *petri.Program, o Options) (*Graph, error) {
	return ExploreModel(ctx, netmodel.New(prog, o.Semantics), o)
}

// ExploreModel is Explore for a model that is already made.
func ExploreModel(ctx context.Context, m *netmodel.Model, o Options) (*Graph, error) {
	if o.Max <= 0 || o.Max > MaxMarkings {
		o.Max = DefaultMax
	}
	e := newExplorer(m, o)
	if o.Reduce != nil {
		if err := e.reduce(o.Reduce); err != nil {
			return nil, err
		}
	}
	e.start()
	e.packed = packedFor(e)
	for i := 0; i < e.g.set.Len(); i++ {
		if i%progressEvery == 0 {
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("verify: explore %s: %w", m.Program().Name(), err)
			}
			if o.Progress != nil {
				o.Progress(e.g.set.Len(), i)
			}
		}
		if e.g.set.Len() > o.Max {
			return e.g, nil
		}
		e.expand(i)
	}
	e.g.Complete = !e.w.Cut
	return e.g, nil
}

type explorer struct {
	g     *Graph
	w     *walk.Walker
	from  int // state being expanded; -1 at the start
	first netmodel.Step
	here  []int32 // its marking
	steps []netmodel.Step

	stubborn *stubborn // nil: nothing is left out
	packed   *packed   // nil: the walker fires everything

	lead int // first edge of the step being fired

	faulted map[faultKey]bool
	refused map[walk.Refusal]bool
}

type faultKey struct {
	kind  walk.FaultKind
	place int
	t     int32
}

func newExplorer(m *netmodel.Model, o Options) *explorer {
	e := &explorer{
		g: &Graph{Model: m, set: NewMarkingSet(m.Slots())}, from: -1, here: make([]int32, m.Slots()),
		faulted: map[faultKey]bool{}, refused: map[walk.Refusal]bool{},
	}
	e.g.fired = make([]origin, m.StepCount())
	e.w = walk.NewWalker(m, e.visit, e.fault)
	e.w.Merge = true
	e.w.Record, e.w.Seen, e.w.Turned = len(m.Order) > 0, e.mark, e.refuse
	e.watchPassing()
	return e
}

func (e *explorer) start() { e.g.Chain = e.w.Start() }

// visit records one tangible marking that a step led to.
func (e *explorer) visit() {
	i, isNew := e.g.set.Add(e.w.Marking)
	if isNew {
		e.g.parent = append(grow(e.g.parent, 1), uint32(max(e.from, 0)))
		e.g.by = append(grow(e.g.by, 1), e.first)
		if len(e.g.Model.Amidst) > 0 {
			e.g.amidst = append(e.g.amidst, e.w.Amidst)
		}
	}
	if e.from < 0 {
		if isNew {
			e.g.parent[i] = i
			e.g.roots = append(e.g.roots, i)
		}
		return
	}
	for _, old := range e.g.edges[e.lead:] {
		if old.To == i {
			return
		}
	}
	e.g.edges = append(grow(e.g.edges, 1), Edge{To: i, Step: e.first})
}

func (e *explorer) mark(s netmodel.Step) {
	o := &e.g.fired[e.g.Model.StepIndex(s)]
	if !o.seen {
		*o = origin{seen: true, from: int32(e.from), first: e.first}
	}
}

func (e *explorer) refuse(r walk.Refusal) {
	k := walk.Refusal{Place: r.Place, Step: netmodel.Step{Transition: r.Step.Transition}}
	if !e.refused[k] {
		e.refused[k] = true
		e.g.Refusals = append(e.g.Refusals, RefusalAt{Refusal: r, From: e.from, First: e.first})
	}
}

func (e *explorer) fault(f walk.Fault) {
	k := faultKey{f.Kind, f.Place, f.Step.Transition}
	if !e.faulted[k] {
		e.faulted[k] = true
		e.g.Faults = append(e.g.Faults, FaultAt{Fault: f, From: e.from, First: e.first})
	}
}

// expand fires everything that is enabled in a state.
func (e *explorer) expand(i int) {
	g, m := e.g, e.g.Model
	e.from = i
	g.firstE = append(grow(g.firstE, 1), len(g.edges))
	if e.packed != nil && e.packed.each != g.set.each {
		e.packed = packedFor(e)
	}
	if e.packed != nil {
		e.expandPacked(i)
		return
	}
	g.set.Get(i, e.here)
	if m.Ended(e.here) {
		return
	}
	if g.amidst != nil && g.amidst[i] {
		m.EachAmidst(e.here, e.fire)
		return
	}
	if e.stubborn != nil {
		e.expandReduced(i)
		return
	}
	for _, t := range m.Timed() {
		e.fire(t)
	}
	m.EachFrame(e.here, func(s netmodel.Step) {
		if o := &g.fired[m.StepIndex(s)]; !o.seen {
			*o = origin{seen: true, frame: true, from: int32(i)}
		}
	})
}

// fire fires every step of a transition.
func (e *explorer) fire(t int32) {
	e.steps = e.g.Model.Steps(t, e.here, e.steps[:0])
	for _, s := range e.steps {
		e.walk(s)
	}
}

// walk fires a step with the walker.
func (e *explorer) walk(s netmodel.Step) {
	e.first, e.lead = s, len(e.g.edges)
	e.g.Chain = max(e.g.Chain, e.w.Fire(e.here, s))
}
