package workflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/petri"
)

// running is marked while a block that holds tokens of its own works.
const running petri.Place[petri.Unit] = "running"

// Counters of blocks.
const (
	rounds petri.Place[petri.Unit] = "rounds" // of a loop, that it may still begin
	hops   petri.Place[petri.Unit] = "hops"   // of a router, that it may still make
)

// netOf returns the net of a block, around the nets of its kids. Each block has one place where a run
// enters and one where it leaves; a router has one more for each target. All other places are empty
// before and after.
func (b *block) netOf(kids []*petri.Net) *petri.Net {
	n := &petri.Net{Name: b.name, Nets: kids}
	switch b.agent.Type {
	case sequentialType, reactType:
		b.sequence(n)
	case parallelType:
		b.parallel(n)
	case loopType:
		b.rounds(n)
	case dagType:
		b.graph(n)
	case routedType:
		b.routed(n)
	default:
		b.leafNet(n)
	}
	b.ports(n)
	b.caps(n)
	return agent.Guarded(n)
}

// ports makes ports of everything that the block shares: its own way in and out, and what its kids
// share with more than this block.
func (b *block) ports(n *petri.Net) {
	inner := map[string]bool{}
	for _, p := range []petri.AnyPlace{job, result, toolJob, toolResult} { // of the workers of a leaf
		inner[p.String()] = true
	}
	for _, k := range b.kids {
		inner[k.in().String()], inner[k.out().String()] = true, true
		for _, to := range k.targets() {
			inner[k.route(to).String()] = true
		}
	}
	if b.agent.Type == loopType {
		inner[b.exit().String()] = true
	}
	ports := append([]petri.AnyPlace{b.in(), b.out(), agent.EndInvocation}, n.Ports...)
	for _, to := range b.targets() {
		ports = append(ports, b.route(to))
	}
	for _, k := range n.Nets {
		ports = append(ports, k.Ports...)
	}
	n.Ports = nil
	seen := map[string]bool{}
	for _, p := range ports {
		if !inner[p.String()] && !seen[p.String()] {
			seen[p.String()] = true
			n.Ports = append(n.Ports, p)
		}
	}
}

// add adds a transition to the net of the block. words say what its firing means; "" is not told.
func (b *block) add(n *petri.Net, words string, t petri.Transition) {
	b.words[t.Name] = words
	n.Transitions = append(n.Transitions, t)
}

// move is a transition that passes the flow on.
func move(name string, from, to petri.Place[*Flow]) petri.Transition {
	return petri.Transition{Name: name, In: petri.Arcs{from}, Out: petri.And(to)}
}

// discard empties the block when the run is to end.
func (b *block) discard(n *petri.Net, mark petri.AnyPlace, rest ...petri.AnyArc) {
	b.add(n, "", petri.Transition{Name: "discard", In: petri.Arcs{mark}, Read: petri.Arcs{agent.EndInvocation},
		Reset: rest})
}

// sequence runs the kids one after the other.
func (b *block) sequence(n *petri.Net) {
	last := len(b.kids) - 1
	b.add(n, "", move("begin", b.in(), b.kids[0].in()))
	for i := range last {
		b.add(n, "", move(fmt.Sprint("next", i+1), b.kids[i].out(), b.kids[i+1].in()))
	}
	b.add(n, "", move("end", b.kids[last].out(), b.out()))
}

// parallel runs all kids at once and waits for all.
func (b *block) parallel(n *petri.Net) {
	b.dag(n, make([]dagNode, len(b.kids)), "")
}

// graph runs each node when its own dependencies are done.
func (b *block) graph(n *petri.Net) { b.dag(n, b.nodes, "the nodes of ") }

// dagEnd stands for the end of a dag among its nodes. Names that are not of the file have a dot, which no
// name of an agent has.
const dagEnd = ".end"

// edge is marked while one node of a dag is done and another has not started.
func (b *block) edge(from int, to string) petri.Place[*Flow] {
	return petri.Place[*Flow](b.kids[from].name + ">" + to)
}

// dag adds the net of a dag: a place for each edge.
func (b *block) dag(n *petri.Net, nodes []dagNode, what string) {
	var first, edges petri.Arcs
	leads := make([]bool, len(nodes))
	for i, node := range nodes {
		k := b.kids[i]
		for _, d := range node.deps {
			leads[d] = true
			if !node.any && len(node.deps) > 1 { // elsewhere a token never rests
				edges = append(edges, b.edge(d, k.name))
			}
		}
		switch {
		case len(node.deps) == 0:
			first = append(first, k.in().Passing(b.in()))
		case node.any || len(node.deps) == 1:
			for _, d := range node.deps {
				b.add(n, "", move("ready_"+k.name+".after."+b.kids[d].name, b.edge(d, k.name), k.in()))
			}
		default:
			b.add(n, "", b.join("ready_"+k.name, node.deps, k.name, nil, k.in()))
		}
	}
	var ends []int
	for i := range nodes {
		if !leads[i] {
			ends = append(ends, i)
			if !b.agent.AnyEnd {
				edges = append(edges, b.edge(i, dagEnd))
			}
		}
	}
	begin := petri.Transition{Name: "begin", In: petri.Arcs{b.in()}, Out: petri.And(append(first, running)...)}
	b.add(n, "", begin)
	for i := range nodes {
		b.done(n, nodes, i, leads[i])
	}
	if b.agent.AnyEnd {
		for _, i := range ends {
			b.add(n, what+b.label()+" end with "+b.kids[i].label(), petri.Transition{Name: "end_with_" + b.kids[i].name,
				In: petri.Arcs{b.edge(i, dagEnd), running}, Out: petri.And(b.out())})
		}
	} else {
		b.add(n, b.label()+" has all its results", b.join("end", ends, dagEnd, petri.Arcs{running}, b.out()))
	}
	b.discard(n, running, edges...)
}

// join waits for edges and joins what they carry, in the order of the file.
func (b *block) join(name string, from []int, to string, more petri.Arcs, out petri.Place[*Flow]) petri.Transition {
	in := slices.Clone(more)
	for _, d := range from {
		in = append(in, b.edge(d, to))
	}
	return petri.Transition{Name: name, In: in, Out: petri.And(out), Action: func(f *petri.Firing) {
		joined := *b.edge(from[0], to).Get(f)
		for _, d := range from[1:] {
			next := b.edge(d, to).Get(f)
			joined.State, joined.Output = joined.State.join(next.State), next.Output
			joined.Said = joinSaid(joined.Said, next.Said)
		}
		out.Put(f, &joined)
	}}
}

// done marks the edges behind a node: all of them, or, with routes, those of its output.
func (b *block) done(n *petri.Net, nodes []dagNode, i int, leads bool) {
	t := petri.Transition{Name: "done_" + b.kids[i].name, In: petri.Arcs{b.kids[i].out()}}
	if !leads {
		t.Out = petri.And(b.edge(i, dagEnd))
		b.add(n, "", t)
		return
	}
	routes := routesOf(nodes, i)
	branches := make([]petri.Arcs, len(routes))
	for to, node := range nodes {
		if !slices.Contains(node.deps, i) {
			continue
		}
		text, conditional := node.when[i]
		for r := range routes {
			if !conditional || text == routes[r] {
				branches[r] = append(branches[r], b.edge(i, b.kids[to].name))
			}
		}
	}
	t.Out = petri.And(passing(branches[0], b.kids[i].out())...)
	if len(routes) > 1 {
		t.Out = petri.Free(branches...)
		t.Action = func(f *petri.Firing) {
			flow := b.kids[i].out().Get(f)
			r := max(slices.Index(routes, strings.TrimSpace(fmt.Sprint(flow.Output))), 0)
			f.Choose(r)
			for _, a := range branches[r] {
				petri.ArcPlace(a).(petri.Place[*Flow]).Put(f, flow)
			}
		}
	}
	b.add(n, "", t)
}

// defaultRoute is what a node is named with that follows every other output.
const defaultRoute = "default"

// routesOf are the outputs by which a node is followed, the default first; only that without routes.
func routesOf(nodes []dagNode, i int) []string {
	routes := []string{defaultRoute}
	for _, node := range nodes {
		if text, ok := node.when[i]; ok && !slices.Contains(routes, text) {
			routes = append(routes, text)
		}
	}
	return routes
}

// passing makes arcs pass on one token.
func passing(to petri.Arcs, from petri.Place[*Flow]) []petri.AnyArc {
	var list []petri.AnyArc
	for _, a := range to {
		list = append(list, petri.ArcPlace(a).(petri.Place[*Flow]).Passing(from))
	}
	return list
}

// rounds runs the kids in turn, round by round, until one of them exits or the rounds are used up.
func (b *block) rounds(n *petri.Net) {
	more := b.agent.MaxIterations - 1
	first, last := b.kids[0], b.kids[len(b.kids)-1]
	begin := petri.Transition{Name: "begin", In: petri.Arcs{b.in()}, Out: petri.And(first.in(), running)}
	reset := petri.Arcs{}
	if more > 0 {
		begin.Out, reset = petri.And(first.in(), running, rounds.Exactly(more)), petri.Arcs{rounds}
	}
	b.add(n, "", begin)
	var exits petri.Arcs
	leaves := slices.ContainsFunc(b.kids, func(k *block) bool { return k.canExit() })
	if leaves {
		exits = petri.Arcs{b.exit()}
	}
	for i, k := range b.kids {
		if k.canExit() {
			b.add(n, "exit_loop ends "+b.label(), petri.Transition{Name: fmt.Sprint("leave", i+1),
				In: petri.Arcs{k.out(), b.exit(), running}, Out: petri.And(b.out()), Reset: reset})
		}
		if i+1 < len(b.kids) {
			t := move(fmt.Sprint("next", i+1), k.out(), b.kids[i+1].in())
			t.Inhibit = exits
			b.add(n, "", t)
		}
	}
	if more > 0 {
		b.add(n, b.label()+" begins another round", petri.Transition{Name: "again",
			In: petri.Arcs{last.out(), rounds}, Inhibit: exits, Out: petri.And(first.in())})
	}
	b.add(n, b.label()+" has used up its rounds", petri.Transition{Name: "end", In: petri.Arcs{last.out(), running},
		Inhibit: append(slices.Clone(reset), exits...), Out: petri.And(b.out())})
	b.discard(n, running, append(reset, exits...)...)
}

// routed lets a router hand over to targets, which return to it while there are hops.
func (b *block) routed(n *petri.Net) {
	router := b.kids[0]
	b.add(n, "", petri.Transition{Name: "begin", In: petri.Arcs{b.in()},
		Out: petri.And(router.in(), running, hops.Exactly(b.agent.MaxHops))})
	for i, to := range b.kids[1:] {
		b.add(n, router.label()+" hands over to "+to.label(), petri.Transition{Name: fmt.Sprint("hand_over", i+1),
			In: petri.Arcs{router.route(to), hops}, Out: petri.And(to.in())})
		if b.agent.MaxHops > 1 {
			t := move(fmt.Sprint("return", i+1), to.out(), router.in())
			t.Read = petri.Arcs{hops}
			b.add(n, "", t)
		}
		b.add(n, "no hop is left: "+to.label()+" has the last word", petri.Transition{Name: fmt.Sprint("end", i+1),
			In: petri.Arcs{to.out(), running}, Inhibit: petri.Arcs{hops}, Out: petri.And(b.out())})
	}
	b.add(n, router.label()+" answers", petri.Transition{Name: "answer", In: petri.Arcs{router.out(), running},
		Reset: petri.Arcs{hops}, Out: petri.And(b.out())})
	b.discard(n, running, hops)
}
