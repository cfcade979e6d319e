package netfile

import (
	"maps"
	"slices"
)

// link makes places, transitions and arcs of what was read.
func (r *pnmlReader) link() error {
	named := r.named()
	called := func(n *node) string {
		if named {
			return n.name
		}
		return n.id
	}
	for _, n := range r.order {
		r.d.line = n.line
		switch n.kind {
		case "place":
			r.d.place(called(n)).tokens = n.tokens
		case "transition":
			r.d.transition(called(n)).when = n.when
		}
	}
	for _, a := range r.arcs {
		if err := r.join(a, called); err != nil {
			return err
		}
	}
	return r.levels(called)
}

// levels gives PIPE's immediate transitions their priorities, and all of them priority over the
// timed ones.
func (r *pnmlReader) levels(called func(*node) string) error {
	levels := map[int][]*node{}
	var first *node
	for _, n := range r.order {
		if n.kind != "transition" {
			continue
		}
		if first == nil {
			first = n
		}
		if (n.timed == "") != (first.timed == "") || n.timed == "" && n.priority != 1 {
			return r.d.fail(n.line, "transition %s has a priority or is timed, "+
				"but it is not said of all transitions whether they are", called(n))
		}
		level := 0
		if n.timed == "false" {
			level = 1 + n.priority
		}
		levels[level] = append(levels[level], n)
	}
	order := slices.Sorted(maps.Keys(levels))
	for i := 1; i < len(order); i++ {
		low, high := levels[order[i-1]], levels[order[i]]
		if len(low)*len(high)+len(r.d.pairs) > maxPriorities {
			return r.d.fail(high[0].line, "more than %d priorities", maxPriorities)
		}
		for _, h := range high {
			for _, l := range low {
				r.d.pairs = append(r.d.pairs, pair{called(h), called(l), h.line})
			}
		}
	}
	return nil
}

// named reports whether all nodes have names, all different.
func (r *pnmlReader) named() bool {
	seen := map[string]bool{}
	for _, n := range r.order {
		if n.kind != "place" && n.kind != "transition" {
			continue
		}
		key := n.kind + " " + n.name
		if !cleanName(n.name) || seen[key] {
			return false
		}
		seen[key] = true
	}
	return true
}

// resolve follows references to the node that they refer to.
func (r *pnmlReader) resolve(id string, line int) (*node, error) {
	n := r.nodes[id]
	for range len(r.order) + 1 {
		if n == nil {
			return nil, r.d.fail(line, "there is no node %q", clip(id))
		}
		if n.kind == "place" || n.kind == "transition" {
			return n, nil
		}
		id = n.ref
		n = r.nodes[id]
	}
	return nil, r.d.fail(line, "the reference %q refers to itself", clip(id))
}

func (r *pnmlReader) join(a *arc, called func(*node) string) error {
	from, err := r.resolve(a.source, a.line)
	if err != nil {
		return err
	}
	to, err := r.resolve(a.target, a.line)
	if err != nil {
		return err
	}
	if from.kind == to.kind {
		return r.d.fail(a.line, "an arc from %s to %s, both of them a %s", from.id, to.id, from.kind)
	}
	input := from.kind == "place"
	pl, tr := from, to
	if !input {
		pl, tr = to, from
	}
	t := r.d.transition(called(tr))
	f := flow{r.d.place(called(pl)), a.weight}
	switch kind := a.kind; {
	case slices.Contains([]string{"", "normal", "ordinary", "timed", "transport"}, kind):
		if input {
			t.in = append(t.in, f)
		} else {
			t.out = append(t.out, f)
		}
	case kind == "read" || kind == "test":
		t.read = append(t.read, f)
	case !input:
		return r.d.fail(a.line, "an arc of type %q from a transition to a place", clip(a.kind))
	case kind == "inhibitor" || kind == "tapninhibitor":
		t.inh = append(t.inh, f)
	case kind == "reset":
		t.rset = append(t.rset, f)
	default:
		return r.d.fail(a.line, "an arc of type %q; want normal, inhibitor, read, test or reset", clip(a.kind))
	}
	return nil
}
