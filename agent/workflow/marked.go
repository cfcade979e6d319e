package workflow

import (
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/petri"
)

// choiceFree reports whether the net of the block is one in which nothing is ever chosen: it then is
// proved by its structure, however wide it is.
func (b *block) choiceFree() bool {
	switch b.agent.Type {
	case sequentialType, reactType, parallelType:
		return true
	case dagType:
		return !b.agent.AnyEnd && !slices.ContainsFunc(b.nodes, func(n dagNode) bool { return n.any || len(n.when) > 0 })
	}
	return false
}

// links is the net of a choice-free block: transitions, and places from one to another.
type links struct {
	b     *block
	names []string       // of transitions: those of the block, then the kids, then around
	next  map[int][]int  // by transition
	from  map[string]int // by place: what fills it
	to    map[string]int // by place: what takes from it
}

// structure proves a choice-free block by its structure, and returns its order. The rule: if
//
//  1. each place has exactly one transition that fills it and one that takes from it, one token each
//     time, and no transition reads, resets or waits, or is inhibited by more or less than the end of the run;
//  2. the net without its surroundings has no cycle;
//  3. every transition lies on a way from the entry to the exit;
//  4. every place where a token may rest is emptied at the end of the run,
//
// then each transition fires exactly once in a run, no place ever holds two tokens, and the run leaves
// with nothing left behind. For the block with its surroundings is a marked graph (Commoner, Holt, Even
// and Pnueli 1971): the number of tokens on a cycle never changes, and by 2 and 3 every cycle leads
// through the surroundings and has exactly one token, so the net is live and safe; live and safe, with one
// transition for each run around, means that each transition fires once for each. 4 covers a run that
// ends early. Kids count as one transition each: a run enters, and leaves, as their own proofs show.
func (b *block) structure(p *petri.Program) (*links, error) {
	l := &links{b: b, next: map[int][]int{}, from: map[string]int{}, to: map[string]int{}}
	resets, rests := map[string]bool{}, []string{}
	for _, t := range p.Transitions() {
		if t.Group != b.name {
			continue
		}
		if discards(p, &t) {
			for _, a := range t.Arcs {
				if a.Count > 1 {
					return nil, fmt.Errorf("%s needs more than the end of the run", t.Name)
				}
				resets[p.Places()[a.Place].Name] = true
			}
			continue
		}
		inputs, err := l.transition(p, &t)
		if err != nil {
			return nil, err
		}
		if len(inputs) > 1 {
			rests = append(rests, inputs...)
		}
	}
	for _, k := range b.kids {
		if err := l.link(len(l.names), []string{l.full(p, k.in())}, []string{l.full(p, k.out())}); err != nil {
			return nil, err
		}
		l.names = append(l.names, k.name)
	}
	around := len(l.names)
	l.names = append(l.names, "around")
	if err := l.link(around, []string{l.full(p, b.out())}, []string{l.full(p, b.in())}); err != nil {
		return nil, err
	}
	for _, place := range rests {
		if !resets[place] {
			return nil, fmt.Errorf("a token may stay at %s when the run ends", place)
		}
	}
	return l, l.check(around)
}

// full is the name of a place in the program: a port of the block, or a place of its own.
func (l *links) full(p *petri.Program, place petri.AnyPlace) string {
	if p.Place(place.String()) >= 0 {
		return place.String()
	}
	return l.b.name + "/" + place.String()
}

// discards reports whether a transition serves the end of the run.
func discards(p *petri.Program, t *petri.TransitionInfo) bool {
	return slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
		return a.Kind == petri.ReadArc && p.Places()[a.Place].Name == agent.EndInvocation.String()
	})
}

// transition adds a transition of the block and returns its inputs.
func (l *links) transition(p *petri.Program, t *petri.TransitionInfo) (in []string, err error) {
	var out []string
	ends := false
	for _, a := range t.Arcs {
		place := p.Places()[a.Place].Name
		switch {
		case a.Kind == petri.InhibitArc && place == agent.EndInvocation.String():
			ends = true
		case a.Kind == petri.InArc && a.Count == 1 && !a.All:
			in = append(in, place)
		case a.Kind == petri.OutArc && a.Count == 1 && a.Branch == 0:
			out = append(out, place)
		default:
			return nil, fmt.Errorf("%s does more than pass a token on, at %s", t.Name, place)
		}
	}
	if !ends {
		return nil, fmt.Errorf("%s may fire although the run is to end", t.Name)
	}
	if !t.When.AtOnce() || len(t.Modes) != 1 || len(t.Modes[0].Branches) != 1 {
		return nil, fmt.Errorf("%s waits or chooses", t.Name)
	}
	l.names = append(l.names, t.Name)
	return in, l.link(len(l.names)-1, in, out)
}

// link connects a transition with its places.
func (l *links) link(t int, in, out []string) error {
	for _, place := range in {
		if _, twice := l.to[place]; twice {
			return fmt.Errorf("two transitions take from %s", place)
		}
		l.to[place] = t
	}
	for _, place := range out {
		if _, twice := l.from[place]; twice {
			return fmt.Errorf("two transitions fill %s", place)
		}
		l.from[place] = t
	}
	return nil
}

// check checks 1, 2 and 3 of the rule.
func (l *links) check(around int) error {
	for place, t := range l.from {
		to, ok := l.to[place]
		if !ok {
			return fmt.Errorf("nothing takes from %s", place)
		}
		l.next[t] = append(l.next[t], to)
	}
	back := map[int][]int{}
	for place, t := range l.to {
		from, ok := l.from[place]
		if !ok {
			return fmt.Errorf("nothing fills %s", place)
		}
		back[t] = append(back[t], from)
	}
	forth, rear := reach(l.next, around), reach(back, around)
	for t, name := range l.names {
		if !forth[t] || !rear[t] {
			return fmt.Errorf("%s is on no way from the entry to the exit", name)
		}
	}
	for t := range l.names {
		if t != around && l.before(around, t, t) {
			return fmt.Errorf("%s waits for itself", l.names[t])
		}
	}
	return nil
}

// reach are the transitions that a transition leads to.
func reach(next map[int][]int, from int) map[int]bool {
	seen, queue := map[int]bool{}, []int{from}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, to := range next[at] {
			if !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	return seen
}

// before reports whether a way leads from one transition to another without passing around.
func (l *links) before(around, from, to int) bool {
	seen, queue := map[int]bool{around: true}, []int{from}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, next := range l.next[at] {
			if next == to {
				return true
			}
			if !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return false
}

// order is, for kids i and j, whether i is done before j starts.
func (l *links) order() [][]bool {
	around := len(l.names) - 1
	first := around - len(l.b.kids)
	table := make([][]bool, len(l.b.kids))
	for i := range table {
		table[i] = make([]bool, len(l.b.kids))
		cut := map[int][]int{}
		for t, list := range l.next {
			if t != around {
				cut[t] = list
			}
		}
		for t := range reach(cut, first+i) {
			if t >= first && t < around {
				table[i][t-first] = true
			}
		}
	}
	return table
}
