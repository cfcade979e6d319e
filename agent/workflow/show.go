package workflow

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// The run of a finding is a run of the whole net, taken by a petri.Machine: play answers the tasks until
// the net shows what the finding says. The order of the answers, and what they say, are drawn from a
// fixed seed, and the shortest of the runs that show it is told.

// triesMax limits the runs that are played for one finding, and playMax the answers in one.
const (
	triesMax = 200
	playMax  = 3000
	playsMax = 100_000 // answers, for all findings of a workflow together
	traceMax = 24      // lines
)

// goal says when a run shows what it is to show.
type goal struct {
	reached func(*player) bool
	near    []*block          // the way leads there
	wait    map[*block]bool   // these do not become done
	says    map[*block]string // what some of them say when they are done
}

// player plays one run.
type player struct {
	c     *Compiled
	m     *petri.Machine
	rng   *rand.Rand // nil: the straight way to the goal
	goal  goal
	open  []openJob
	told  []string
	over  bool  // the turn has ended
	fault error // the machine found that the net breaks its rules
	left  *int  // answers that may still be given
}

// openJob is a task that works.
type openJob struct {
	done string // place of its result
	b    *block
	job  *Job
}

// find plays runs until the goal is reached, and returns the story of the shortest; nil if none does.
func (p *prover) find(g goal) []string {
	var best []string
	for try := range triesMax {
		if p.plays <= 0 {
			break
		}
		p := &player{c: p.c, m: p.c.prog.Start(), goal: g, left: &p.plays}
		if try > 0 {
			p.rng = rand.New(rand.NewPCG(uint64(try), 1))
		}
		if p.play() && (best == nil || len(p.told) < len(best)) {
			best = p.told
			if try == 0 {
				break
			}
		}
		if best != nil && try > 20 {
			break
		}
	}
	return shortened(best)
}

// shortened leaves out the middle of a long story.
func shortened(told []string) []string {
	n := len(told)
	if n <= traceMax {
		return told
	}
	return slices.Concat(told[:traceMax/2], []string{fmt.Sprintf("... %d more steps ...", n-traceMax+1)},
		told[n-traceMax/2+1:])
}

// play runs until the goal is reached.
func (p *player) play() (reached bool) {
	defer func() {
		var fault *petri.Fault
		if r := recover(); r != nil {
			err, _ := r.(error)
			if !errors.As(err, &fault) {
				panic(r)
			}
			p.fault = fault
			p.tell(p.m.Fault().Events)
			reached = p.goal.reached(p)
		}
	}()
	_ = p.m.Inject(0, agent.UserIn.Token(&agent.Turn{ID: "run"})) // the net is at rest
	p.settle()
	for range playMax {
		if p.goal.reached(p) {
			return true
		}
		i := p.next()
		if i < 0 {
			return false
		}
		if *p.left--; *p.left < 0 {
			return false
		}
		j := p.open[i]
		p.open = slices.Delete(p.open, i, i+1)
		r := p.decide(j)
		if err := p.m.Inject(p.m.Now(), petri.Place[petri.Result[*Result]](j.done).Token(
			petri.Result[*Result]{Value: r})); err != nil {
			return false
		}
		p.settle()
	}
	return false
}

// settle lets the machine rest, stores what it writes, and notes what it says.
func (p *player) settle() {
	const appendDone = petri.Place[petri.Result[petri.Unit]]("append_done")
	for again := true; again; {
		again = false
		ready := p.m.Advance(p.m.Now())
		p.tell(ready.Events)
		for _, t := range ready.Out {
			switch v := t.Value().(type) {
			case *Job:
				p.open = append(p.open, openJob{done: strings.TrimSuffix(t.Place(), "start") + "done", b: p.c.at(v.Path), job: v})
			case *agent.Write:
				again = p.m.Inject(p.m.Now(), appendDone.Token(petri.Result[petri.Unit]{})) == nil
			case *agent.End:
				p.over = true
			}
		}
	}
}

// tell notes what firings mean.
func (p *player) tell(events []petri.Event) {
	for _, e := range events {
		if e.Kind != petri.Fired {
			continue
		}
		if words := p.c.words(e); words != "" {
			p.told = append(p.told, words)
		}
	}
}

// at is the block of a path.
func (c *Compiled) at(path string) *block {
	for _, b := range c.blocks {
		if b.path == path {
			return b
		}
	}
	return nil
}

// words are what a firing means.
func (c *Compiled) words(e petri.Event) string {
	name := c.prog.Transitions()[e.Index].Name
	s, ok := c.Map.Transitions[name]
	if !ok {
		return ""
	}
	if i := strings.LastIndex(name, "/done_"); i >= 0 && s.Words == "" {
		b := c.at(s.Path)
		for k, kid := range b.kids {
			if routes := routesOf(b.nodes, k); kid.name == name[i+len("/done_"):] && len(routes) > 1 {
				return routeWords(kid, routes, int(e.Branch))
			}
		}
	}
	return s.Words
}

// routeWords say which way a node is followed.
func routeWords(k *block, routes []string, branch int) string {
	if branch == 0 {
		return fmt.Sprintf("the output of %s is %s", k.label(), otherThan(routes[1:]))
	}
	return fmt.Sprintf("the output of %s is %q", k.label(), routes[branch])
}

// next is the job that is answered next, -1 for none.
func (p *player) next() int {
	var list []int
	for i, j := range p.open {
		if !p.goal.wait[j.b] {
			list = append(list, i)
		}
	}
	switch {
	case len(list) == 0:
		return -1
	case p.rng == nil:
		return list[0]
	}
	return list[p.rng.IntN(len(list))]
}

// chance is true for one of n draws.
func (p *player) chance(n int) bool { return p.rng != nil && p.rng.IntN(n) == 0 }

// leads reports whether a block that the goal is near is in another one.
func (p *player) leads(in *block) bool {
	return slices.ContainsFunc(p.goal.near, func(b *block) bool {
		return b == in || strings.HasPrefix(b.path, in.path+"/")
	})
}

// decide makes up the result of a leaf.
func (p *player) decide(j openJob) *Result {
	r := &Result{Output: p.output(j.b)}
	if j.job.Calls != nil {
		return r
	}
	for _, k := range j.b.kids {
		if called := len(j.job.Visit.Steps) > 0; !called && (p.leads(k) || p.chance(3)) {
			r.Calls = []*genai.FunctionCall{{Name: k.agent.Name}}
			return r
		}
	}
	targets := j.b.targets()
	for _, to := range targets {
		if p.leads(to) && !p.chance(4) {
			r.Route = to.agent.Name
		}
	}
	if r.Route == "" && len(targets) > 0 && p.chance(2) {
		r.Route = targets[p.rng.IntN(len(targets))].agent.Name
	}
	r.Exit = j.b.exits() && !p.leads(j.b.loop) && !p.chance(3)
	return r
}

// output is what a leaf says: a text that a node of a dag around it is followed by.
func (p *player) output(b *block) string {
	for at := b; at.parent != nil; at = at.parent {
		i := slices.Index(at.parent.kids, at)
		routes := routesOf(at.parent.nodes, i)
		if len(routes) == 1 {
			continue
		}
		if text, ok := p.goal.says[at]; ok {
			return text
		}
		if p.rng != nil {
			return routes[p.rng.IntN(len(routes))]
		}
		for _, text := range routes[1:] {
			for k, n := range at.parent.nodes {
				if n.when[i] == text && p.leads(at.parent.kids[k]) {
					return text
				}
			}
		}
	}
	return "done"
}

// holds reports whether a place of a block is marked.
func (p *player) holds(b *block, place string) bool {
	i := p.c.prog.Place(b.path + "/" + place)
	if i < 0 {
		i = p.c.prog.Place(place)
	}
	if i < 0 {
		return false
	}
	pl := p.c.prog.Places()[i]
	m := p.m.Marking(nil)
	return slices.ContainsFunc(m[pl.Slot:pl.Slot+pl.Slots], func(n int32) bool { return n > 0 })
}

// showBusy is a run in which two leaves work at the same time.
func (p *prover) showBusy(a, b *block) []string {
	return p.find(goal{near: []*block{a, b}, wait: map[*block]bool{a: true, b: true},
		reached: func(p *player) bool { return p.holds(a, busy.String()) && p.holds(b, busy.String()) }})
}

// showUnwritten is a run in which a leaf works although nothing has written a key.
func (p *prover) showUnwritten(leaf *block, key string) []string {
	return p.find(goal{near: []*block{leaf}, wait: map[*block]bool{leaf: true},
		reached: func(p *player) bool {
			return p.holds(leaf, busy.String()) && !p.holds(leaf, keyPlace(key).String())
		}})
}

// show is a run of the whole net that goes wrong as a run of a block alone does, which ends with a
// marking; if none is found, that run.
func (p *prover) show(v *view, steps []netmodel.Step, end []int32) []string {
	ended := v.holds(end, ".around/"+ready.String())
	found := p.find(goal{near: v.b.kids, reached: func(p *player) bool {
		if len(v.g.Faults) > 0 {
			return p.fault != nil
		}
		return p.fault == nil && p.over == ended && (ended || len(p.open) == 0) && v.alike(p, end)
	}})
	if found != nil {
		return found
	}
	for _, s := range steps {
		if words := v.told(s); words != "" {
			found = append(found, words)
		}
	}
	return found
}
