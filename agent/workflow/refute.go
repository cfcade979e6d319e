package workflow

import (
	"fmt"
	"slices"
	"strings"
)

// A block that is wrong by its structure goes wrong with some outcome of its choices. What follows finds the run that
// shows it, where there are too many markings to look through.

// refute reports what is wrong by the structure of the block.
func (v *view) refute(c *course) {
	before := v.p.found.count()
	defer func() {
		if c.wrong.found() && v.p.found.count() == before {
			v.p.flawed(v.b, "a way behind %s is never taken", c.wrong.idle.name)
		}
	}()
	for i, k := range c.kids {
		if k.fires == never {
			v.unreached(v.b.kids[i], c.apart)
		}
	}
	if c.wrong.twice != never {
		k := v.b.kids[c.wrong.again]
		o := c.example(c.wrong.twice)
		v.startedTwice(k, v.follow(c, o, []*block{k}, func(p *player) bool { return p.fault != nil }))
		return
	}
	if c.wrong.stuck != never {
		o := c.example(c.wrong.stuck)
		m := c.rest(o, nil)
		at, why := v.stuck(m)
		for i, k := range c.kids {
			if branch := c.to[k.out[0][0]][0]; c.has(k.fires, o) && len(branch.out[c.branch(i, o)]) == 0 {
				at, why = v.unfollowed(i)
			}
		}
		v.stops(at, why, v.follow(c, o, nil, func(p *player) bool { return !p.over && len(p.open) == 0 && v.alike(p, m) }))
	}
	if c.wrong.left != never {
		o := c.example(c.wrong.left)
		late := c.late(o)
		m := c.rest(o, late)
		v.remains(m, "", v.follow(c, o, late, func(p *player) bool { return p.over && v.alike(p, m) }))
	}
}

// apart reports whether two kids run, and each run starts only one of them.
func (c *course) apart(x, y *block) bool {
	one, two := c.kids[slices.Index(c.b.kids, x)].fires, c.kids[slices.Index(c.b.kids, y)].fires
	return one != never && two != never && c.and(one, two) == never
}

// follow plays a run with an outcome in which some kids do not become done.
func (v *view) follow(c *course, o outcome, wait []*block, reached func(*player) bool) func() []string {
	g := goal{near: v.b.kids, wait: map[*block]bool{}, says: map[*block]string{}, reached: reached}
	for _, k := range wait {
		k.each(func(b *block) { g.wait[b] = true })
	}
	for i, k := range v.b.kids {
		g.says[k] = routesOf(v.b.nodes, i)[c.branch(i, o)]
	}
	return func() []string {
		if run := v.p.find(g); run != nil {
			return run
		}
		var told []string
		for _, s := range c.steps {
			if s.kid < 0 || !c.has(s.fires, o) {
				continue
			}
			k := v.b.kids[s.kid]
			if told = append(told, k.label()+" starts"); slices.Contains(wait, k) {
				continue
			}
			told = append(told, k.label()+" is done")
			if routes := routesOf(v.b.nodes, s.kid); len(routes) > 1 {
				told = append(told, routeWords(k, routes, c.branch(s.kid, o)))
			}
		}
		return shortened(told)
	}
}

// branch is the branch that is taken once a kid is done.
func (c *course) branch(kid int, o outcome) int {
	for _, s := range c.to[c.kids[kid].out[0][0]] {
		return max(0, slices.IndexFunc(s.takes, func(f condition) bool { return c.has(f, o) }))
	}
	return 0
}

// late are the kids that may still work when a run with an outcome leaves the block.
func (c *course) late(o outcome) (list []*block) {
	done := map[*step]bool{}
	var before func(s *step)
	before = func(s *step) {
		done[s] = true
		for _, src := range s.from {
			if !done[src.step] && c.has(src.takes[src.branch], o) {
				before(src.step)
			}
		}
	}
	for _, src := range c.steps[len(c.steps)-1].from {
		if len(done) == 0 && c.has(src.takes[src.branch], o) {
			before(src.step)
		}
	}
	for i, k := range c.kids {
		if c.has(k.fires, o) && !done[k] {
			list = append(list, c.b.kids[i])
		}
	}
	return list
}

// rest is what is marked when nothing more happens with an outcome, except that late kids work on.
func (c *course) rest(o outcome, late []*block) []int32 {
	around := c.steps[len(c.steps)-1]
	filled := map[int]bool{around.out[0][0]: true}
	for _, s := range c.steps[:around.at] {
		if slices.ContainsFunc(s.in, func(place int) bool { return !filled[place] }) {
			continue
		}
		for _, place := range s.in {
			filled[place] = false
		}
		if s.kid >= 0 && slices.Contains(late, c.b.kids[s.kid]) {
			filled[c.prog.Place(c.b.name+"/"+s.name+"/busy")] = true
			continue
		}
		for branch, out := range s.out {
			for _, place := range out {
				filled[place] = filled[place] || c.has(s.takes[branch], o)
			}
		}
	}
	m := make([]int32, c.prog.Slots())
	for place, yes := range filled {
		if yes && place >= 0 && place != around.in[0] {
			m[c.prog.Places()[place].Slot] = 1
		}
	}
	return m
}

// unreached reports a kid that no run starts. apart reports whether two kids run, and each run starts only one of them.
func (v *view) unreached(k *block, apart func(x, y *block) bool) {
	why := ""
	for x, node := range v.b.nodes {
		for i, d := range node.deps {
			for _, e := range node.deps[i+1:] {
				if a, b := v.b.kids[d], v.b.kids[e]; why == "" && v.b.kids[x] == k && !node.any && apart(a, b) {
					why = fmt.Sprintf(": it depends on both %s and %s, of which each run starts only one", a.label(), b.label())
				}
			}
		}
	}
	v.p.found.add(Unreached, k.at, "no run of %s ever starts %s%s", v.b.label(), k.label(), why)
}

// stops reports a run that stops, and why.
func (v *view) stops(at Pos, why string, run func() []string) {
	v.report(Deadlock, at, run, fmt.Sprintf("a run of %s may stop before its end: %s", v.b.label(), why),
		"nothing can follow: "+why)
}

// stuck explains a marking in which nothing can happen.
func (v *view) stuck(m []int32) (Pos, string) {
	for x, node := range v.b.nodes {
		var have, lack []string
		for _, d := range node.deps {
			if v.holds(m, v.b.edge(d, v.b.kids[x].name).String()) {
				have = append(have, v.b.kids[d].label())
			} else {
				lack = append(lack, v.b.kids[d].label())
			}
		}
		if !node.any && len(have) > 0 && len(lack) > 0 {
			return v.b.kids[x].at, fmt.Sprintf("%s waits for %s, which this run never starts; `join: any` starts it after any "+
				"one of its dependencies", v.b.kids[x].label(), strings.Join(lack, " and "))
		}
	}
	var ends []string
	for i, k := range v.b.kids {
		if v.b.agent.Type == dagType && v.holds(m, v.b.edge(i, dagEnd).String()) {
			ends = append(ends, k.label())
		}
	}
	if len(ends) > 0 {
		return v.b.at, fmt.Sprintf("%s is done, and the end of %s waits for the other last nodes, which this run never "+
			"starts; `join: any` ends it with any one of them", strings.Join(ends, ", "), v.b.label())
	}
	for i := range v.b.kids {
		if len(routesOf(v.b.nodes, i)) > 1 {
			return v.unfollowed(i)
		}
	}
	return v.b.at, v.g.Model.Format(m)
}

// unfollowed says that no node follows a kid.
func (v *view) unfollowed(kid int) (Pos, string) {
	k, routes := v.b.kids[kid], routesOf(v.b.nodes, kid)
	return k.at, fmt.Sprintf("no node follows %s if its output is %s; give a node `when: {%s: default}`", k.label(),
		otherThan(routes[1:]), k.agent.Name)
}

// startedTwice reports a kid that is started while it runs.
func (v *view) startedTwice(k *block, run func() []string) {
	v.report(LeftBehind, k.at, run, fmt.Sprintf("%s may be started twice in one run of %s%s", k.label(), v.b.label(),
		v.twice(k)), k.label()+" would run a second time")
}

// twice says why a node may be started twice.
func (v *view) twice(k *block) string {
	if i := slices.Index(v.b.kids, k); i < len(v.b.nodes) && v.b.nodes[i].any {
		return ", once after each of its dependencies; `join: any` is for dependencies of which a run has only one: " +
			"without it, " + k.label() + " waits for all"
	}
	return ""
}

// remains reports a run that ends with a marking. words say what is left if the marking, nil for none, does not.
func (v *view) remains(m []int32, words string, run func() []string) {
	var list []string
	early := false
	for _, k := range v.b.kids {
		if v.holds(m, k.name+"/busy") {
			list, early = append(list, k.label()+" still works"), true
		}
	}
	for i, k := range v.b.kids {
		for x, node := range v.b.nodes {
			if slices.Contains(node.deps, i) && v.holds(m, v.b.edge(i, v.b.kids[x].name).String()) {
				list = append(list, fmt.Sprintf("%s is done, and %s, which depends on it, never starts", k.label(),
					v.b.kids[x].label()))
			}
		}
		if v.b.agent.Type == dagType && v.holds(m, v.b.edge(i, dagEnd).String()) {
			list, early = append(list, k.label()+" is done, and the end did not wait for it"), true
		}
	}
	if len(list) > 0 {
		if more := len(list) - namesMax; more > 1 {
			list = append(list[:namesMax], fmt.Sprintf("and %d more", more))
		}
		words = strings.Join(list, "; ")
	}
	fix := ""
	if early && v.b.agent.AnyEnd {
		fix = "; `join: any` ends it with the first last node that is done: without it, the end waits for all"
	}
	message := fmt.Sprintf("%s may end while something of it is left: %s%s", v.b.label(), words, fix)
	v.report(LeftBehind, v.b.at, run, message, v.b.label()+" has ended, and "+words)
}
