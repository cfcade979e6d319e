package workflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/petri"
)

// Sketch returns the net of one block for drawings: each agent in it is one transition. Left out are what
// serves the end of a run, and what the block needs of its surroundings before it goes on. name is the name of
// an agent or of the workflow; the first block with that name is drawn. The error says that no block has it.
func (c *Compiled) Sketch(name string) (*petri.Program, error) {
	i := slices.IndexFunc(c.blocks, func(b *block) bool { return b.agent.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("workflow: draw %s: nothing in %s has this name", name, c.Workflow.File)
	}
	prog, err := petri.Compile(petri.Alone(c.blocks[i].short().sketch()))
	if err != nil {
		return nil, fmt.Errorf("workflow: draw %s: %w", name, err)
	}
	return prog, nil
}

// short is a copy of the block and its kids, with names instead of paths.
func (b *block) short() *block {
	s := *b
	s.path, s.words, s.refusals, s.kids = b.name, map[string]string{}, nil, nil
	for _, k := range b.kids {
		kid := *k
		kid.path, kid.parent, kid.words, kid.refusals = k.name, &s, map[string]string{}, nil
		if k.loop == b {
			kid.loop = &s
		}
		s.kids = append(s.kids, &kid)
	}
	return &s
}

// sketch is the net of the block without the end of a run, each kid and each worker as a transition.
func (b *block) sketch() *petri.Net {
	var tasks []*petri.Net
	for _, k := range b.kids {
		tasks = append(tasks, k.asTask())
	}
	n := b.netOf(tasks)
	n.Nets, n.Caps = nil, nil
	n.Sinks = slices.DeleteFunc(n.Sinks, func(p petri.AnyPlace) bool { return p.String() != parked.String() })
	n.Transitions = slices.DeleteFunc(n.Transitions, func(t petri.Transition) bool {
		return touches(t.Read, agent.EndInvocation) || slices.Contains(b.refusals, t.Name)
	})
	inner := func(arcs petri.Arcs) petri.Arcs { // without those to places that others share
		return slices.DeleteFunc(slices.Clone(arcs), func(a petri.AnyArc) bool {
			return slices.ContainsFunc(n.Ports, func(p petri.AnyPlace) bool { return p.String() == petri.ArcPlace(a).String() })
		})
	}
	for i := range n.Transitions {
		t := &n.Transitions[i]
		t.Inhibit, t.Read, t.Reset = inner(t.Inhibit), inner(t.Read), inner(t.Reset)
	}
	for _, k := range b.kids {
		for _, o := range k.outlets() {
			t := petri.Transition{Name: k.name + strings.TrimPrefix(o.name, "finish"), In: petri.Arcs{k.in()},
				Out: petri.And(o.place), When: petri.Anytime()}
			if o.exit {
				t.Out = petri.And(o.place, k.loop.exit())
			}
			n.Transitions = append(n.Transitions, t)
		}
	}
	for i, t := range b.tasks() {
		from, to, name := job, result, "work"
		if i > 0 {
			from, to, name = toolJob, toolResult, "tools"
		}
		n.Transitions = append(n.Transitions,
			petri.Transition{Name: name + "_begins", In: petri.Arcs{from}, Out: petri.And(t.InFlight)},
			petri.Transition{Name: name + "_returns", In: petri.Arcs{t.InFlight}, When: petri.Anytime(),
				Out:    petri.Free(petri.Arcs{to.Is(petri.Succeeded)}, petri.Arcs{to.Is(petri.Failed)}),
				Action: func(f *petri.Firing) { f.Choose(0) }}) // the net is drawn, never run
	}
	used := map[string]bool{}
	for _, t := range n.Transitions {
		for _, a := range slices.Concat(t.In, t.Read, t.Inhibit, t.Reset, t.Out.Arcs()) {
			used[petri.ArcPlace(a).String()] = true
		}
	}
	n.Ports = slices.DeleteFunc(n.Ports, func(p petri.AnyPlace) bool { return !used[p.String()] })
	return n
}

// touches reports whether arcs lead to a place.
func touches(arcs petri.Arcs, place petri.AnyPlace) bool {
	return slices.ContainsFunc(arcs, func(a petri.AnyArc) bool { return petri.ArcPlace(a).String() == place.String() })
}
