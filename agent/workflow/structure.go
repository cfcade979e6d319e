package workflow

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/petri"
)

// conditionsMax limits the results on conditions for one block. One that needs more is explored.
const conditionsMax = 1 << 20

// forward reports whether nothing in the block comes again in a run: its net has no cycle, and is proved by its
// structure, however wide it is.
func (b *block) forward() bool {
	return slices.Contains([]string{sequentialType, reactType, parallelType, dagType}, b.agent.Type)
}

// chooses reports whether the nodes that run are not the same in each run.
func (b *block) chooses() bool {
	return b.agent.AnyEnd || slices.ContainsFunc(b.nodes, func(n dagNode) bool { return n.any || len(n.when) > 0 })
}

// course is the net of a block in which nothing comes again: its transitions, in an order in which each comes
// behind those that lead to it, and with which outcomes of the choices each of them fires.
type course struct {
	*conditions
	b     *block
	prog  *petri.Program
	steps []*step // the surroundings last
	kids  []*step // by kid
	from  map[int][]source
	to    map[int][]*step
	full  map[int]condition // by place: a token comes there
	exits condition         // a kid has ended the loop around the block
	wrong wrongs
}

// step is a transition of the block. A kid counts as one: a run enters, and leaves, as its own proof shows.
type step struct {
	name  string
	at    int // in the order of the steps
	kid   int // -1: it is a transition of the block itself
	in    []int
	out   [][]int  // places, by branch
	from  []source // of its places, without the surroundings
	fires condition
	takes []condition // by branch: it fires, and takes the branch
	exits condition   // of a kid: if it is done, the loop is to end
}

// source is a branch of a step that fills a place.
type source struct {
	*step
	branch int
}

// structure proves a block by its structure. In its net, steps follow each other, and some of them choose one of
// several branches. An outcome says which branch each of them takes if it fires. The rule: if
//
//  1. every transition takes one token from each of its places and puts one into each place of its branch, and none
//     reads, resets or waits, or is inhibited by more or less than the end of the run;
//  2. the net without its surroundings has no cycle;
//  3. with every outcome, if a step fires when all its places are filled, no place is filled twice, every token is
//     taken by exactly one step, every step that fires puts a token somewhere, and the exit is filled;
//  4. every place where a token may rest is emptied at the end of the run;
//  5. every branch of every step is taken with some outcome,
//
// then each run of the block leaves it once, no place ever holds two tokens, nothing is left behind, and every
// transition fires in some run. For take any outcome. By 3, the steps that fire with it, the places that they fill,
// and the surroundings are a marked graph (Commoner, Holt, Even and Pnueli 1971): each place has one transition that
// fills it and one that takes from it. By 2 and 3, each step lies on a way from the entry to the exit, and every cycle
// leads through the surroundings and has exactly one token; since the number of tokens on a cycle never changes, the
// net is live and safe, and each transition fires once for each run around. No other step ever fires with this
// outcome: the first one that did would need a place that none of these fills. And every run has an outcome, since no
// step fires twice. 4 covers a run that ends early.
//
// Conditions stand for many outcomes at once, so their number does not matter. A block that chooses nothing has a
// single one. Two kids may work at once if both run with some outcome, and neither starts only once the other is done;
// a key is there when a kid starts if it is written before with every outcome with which the kid runs.
//
// The error says that the net is not what the rule is about, or that there are too many conditions. Otherwise wrong
// tells what breaks 3 and 5.
func (b *block) structure(p *petri.Program, most int) (*course, error) {
	c := &course{conditions: newConditions(most), b: b, prog: p, from: map[int][]source{}, to: map[int][]*step{},
		full: map[int]condition{}}
	resets := map[int]bool{}
	var steps []*step
	for _, t := range p.Transitions() {
		switch {
		case t.Group != b.name:
		case discards(p, &t):
			for _, a := range t.Arcs {
				if a.Count > 1 {
					return nil, fmt.Errorf("%s needs more than the end of the run", t.Name)
				}
				resets[a.Place] = true
			}
		default:
			s, err := transition(p, &t)
			if err != nil {
				return nil, err
			}
			steps = append(steps, s)
		}
	}
	for i, k := range b.kids {
		s := &step{name: k.name, kid: i, in: []int{c.place(k.in())}, out: [][]int{{c.place(k.out())}}}
		steps, c.kids = append(steps, s), append(c.kids, s)
	}
	steps = append(steps, &step{name: "around", kid: -1, in: []int{c.place(b.out())}, out: [][]int{{c.place(b.in())}}})
	if err := c.arrange(steps); err != nil {
		return nil, err
	}
	for _, place := range c.rests() {
		if !resets[place] {
			return nil, fmt.Errorf("a token may stay at %s when the run ends", p.Places()[place].Name)
		}
	}
	c.fire()
	c.judge()
	if c.over {
		return nil, errManyConditions
	}
	return c, nil
}

// errManyConditions means that there are too many conditions.
var errManyConditions = errors.New("there are too many conditions on its choices")

// place is the index of a place of the block, or of one that it shares.
func (c *course) place(name petri.AnyPlace) int {
	if i := c.prog.Place(name.String()); i >= 0 {
		return i
	}
	return c.prog.Place(c.b.name + "/" + name.String())
}

// discards reports whether a transition serves the end of the run.
func discards(p *petri.Program, t *petri.TransitionInfo) bool {
	return slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
		return a.Kind == petri.ReadArc && p.Places()[a.Place].Name == agent.EndInvocation.String()
	})
}

// transition is the step of a transition of the block: 1 of the rule.
func transition(p *petri.Program, t *petri.TransitionInfo) (*step, error) {
	s := &step{name: t.Name, kid: -1}
	if !t.When.AtOnce() || len(t.Modes) != 1 || len(t.Modes[0].Branches) > 1 && !t.Free {
		return nil, fmt.Errorf("%s waits, or keys decide what it does", t.Name)
	}
	s.out = make([][]int, len(t.Modes[0].Branches))
	ends := false
	for _, a := range t.Arcs {
		switch {
		case a.Kind == petri.InhibitArc && p.Places()[a.Place].Name == agent.EndInvocation.String():
			ends = true
		case a.Kind == petri.InArc && a.Count == 1 && !a.All:
			s.in = append(s.in, a.Place)
		case a.Kind == petri.OutArc && a.Count == 1:
			s.out[a.Branch] = append(s.out[a.Branch], a.Place)
		default:
			return nil, fmt.Errorf("%s does more than pass a token on, at %s", t.Name, p.Places()[a.Place].Name)
		}
	}
	if !ends {
		return nil, fmt.Errorf("%s may fire although the run is to end", t.Name)
	}
	return s, nil
}

// arrange puts the steps in their order: 2 of the rule.
func (c *course) arrange(steps []*step) error {
	for _, s := range steps {
		for branch, places := range s.out {
			for _, place := range places {
				c.from[place] = append(c.from[place], source{s, branch})
			}
		}
		for _, place := range s.in {
			c.to[place] = append(c.to[place], s)
		}
	}
	waits := map[*step]int{} // for steps that fill its places
	for _, s := range steps {
		for _, place := range s.in {
			if len(c.from[place]) == 0 {
				return fmt.Errorf("nothing fills %s", c.prog.Places()[place].Name)
			}
			waits[s] += len(c.from[place])
		}
		for _, place := range slices.Concat(s.out...) {
			if len(c.to[place]) == 0 {
				return fmt.Errorf("nothing takes from %s", c.prog.Places()[place].Name)
			}
		}
	}
	around := steps[len(steps)-1]
	for ready := []*step{around}; len(ready) > 0; {
		s := ready[len(ready)-1] // one way to its end, then the next: choices of one way stay together
		if ready = ready[:len(ready)-1]; s != around {
			s.at, c.steps = len(c.steps), append(c.steps, s)
		}
		for _, place := range slices.Concat(s.out...) {
			for _, next := range c.to[place] {
				if waits[next]--; waits[next] == 0 && next != around {
					ready = append(ready, next)
				}
			}
		}
	}
	if len(c.steps) < len(steps)-1 || waits[around] > 0 {
		return errors.New("some of its steps wait for themselves, or are on no way from the entry to the exit")
	}
	around.at, c.steps = len(c.steps), append(c.steps, around)
	for _, s := range c.steps {
		for _, place := range s.in {
			for _, src := range c.from[place] {
				if src.step != around {
					s.from = append(s.from, src)
				}
			}
		}
	}
	return nil
}

// rests are the places where a token may rest: the step that takes it needs another one, too, which does not come
// with the first step of the run.
func (c *course) rests() (list []int) {
	for _, s := range c.steps {
		for i, place := range s.in {
			others := slices.Concat(s.in[:i], s.in[i+1:])
			if slices.ContainsFunc(others, func(o int) bool { return c.from[o][0].at > 0 || len(c.from[o]) > 1 }) {
				list = append(list, place)
			}
		}
	}
	return list
}

// fire works out with which outcomes each step fires, and each place is filled.
func (c *course) fire() {
	around := c.steps[len(c.steps)-1]
	around.takes = []condition{always}
	c.full[around.out[0][0]] = always
	questions := int32(0)
	for _, s := range c.steps {
		s.fires = always
		for _, place := range s.in {
			s.fires = c.and(s.fires, c.full[place])
		}
		if s == around {
			return
		}
		rest := s.fires
		for range s.out[1:] {
			yes := c.ask(questions)
			s.takes, rest, questions = append(s.takes, c.and(rest, yes)), c.without(rest, yes), questions+1
		}
		s.takes = append([]condition{rest}, s.takes...) // without any yes it takes the first branch
		if s.kid >= 0 && c.b.kids[s.kid].canExit() {
			s.exits, questions = c.ask(questions), questions+1
			c.exits = c.or(c.exits, c.and(s.fires, s.exits))
		}
		for branch, places := range s.out {
			for _, place := range places {
				c.fill(place, s.takes[branch])
			}
		}
	}
}

// fill puts a token into a place.
func (c *course) fill(place int, when condition) {
	twice := c.and(c.full[place], when)
	c.full[place] = c.or(c.full[place], when)
	if twice == never {
		return
	}
	again := slices.IndexFunc(c.kids, func(k *step) bool { return k.in[0] == place })
	if again < 0 {
		c.wrong.left = c.or(c.wrong.left, twice)
	} else if c.wrong.twice == never {
		c.wrong.twice, c.wrong.again = twice, again
	}
}

// wrongs are the outcomes with which a run goes wrong.
type wrongs struct {
	twice condition // the kid again is started twice
	again int
	stuck condition // the run stops
	left  condition // the run ends, and something is left
	idle  *step     // has a branch that is never taken
}

// found reports whether something is wrong.
func (w *wrongs) found() bool {
	return w.twice != never || w.stuck != never || w.left != never || w.idle != nil
}

// judge checks 3 and 5 of the rule.
func (c *course) judge() {
	around := c.steps[len(c.steps)-1]
	for _, s := range c.steps {
		for branch, places := range s.out {
			if s.takes[branch] == never {
				c.wrong.idle = cmp.Or(c.wrong.idle, s)
			}
			if len(places) == 0 {
				c.wrong.left = c.or(c.wrong.left, s.takes[branch])
			}
			for _, place := range places {
				taken := never
				for _, t := range c.to[place] {
					c.wrong.left = c.or(c.wrong.left, c.and(taken, t.fires))
					taken = c.or(taken, t.fires)
				}
				c.wrong.left = c.or(c.wrong.left, c.without(c.full[place], taken))
			}
		}
	}
	c.wrong.stuck = c.without(always, around.fires)
	c.wrong.left = c.without(c.wrong.left, c.wrong.stuck)
}

// behind is, by kid, the condition that it starts once one kid is done.
func (c *course) behind(kid int) []condition {
	first := c.kids[kid]
	all, kids := make([]condition, len(c.steps)), make([]condition, len(c.kids))
	all[first.at] = always
	for _, s := range c.steps[first.at+1:] {
		for _, src := range s.from {
			all[s.at] = c.or(all[s.at], c.and(src.takes[src.branch], all[src.at]))
		}
		if s.kid >= 0 {
			kids[s.kid] = all[s.at]
		}
	}
	return kids
}

// written is, by step, the condition that a key is written before it fires.
func (c *course) written(key string, kids []*summary) []condition {
	all := make([]condition, len(c.steps))
	by := make([]condition, len(kids)) // what the way in which a kid is done has written
	for i, k := range c.kids {
		must := kids[i].must // by outlet: it goes on, or ends the loop
		by[i] = c.choose(k.exits, certainly(must[len(must)-1][key]), certainly(must[0][key]))
	}
	for _, s := range c.steps {
		for _, src := range s.from {
			before := all[src.at]
			if src.kid >= 0 {
				before = c.or(before, by[src.kid])
			}
			all[s.at] = c.or(all[s.at], c.and(src.takes[src.branch], before))
		}
	}
	return all
}

// certainly is always or never.
func certainly(yes bool) condition {
	if yes {
		return always
	}
	return never
}
