package workflow

import (
	"fmt"
	"slices"
	"strings"
)

// ringOf returns the names along a cycle. The first name is repeated at the end. It returns nil if there is no cycle.
func ringOf(names []string, next func(string) []string) []string {
	const open, closed = 1, 2
	state := map[string]int{}
	var path, ring []string
	var visit func(n string) bool
	visit = func(n string) bool {
		state[n] = open
		path = append(path, n)
		for _, to := range next(n) {
			if state[to] == open {
				ring = append(slices.Clone(path[slices.Index(path, to):]), to)
				return true
			}
			if state[to] == 0 && visit(to) {
				return true
			}
		}
		path = path[:len(path)-1]
		state[n] = closed
		return false
	}
	for _, n := range names {
		if state[n] == 0 && visit(n) {
			return ring
		}
	}
	return nil
}

// checkRing finds nodes of a dag that wait for themselves.
func (l *loader) checkRing(names []string, nodes map[string]Node) {
	ring := ringOf(names, func(n string) (to []string) {
		for _, d := range nodes[n].DependsOn {
			if _, known := nodes[d.Name]; known {
				to = append(to, d.Name)
			}
		}
		return to
	})
	if ring == nil {
		return
	}
	starts := startable(names, nodes)
	in := slices.IndexFunc(ring, func(n string) bool { return starts[n] && entry(nodes[n], ring, starts) != "" })
	var f *Finding
	if in < 0 {
		f = l.add(Cycle, nodes[ring[0]].Agent.At, "these nodes wait for each other, so none of them ever starts: %s; remove "+
			"one dependency, or write a loop with max_iterations", strings.Join(ring, " -> "))
	} else {
		ring = around(ring, in)
		f = l.add(Cycle, nodes[ring[0]].Agent.At, "these nodes follow each other in a circle, and nothing bounds how often: "+
			"%s; a dag has no cycles: write a loop with max_iterations", strings.Join(ring, " -> "))
	}
	switch {
	case f == nil: // there are too many findings
	case in < 0:
		f.Trace = stuck(ring, nodes)
	default:
		f.Trace = circling(ring, nodes, starts)
	}
}

// startable are the nodes that some run may start.
func startable(names []string, nodes map[string]Node) map[string]bool {
	starts := map[string]bool{}
	for again := true; again; {
		again = false
		for _, name := range names {
			n, ready := nodes[name], 0
			for _, d := range n.DependsOn {
				if starts[d.Name] {
					ready++
				}
			}
			if !starts[name] && (ready == len(n.DependsOn) || n.Any && ready > 0) {
				starts[name], again = true, true
			}
		}
	}
	return starts
}

// entry is the dependency outside of a ring after which a node of it may start; "" for none.
func entry(n Node, ring []string, starts map[string]bool) string {
	for _, d := range n.DependsOn {
		if starts[d.Name] && !slices.Contains(ring, d.Name) {
			return d.Name
		}
	}
	return ""
}

// around is a ring of dependencies in the order in which its nodes run, from one of them.
func around(ring []string, first int) []string {
	list := ring[:len(ring)-1]
	list = slices.Concat(list[first+1:], list[:first+1])
	slices.Reverse(list)
	return append(list, list[0])
}

// stuck shows that no node of a ring of dependencies starts.
func stuck(ring []string, nodes map[string]Node) (steps []string) {
	for i, n := range ring[:len(ring)-1] {
		steps = append(steps, fmt.Sprintf("`%s` waits for %s", n, awaited(nodes[n], ring[i+1])))
	}
	return append(steps, "nothing starts any of them")
}

// circling shows a run in which the nodes of a ring go round.
func circling(ring []string, nodes map[string]Node, starts map[string]bool) (steps []string) {
	first := nodes[ring[0]]
	steps = append(steps, fmt.Sprintf("`%s` starts after %s", ring[0], awaited(first, entry(first, ring, starts))))
	for i, n := range ring[1:] {
		again := ""
		if n == ring[0] {
			again = " again"
		}
		steps = append(steps, fmt.Sprintf("`%s` starts%s after %s", n, again, awaited(nodes[n], ring[i])))
	}
	return append(steps, "and so on: each round may be followed by another one")
}

// awaited is a dependency of a node, with the output that the node waits for.
func awaited(n Node, dependency string) string {
	switch output, routed := n.When[dependency]; {
	case !routed:
		return "`" + dependency + "`"
	case output == defaultRoute:
		return fmt.Sprintf("an output of `%s` that no other node names", dependency)
	default:
		return fmt.Sprintf("the output %q of `%s`", output, dependency)
	}
}

// checkCycles finds agents that contain themselves.
func (l *loader) checkCycles(w *Workflow, agents []*Agent) {
	var names []string
	for _, a := range agents {
		if w.byName[a.Name] == a {
			names = append(names, a.Name)
		}
	}
	ring := ringOf(names, func(n string) (to []string) {
		for _, r := range w.byName[n].refs() {
			if w.byName[r.Name] != nil {
				to = append(to, r.Name)
			}
		}
		return to
	})
	if ring != nil {
		f := l.add(Cycle, w.byName[ring[0]].At, "these agents contain each other: %s; an agent cannot contain itself, "+
			"because nothing would bound how deep it runs", strings.Join(ring, " -> "))
		if f != nil {
			f.Trace = deeper(w, ring)
		}
	}
}

// deeper shows a run in which agents run each other without end.
func deeper(w *Workflow, ring []string) (steps []string) {
	for i, n := range ring[:len(ring)-1] {
		does := "runs"
		if slices.ContainsFunc(w.byName[n].AgentTools, func(r Ref) bool { return r.Name == ring[i+1] }) {
			does = "may call"
		}
		steps = append(steps, fmt.Sprintf("`%s` %s `%s`", n, does, ring[i+1]))
	}
	return append(steps, "and so on: each of them runs within the one before")
}
