package workflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// view is a block that was explored.
type view struct {
	p    *prover
	b    *block
	prog *petri.Program
	g    *explore.Graph
	kids []*summary
}

// judge turns verdicts into findings.
func (v *view) judge(r *verify.Report) {
	before := v.p.found.count()
	for t, info := range v.prog.Transitions() {
		if !v.g.Fires(int32(t)) && v.g.Complete {
			if k := v.kidOf(info.Name, "start"); k != nil {
				v.unreached(k, func(x, y *block) bool { return v.p.apart[[2]*block{x, y}] && v.starts(x) && v.starts(y) })
			}
		}
	}
	twice := len(v.g.Faults) > 0
	for i := range r.Results {
		res := &r.Results[i]
		if res.Outcome == verify.Proved || res.Cause == verify.Capped {
			continue
		}
		switch res.Property.Claim.(type) {
		case claim.DeadlockFree:
			if !twice && !v.ended(res) {
				v.deadlock(res)
			}
		case claim.Capacity:
			v.again(res)
		case claim.Never:
			if !twice {
				v.left(res)
			}
		default: // a consequence, if there is a finding already
			if v.p.found.count() == before {
				v.p.flawed(v.b, "%s: %s", res.Property.Name, res.Reason)
			}
		}
	}
}

// starts reports whether a kid starts in some run that was explored.
func (v *view) starts(k *block) bool {
	t := slices.IndexFunc(v.prog.Transitions(), func(t petri.TransitionInfo) bool { return v.kidOf(t.Name, "start") == k })
	return t >= 0 && v.g.Fires(int32(t))
}

// kidOf is the kid whose transition has that name, nil if it is none.
func (v *view) kidOf(full, transition string) *block {
	for _, k := range v.b.kids {
		if full == v.b.name+"/"+k.name+"/"+transition {
			return k
		}
	}
	return nil
}

// ended reports whether the run of a witness has left the block.
func (v *view) ended(res *verify.Result) bool {
	return res.Witness != nil && v.holds(last(res), ".around/"+ready.String())
}

// report adds a finding with the run that shows it.
func (v *view) report(rule Rule, at Pos, run func() []string, words string, ends ...string) {
	if f := v.p.found.add(rule, at, "%s", words); f != nil && !v.p.terse {
		f.Trace = append(run(), ends...)
	}
}

// run is the run of a witness.
func (v *view) run(res *verify.Result) func() []string {
	return func() []string {
		if res.Witness == nil {
			return nil
		}
		return v.p.show(v, res.Witness.Steps(), last(res))
	}
}

// deadlock reports a run that stops before its end.
func (v *view) deadlock(res *verify.Result) {
	if res.Witness == nil {
		v.stops(v.b.at, res.Reason, v.run(res))
		return
	}
	at, why := v.stuck(last(res))
	v.stops(at, why, v.run(res))
}

// last is the marking at the end of a witness.
func last(res *verify.Result) []int32 {
	all := res.Witness.Markings()
	return all[len(all)-1]
}

// holds reports whether a place is marked.
func (v *view) holds(m []int32, name string) bool {
	i := v.prog.Place(name)
	if i < 0 {
		i = v.prog.Place(v.b.name + "/" + name)
	}
	if i < 0 {
		return false
	}
	pl := v.prog.Places()[i]
	return m != nil && !pl.Out && slices.ContainsFunc(m[pl.Slot:pl.Slot+pl.Slots], func(n int32) bool { return n > 0 })
}

// quoted lists texts in quotes.
func quoted(list []string) string {
	var out []string
	for _, s := range list {
		out = append(out, fmt.Sprintf("%q", s))
	}
	return strings.Join(out, ", ")
}

// otherThan says that a text is none of some.
func otherThan(list []string) string {
	if len(list) == 1 {
		return "not " + quoted(list)
	}
	return "none of " + quoted(list)
}

// again reports an agent that is started while it still runs, or a run that never rests.
func (v *view) again(res *verify.Result) {
	for _, f := range v.g.Faults {
		if f.Place < 0 {
			continue
		}
		name := v.g.Model.Places[f.Place].Name
		for _, k := range v.b.kids {
			if name == v.b.name+"/"+k.name+"/busy" || strings.HasSuffix(name, k.in().String()) ||
				strings.HasSuffix(name, k.out().String()) || strings.Contains(name, "/"+k.name+">") {
				v.startedTwice(k, v.run(res))
				return
			}
		}
	}
	v.report(LeftBehind, v.b.at, v.run(res), fmt.Sprintf("a run of %s may do one thing twice: %s", v.b.label(),
		res.Reason))
}

// left reports a run that leaves something behind.
func (v *view) left(res *verify.Result) {
	var m []int32
	if res.Witness != nil {
		m = last(res)
	}
	v.remains(m, res.Reason, v.run(res))
}

// ends checks that every run of the block ends: no marking of a run comes back.
func (v *view) ends() {
	const open, closed = 1, 2
	state := make([]uint8, v.g.States())
	type frame struct{ at, next int }
	for s := range state {
		if state[s] != 0 {
			continue
		}
		stack := []frame{{s, 0}}
		state[s] = open
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			edges := v.g.From(top.at)
			if top.next == len(edges) {
				state[top.at] = closed
				stack = stack[:len(stack)-1]
				continue
			}
			e := edges[top.next]
			top.next++
			if strings.HasPrefix(v.g.Model.Transitions[e.Step.Transition].Name, ".around/enter") {
				continue
			}
			switch state[e.To] {
			case open:
				v.p.found.add(Unbounded, v.b.at, "a run of %s may go on for ever", v.b.label())
				return
			case 0:
				state[e.To] = open
				stack = append(stack, frame{int(e.To), 0})
			}
		}
	}
}

// concurrent finds kids that may work at once, and their races.
func (v *view) concurrent() {
	seen := map[[2]int]bool{}
	v.g.Each(func(_ int, m []int32) bool {
		var busy []int
		for i, k := range v.b.kids {
			if v.holds(m, k.name+"/busy") {
				busy = append(busy, i)
			}
		}
		for x, i := range busy {
			for _, j := range busy[x+1:] {
				seen[[2]int{i, j}] = true
			}
		}
		return true
	})
	for i := range v.b.kids {
		for j := i + 1; j < len(v.b.kids); j++ {
			if seen[[2]int{i, j}] {
				v.p.races(v.b, i, j, v.kids[i], v.kids[j])
			}
		}
	}
}

// separate notes kids of which a run starts only one: no way leads from a marking in which one works to one
// in which the other does.
func (v *view) separate() {
	if len(v.b.kids) < 2 || v.b.agent.leaf() { // what a leaf calls is called one after the other
		return
	}
	working := make([][]int, v.g.States())
	v.g.Each(func(state int, m []int32) bool {
		for i, k := range v.b.kids {
			if v.holds(m, k.name+"/busy") {
				working[state] = append(working[state], i)
			}
		}
		return true
	})
	after := make([][]bool, len(v.b.kids))
	for i := range after {
		after[i] = v.after(working, i)
	}
	for i, x := range v.b.kids {
		for j, y := range v.b.kids {
			if i != j && !after[i][j] && !after[j][i] {
				v.p.apart[[2]*block{x, y}] = true
			}
		}
	}
}

// after are the kids that work in some marking that a run comes to while a kid works, or later.
func (v *view) after(working [][]int, kid int) []bool {
	found, seen := make([]bool, len(v.b.kids)), make([]bool, len(working))
	var queue []int
	come := func(to int) {
		if !seen[to] {
			seen[to] = true
			queue = append(queue, to)
			for _, i := range working[to] {
				found[i] = true
			}
		}
	}
	for s := range working {
		if slices.Contains(working[s], kid) {
			come(s)
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for _, e := range v.g.From(s) {
			come(int(e.To))
		}
	}
	return found
}

// keys follows the state keys along the edges of the graph: a key is there in a marking if every way to
// the marking has written it.
func (v *view) keys() *summary {
	s := &summary{writes: map[string][]*block{}}
	if v.b.agent.leaf() {
		s = leafKeys(v.b)
	}
	s.gather(v.kids)
	have := v.available()
	within := make([]keySet, len(v.b.kids))
	musts := make([]keySet, len(v.b.outlets()))
	v.g.Each(func(state int, m []int32) bool {
		for i, k := range v.b.kids {
			if have[state] != nil && v.holds(m, k.name+"/busy") {
				within[i] = within[i].and(have[state])
			}
		}
		for i, o := range v.b.outlets() {
			exit := v.b.canExit() && v.holds(m, v.b.loop.exit().String())
			if have[state] != nil && v.holds(m, o.place.String()) && exit == o.exit {
				musts[i] = musts[i].and(have[state])
			}
		}
		return true
	})
	for i := range v.kids {
		if within[i] != nil { // it runs
			s.lacking(v.kids[i], within[i])
		}
	}
	own := keySet{}
	if key := v.b.own(); key != "" {
		own[key] = true
	}
	s.must = nil
	for _, m := range musts {
		s.must = append(s.must, m.or(own))
	}
	return s
}

// available are the keys that are there in each marking; nil for a marking that no run comes to.
func (v *view) available() []keySet {
	writes := map[int32]keySet{}
	enter := map[int32]bool{}
	for t, info := range v.prog.Transitions() {
		for i, k := range v.b.kids {
			for o, out := range k.outlets() {
				if info.Name == v.b.name+"/"+k.name+"/"+out.name {
					writes[int32(t)] = v.kids[i].must[o]
				}
			}
		}
		enter[int32(t)] = strings.HasPrefix(info.Name, ".around/enter")
	}
	have := make([]keySet, v.g.States())
	var queue []int
	come := func(to int, set keySet) {
		if have[to] == nil || !set.has(have[to]) {
			have[to] = have[to].and(set)
			queue = append(queue, to)
		}
	}
	for s := range have {
		for _, e := range v.g.From(s) {
			if enter[e.Step.Transition] {
				come(int(e.To), keySet{})
			}
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for _, e := range v.g.From(s) {
			if !enter[e.Step.Transition] {
				come(int(e.To), have[s].or(writes[e.Step.Transition]))
			}
		}
	}
	return have
}

// alike reports whether a run of the whole net has come to where a run of the block alone has: the same
// kids work, and the same edges are marked.
func (v *view) alike(p *player, m []int32) bool {
	for i, k := range v.b.kids {
		works := false
		k.each(func(b *block) { works = works || b.agent.leaf() && p.holds(b, busy.String()) })
		if works != v.holds(m, k.name+"/busy") {
			return false
		}
		for x, node := range v.b.nodes {
			edge := v.b.edge(i, v.b.kids[x].name).String()
			if slices.Contains(node.deps, i) && p.holds(v.b, edge) != v.holds(m, edge) {
				return false
			}
		}
		if end := v.b.edge(i, dagEnd).String(); p.holds(v.b, end) != v.holds(m, end) {
			return false
		}
	}
	return true
}

// told says what a step of the block alone means; "" if it is not worth a line.
func (v *view) told(s netmodel.Step) string {
	info := v.prog.Transitions()[s.Transition]
	for _, k := range v.b.kids {
		name, ok := strings.CutPrefix(info.Name, v.b.name+"/"+k.name+"/")
		switch {
		case !ok:
		case name == "start":
			return k.label() + " starts"
		case name == "finish":
			return k.label() + " is done"
		case name == "finish_and_exit":
			return k.label() + " is done and calls exit_loop"
		case name == "fail":
			return k.label() + " fails"
		case strings.HasPrefix(name, "finish_to_"):
			return k.label() + " chooses `" + strings.TrimPrefix(name, "finish_to_") + "`"
		}
	}
	name := strings.TrimPrefix(info.Name, v.b.name+"/")
	for i, k := range v.b.kids {
		if routes := routesOf(v.b.nodes, i); name == "done_"+k.name && len(routes) > 1 {
			return routeWords(k, routes, int(s.Branch))
		}
	}
	return v.b.words[name]
}
