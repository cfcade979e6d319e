package workflow

import (
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/petri"
)

// A leaf parks if some of its calls have results only later: it then does nothing until the run ends. The
// run ends once no leaf works, with agent.Parked, and everything in the net is discarded, as if the run
// failed. It goes on as another run from the beginning, whose worker knows what has been done: see
// agent.Program.Resumes.

// someParked is marked once a leaf has parked. As in keyPlace, the dot sets it apart from the places of blocks.
const someParked = petri.Place[petri.Unit]("." + parked)

// works is marked while the leaf itself works: it is neither parked, nor waits for an agent that it calls.
func (b *block) works() petri.Place[petri.Unit] { return petri.Place[petri.Unit](b.id() + ".works") }

// park adds what follows a result that comes later.
func (b *block) park(n *petri.Net) {
	n.Sinks = append(n.Sinks, parked)
	b.add(n, b.label()+" waits for results", petri.Transition{Name: "park", In: petri.Arcs{parking, b.works()},
		Reset: petri.Arcs{someParked}, Out: petri.And(parked.Passing(parking), someParked)})
}

// parkRun ends a run in which leaves are parked, and none of the leaves works.
func parkRun(leaves petri.Arcs) petri.Transition {
	return petri.Transition{Name: "park_run", In: petri.Arcs{someParked}, Inhibit: leaves, Priority: -1,
		Out: petri.And(agent.EndInvocation.Is(agent.Parked)), Action: func(f *petri.Firing) {
			agent.EndInvocation.Put(f, &agent.End{How: agent.Parked})
		}}
}

// workPlaces are the places that tell which leaves work.
func workPlaces(root *block) petri.Arcs {
	var list petri.Arcs
	root.each(func(b *block) {
		if b.agent.leaf() {
			list = append(list, b.works())
		}
	})
	return list
}

// parksLast checks that the run parks only when no leaf works: each leaf that works holds it up.
func (c *Compiled) parksLast() error {
	for _, t := range c.prog.Transitions() {
		if t.Name != frameName+"/park_run" {
			continue
		}
		for _, p := range workPlaces(c.root) {
			place := c.prog.Place(petri.ArcPlace(p).String())
			if !slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
				return a.Kind == petri.InhibitArc && a.Place == place
			}) {
				return fmt.Errorf("%s may fire while %s is marked", t.Name, petri.ArcPlace(p))
			}
		}
		return nil
	}
	return fmt.Errorf("the net has no transition %s/park_run", frameName)
}
