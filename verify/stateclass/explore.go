package stateclass

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/walk"
)

// progressEvery is how many classes are expanded between checks of the context.
const progressEvery = 1024

// Explore makes the state class graph of a model. It stops early, with an error, when ctx ends or a
// wait is longer than MaxWait; at the cap it returns the graph with Complete false.
//
// A class takes 8 bytes for each entry of its zone, (n+1)*(n+1) for n running clocks, and about 60
// more; an edge takes 16.
func Explore(ctx context.Context, m *netmodel.Model, o Options) (*Graph, error) {
	e, err := newExplorer(m, o)
	if err != nil {
		return nil, err
	}
	e.g.Chain = e.w.Start()
	for i := 0; i < len(e.g.classes); i++ {
		if i%progressEvery == 0 {
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("stateclass: explore %s: %w", m.Program().Name(), err)
			}
			if o.Progress != nil {
				o.Progress(len(e.g.classes), i)
			}
		}
		if len(e.g.classes) > e.g.Options.Max || e.g.left {
			e.finish()
			return e.g, nil
		}
		if e.g.classes[i].rep == uint32(i) {
			e.expand(i)
		}
	}
	e.g.Complete = !e.w.Cut && !e.g.left
	e.finish()
	return e.g, nil
}

type explorer struct {
	g     *Graph
	w     *walk.Walker
	table []uint32 // equality: class + 1 by hash
	tags  []uint32 // by class
	fire  firer
	from  int // class being expanded; -1 at the start
	first netmodel.Step
	lead  int     // first edge of the step being fired
	here  []int32 // marking of the class
	rows  []int   // by clock: row in the zone of the class; 0 if none
	steps []netmodel.Step
	old   []int // scratch of successors
	of    []ticks
	zone  []int64
	row   []int32

	faulted map[faultKey]bool
	refused map[walk.Refusal]bool
}

type faultKey struct {
	kind  walk.FaultKind
	place int
	t     int32
}

func newExplorer(m *netmodel.Model, o Options) (*explorer, error) {
	if o.Max <= 0 || o.Max > explore.MaxMarkings/2 {
		o.Max = DefaultMax
	}
	if !m.Layered() {
		return nil, fmt.Errorf("stateclass: explore %s: a projected move of the slice may fire in the midst of a chain; "+
			"keep the at-once transitions that it represents, or all that are tried after them", m.Program().Name())
	}
	e := &explorer{
		g: &Graph{Model: m, Options: o, set: explore.NewMarkingSet(m.Slots()),
			fired: make([]int32, m.StepCount())},
		from: -1, here: make([]int32, m.Slots()), rows: make([]int, len(m.Timed())), table: make([]uint32, 1<<12),
		faulted: map[faultKey]bool{}, refused: map[walk.Refusal]bool{},
	}
	for _, t := range m.Timed() {
		w := m.When(t)
		if w.Earliest > MaxWait || w.Latest != petri.Forever && w.Latest > MaxWait {
			return nil, fmt.Errorf("stateclass: explore %s: transition %s waits for %s; the longest wait is %v",
				m.Program().Name(), m.Transition(t), w, MaxWait)
		}
		if o.Relax && !keeps(o.Keep, m.Transition(t)) {
			w = petri.Anytime()
		}
		e.g.of = append(e.g.of, ticksOf(w))
	}
	if o.TimersFirst {
		e.g.place = places(m)
	}
	e.w = walk.NewWalker(m, e.visit, e.fault)
	e.w.Track()
	e.w.Merge, e.w.Turned = true, e.refuse
	e.w.Record, e.w.Seen = m.Chains() || o.Visit != nil || o.watch != 0, e.mark
	if o.watch != 0 {
		e.w.Seen = func(s netmodel.Step) {
			e.instant(s)
			e.mark(s)
		}
	}
	if m.HasFrames() {
		e.g.passing = explore.NewMarkingSet(m.Slots() + 1)
		e.w.Passing = e.pass
	}
	return e, nil
}

// pass notes a marking in which an immediate transition fires, and the rank of that transition.
func (e *explorer) pass(rank int32) {
	if !e.g.Model.FramesMayPass(e.w.Marking, rank) {
		return
	}
	e.row = append(append(e.row[:0], e.w.Marking...), rank)
	if _, isNew := e.g.passing.Add(e.row); isNew {
		e.g.passedBy = append(e.g.passedBy, origin{int32(e.from), e.first})
	}
}

// keeps reports whether a list has a name, in full or as its last parts.
func keeps(list []string, name string) bool {
	return slices.ContainsFunc(list, func(k string) bool { return k == name || strings.HasSuffix(name, "/"+k) })
}

// visit makes the class that a firing reached.
func (e *explorer) visit() {
	id := e.marking()
	mk := &e.g.markings[id]
	e.successor(mk)
	e.measure()
	to := e.class(id, mk)
	if fn := e.g.Options.Visit; fn != nil {
		e.g.left = !fn(Way{e.from, int(to), e.w.Chain, e.w.Kept, e.w.Marking, e.zone}) || e.g.left
	}
	if e.from < 0 {
		return
	}
	for _, old := range e.g.edges[e.lead:] {
		if old.To == to {
			return
		}
	}
	e.g.edges = append(e.g.edges, Edge{To: to, Step: e.first})
}

// marking finds or makes the data that the classes of the reached marking share.
func (e *explorer) marking() uint32 {
	g := e.g
	id, isNew := g.set.Add(e.w.Marking)
	if !isNew {
		return id
	}
	mk := marking{running: make([]uint64, len(e.w.Kept)), ended: g.Model.Ended(e.w.Marking)}
	walk.Running(g.Model, e.w.Marking, mk.running)
	for c := range g.of {
		switch {
		case mk.running[c>>6]>>(c&63)&1 == 0:
		case g.of[c].open():
			mk.open = append(mk.open, int32(c))
		default:
			mk.clocks = append(mk.clocks, int32(c))
		}
	}
	g.markings = append(g.markings, mk)
	return id
}

// successor computes the zone after the firing: clocks that ran on keep what the firing left of
// them, and the others start.
func (e *explorer) successor(mk *marking) {
	e.old, e.of = e.old[:0], e.of[:0]
	for _, c := range mk.clocks {
		row := 0
		if e.from >= 0 && e.w.Kept[c>>6]>>(c&63)&1 == 1 {
			row = e.rows[c]
		}
		e.old, e.of = append(e.old, row), append(e.of, e.g.of[c])
	}
	e.zone = e.fire.zoneAfter(e.old, e.of, e.zone)
}

// class finds or makes the class of a marking and e.zone.
func (e *explorer) class(id uint32, mk *marking) uint32 {
	if e.g.Options.Merge == Equality {
		return e.equal(id)
	}
	n := 0
	for i, k := range mk.classes {
		z := e.g.zone(k, len(e.zone))
		if includes(z, e.zone) {
			n += copy(mk.classes[n:], mk.classes[i:])
			mk.classes = mk.classes[:n]
			return k
		}
		if includes(e.zone, z) {
			e.g.classes[k].rep = uint32(len(e.g.classes))
			continue
		}
		mk.classes[n] = k
		n++
	}
	k := e.make(id)
	mk.classes = append(mk.classes[:n], k)
	return k
}

func (g *Graph) zone(class uint32, n int) []int64 {
	at := g.classes[class].zone
	return g.zones[at : at+n]
}

// equal finds an equal class by hash, or makes one.
func (e *explorer) equal(id uint32) uint32 {
	h := hashZone(id, e.zone)
	mask := uint64(len(e.table) - 1)
	at := h & mask
	for ; e.table[at] != 0; at = (at + 1) & mask {
		k := e.table[at] - 1
		if e.tags[k] == uint32(h>>32) && e.g.classes[k].marking == id && same(e.zone, e.g.zone(k, len(e.zone))) {
			return k
		}
	}
	k := e.make(id)
	e.table[at] = k + 1
	e.tags = append(e.tags, uint32(h>>32))
	if 2*len(e.tags) > len(e.table) {
		e.grow()
	}
	return k
}

// grow doubles the hash table.
func (e *explorer) grow() {
	e.table = make([]uint32, 2*len(e.table))
	mask := uint64(len(e.table) - 1)
	for k := range e.g.classes {
		c := &e.g.classes[k]
		n := len(e.g.markings[c.marking].clocks) + 1
		at := hashZone(c.marking, e.g.zone(uint32(k), n*n)) & mask
		for e.table[at] != 0 {
			at = (at + 1) & mask
		}
		e.table[at] = uint32(k) + 1
	}
}

func (e *explorer) make(id uint32) uint32 {
	k := uint32(len(e.g.classes))
	e.g.classes = append(e.g.classes, class{
		zone: len(e.g.zones), marking: id, parent: int32(e.from), by: e.first, edge: -1, rep: k,
	})
	e.g.zones = append(e.g.zones, e.zone...)
	return k
}

// expand fires everything that can fire first in a class.
func (e *explorer) expand(i int) {
	g := e.g
	e.from = i
	mk := g.markings[g.classes[i].marking]
	g.set.Get(int(g.classes[i].marking), e.here)
	g.classes[i].edge = len(g.edges)
	dim := len(mk.clocks) + 1
	for r, c := range mk.clocks {
		e.rows[c] = r + 1
	}
	for r, c := range mk.clocks {
		// The slice of zones may move while successors are added.
		e.fire.gap = g.gaps(c, &mk, e.fire.gap)
		if e.fire.begin(g.zones[g.classes[i].zone:][:dim*dim], dim, r+1) {
			e.fireClock(c, mk.running)
		}
	}
	for _, c := range mk.open {
		e.fire.gap = g.gaps(c, &mk, e.fire.gap)
		if e.fire.begin(g.zones[g.classes[i].zone:][:dim*dim], dim, 0) {
			e.fireClock(c, mk.running)
		}
	}
	g.classes[i].degree = int32(len(g.edges) - g.classes[i].edge)
	g.Model.EachFrame(e.here, func(s netmodel.Step) { e.mark(s) })
}

// fireClock fires every step of one clock's transition.
func (e *explorer) fireClock(c int32, running []uint64) {
	m := e.g.Model
	e.steps = m.Steps(m.Timed()[c], e.here, e.steps[:0])
	for _, s := range e.steps {
		e.first, e.lead = s, len(e.g.edges)
		e.g.Chain = max(e.g.Chain, e.w.FireKept(e.here, running, s))
	}
}

func (e *explorer) mark(s netmodel.Step) {
	if f := &e.g.fired[e.g.Model.StepIndex(s)]; *f == 0 {
		*f = int32(e.from) + 2
	}
}

func (e *explorer) refuse(r walk.Refusal) {
	k := walk.Refusal{Place: r.Place, Step: netmodel.Step{Transition: r.Step.Transition}}
	if !e.refused[k] {
		e.refused[k] = true
		e.g.Refusals = append(e.g.Refusals, explore.RefusalAt{Refusal: r, From: e.from, First: e.first})
	}
}

func (e *explorer) fault(f walk.Fault) {
	k := faultKey{f.Kind, f.Place, f.Step.Transition}
	if !e.faulted[k] {
		e.faulted[k] = true
		e.g.Faults = append(e.g.Faults, explore.FaultAt{Fault: f, From: e.from, First: e.first})
	}
}

// finish counts the live classes and their edges.
func (e *explorer) finish() {
	for i := range e.g.classes {
		if c := &e.g.classes[i]; c.rep == uint32(i) {
			e.g.alive++
			e.g.kept += int(c.degree)
		}
	}
}
