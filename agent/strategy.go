package agent

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/patterns"
	"github.com/voicegw/voicegw/verify"
)

// Branch is one way to answer a request to the model of an agent. It is safe for concurrent use.
type Branch struct {
	// Name is unique in its strategy and looks like the name of an agent.
	Name string
	// Model answers. It is asked for whole responses, never for partial ones.
	Model model.LLM
	// Do answers in place of Model. ctx ends when the answer is no longer wanted; Do must then return
	// soon. What it returns after that has no effect. It must not change the request.
	Do func(ctx context.Context, r *Request) (*model.LLMResponse, error)
}

// Attempt is how a branch answered a request.
type Attempt = Done[*Request, *model.LLMResponse]

// Strategy is how an agent gets one response of several branches: a Race, Quorum, Optimistic or Batch.
// It is part of the net, so Prove proves it with the rest.
type Strategy interface {
	// branches are its branches, a branch once for each slot.
	branches() []Branch
	// check finds what is wrong with it.
	check() error
	// cost is how many requests it makes at most for one of its agent.
	cost() int
	// plan builds its net.
	plan(s *plan)
}

// plan is the net of a strategy in the making: it leads from job to answered.
type plan struct {
	p        Ports
	l        Limits
	net      *petri.Net
	job      petri.Place[*Request]
	outside  []petri.AnyPlace // ports that it shares with more than the step around it
	tasks    []petri.Task[*Request, *model.LLMResponse]
	requests map[string]int // places of the net: for how many requests a token there stands
	claims   []*verify.Property
}

// Places of strategies.
const (
	asked   petri.Place[*Request]   = "asked" // what the strategy works on
	abort   petri.Place[petri.Unit] = "abort" // the pattern within is to stop
	reached petri.Place[[]*Attempt] = "reached"
	failed  petri.Place[[]*Attempt] = "failed"
)

// newPlan makes the net of a strategy.
func newPlan(st Strategy, p Ports, l Limits, from petri.Place[*Request]) *plan {
	s := &plan{p: p, l: l, job: from, tasks: p.Branches, requests: map[string]int{}}
	s.net = &petri.Net{
		Name: "strategy",
		Caps: []petri.Cap{{Place: asked, Max: 1}},
	}
	for _, t := range p.Branches {
		s.outside = append(s.outside, t.Start, t.InFlight, t.Done)
	}
	st.plan(s)
	s.net.Ports = append([]petri.AnyPlace{from, answered, EndInvocation}, s.outside...)
	guarded(s.net)
	return s
}

func (s *plan) add(list ...petri.Transition) { s.net.Transitions = append(s.net.Transitions, list...) }

// stopWith aborts the pattern within when the turn is to end while running is marked.
func (s *plan) stopWith(running petri.AnyPlace) {
	s.add(petri.Transition{Name: "stop_" + running.String(), In: petri.Arcs{running}, Read: petri.Arcs{EndInvocation},
		Out: petri.And(abort)})
}

// within adds a pattern. Its abort serves the end of the turn, which inhibits everything else in it.
func (s *plan) within(n *petri.Net) {
	for i := range n.Transitions {
		if t := &n.Transitions[i]; len(t.In) == 1 && petri.ArcPlace(t.In[0]).String() == abort.String() {
			t.Read = append(slices.Clone(t.Read), EndInvocation)
		}
	}
	s.net.Nets = append(s.net.Nets, guarded(n))
}

// worker returns the worker of branch i, which the pattern around it stops.
func (s *plan) worker(i int, name string, from petri.Place[*Request], to petri.Place[*Attempt],
) worker[*Request, *model.LLMResponse] {
	return worker[*Request, *model.LLMResponse]{name: name, job: from, task: s.tasks[i], result: to,
		limit: s.l.ModelTimeout, failed: ModelFailed, late: ModelTimedOut}
}

// lane adds a worker whose work the pattern around it aborts.
func (s *plan) lane(i int, b Branch) patterns.Lane[*Request, *Attempt] {
	l := patterns.Lane[*Request, *Attempt]{Job: petri.Place[*Request](portName(b.Name) + "_job"),
		Result: petri.Place[*Attempt](portName(b.Name) + "_result"), InFlight: s.tasks[i].InFlight}
	w := s.worker(i, "branch_"+portName(b.Name), l.Job, l.Result)
	s.net.Nets = append(s.net.Nets, w.net())
	s.add(w.refuse(s.l.Patience, ModelFailed, petri.Arcs{l.InFlight}))
	s.counts(1, l.Job)
	return l
}

// deliver ends a strategy with the response that make makes of what is at from.
func deliver[T any](s *plan, name string, from petri.Place[T], running petri.Place[*Request],
	make func(T) *model.LLMResponse) {
	s.add(petri.Transition{Name: name, In: petri.Arcs{running, from}, Out: petri.And(answered.Is(okKey)),
		Action: func(f *petri.Firing) {
			answered.Put(f, &Attempt{In: running.Get(f), Out: make(from.Get(f))})
		}})
}

// surrender ends a strategy with a fault that tells those of its attempts.
func (s *plan) surrender() {
	s.add(petri.Transition{Name: "surrender", In: petri.Arcs{asked, failed}, Out: petri.And(answered.Is(failedKey)),
		Action: func(f *petri.Firing) {
			answered.Put(f, &Attempt{In: asked.Get(f), Fault: faultOf(failed.Get(f))})
		}})
}

// faultOf is the fault of attempts that all failed.
func faultOf(list []*Attempt) *Fault {
	f := &Fault{Code: ModelFailed}
	for i, a := range list {
		if i == 0 {
			f.Code = a.Fault.Code
		} else {
			f.Text += "; "
		}
		f.Text += a.Fault.Text
	}
	return f
}

// at is the full name of a place of the strategy.
func (s *plan) at(place fmt.Stringer, within ...string) string {
	path := append([]string{s.p.Agent, string(PartModel), s.net.Name}, within...)
	return strings.Join(append(path, place.String()), "/")
}

// counts says for how many requests a token of a place stands.
func (s *plan) counts(n int, place fmt.Stringer, within ...string) {
	s.requests[s.at(place, within...)] = n
}

// never claims that an expression is true in no marking.
func (s *plan) never(name, doc, expr string) {
	v := verify.Never(expr)
	v.Name, v.Doc = name+" of "+s.p.Agent, doc
	s.claims = append(s.claims, v)
}

// working is an expression that is true while one of the branches works.
func (s *plan) working(branches ...int) string {
	var list []string
	for _, i := range branches {
		list = append(list, s.tasks[i].InFlight.String())
	}
	return "(" + strings.Join(list, " || ") + ")"
}

// checkBranches finds what is wrong with the branches of an agent's strategy.
func (a *Agent) checkBranches() error {
	if a.Strategy == nil {
		return nil
	}
	if a.Model != nil || a.Work.Ask != nil || a.Work.Next != nil {
		return fmt.Errorf("agent: agent %q has a Strategy beside a Model, Work.Ask or Work.Next; give one of them", a.Name)
	}
	if err := a.Strategy.check(); err != nil {
		return fmt.Errorf("agent: agent %q: %w", a.Name, err)
	}
	list := a.Strategy.branches()
	if len(list) > branchesMax {
		return fmt.Errorf("agent: agent %q: its strategy has %d branches; it may have %d", a.Name, len(list), branchesMax)
	}
	seen := map[string]bool{}
	for _, b := range list {
		switch {
		case !nameRule.MatchString(b.Name) || seen[portName(b.Name)]:
			return fmt.Errorf("agent: agent %q: the name %q of a branch must be unique, begin with a letter, and have up to "+
				"64 letters, digits, \"_\" and \"-\"", a.Name, b.Name)
		case (b.Model == nil) == (b.Do == nil):
			return fmt.Errorf("agent: agent %q: branch %q must have either Model or Do", a.Name, b.Name)
		}
		seen[portName(b.Name)] = true
	}
	return nil
}

// branchesMax limits the branches of a strategy, and the jobs of a Batch.
const branchesMax = 16

// branchTasks are the tasks of a strategy.
func branchTasks(p Ports, st Strategy) (list []petri.Task[*Request, *model.LLMResponse]) {
	for _, b := range st.branches() {
		list = append(list, task[*Request, *model.LLMResponse](portName(p.Agent)+"_branch_"+portName(b.Name)))
	}
	return list
}

// answer does the work of a branch.
func (b Branch) answer(ctx context.Context, r *Request) (*model.LLMResponse, error) {
	if b.Do != nil {
		return b.Do(ctx, r)
	}
	own := *r.Request // models may change their request
	own.Model = b.Model.Name()
	own.Contents = slices.Clone(own.Contents)
	if own.Config != nil {
		c := *own.Config
		own.Config = &c
		if h := c.HTTPOptions; h != nil {
			c.HTTPOptions = &genai.HTTPOptions{}
			*c.HTTPOptions = *h
			c.HTTPOptions.Headers = maps.Clone(h.Headers)
		}
	}
	return whole(ctx, b.Model.GenerateContent(ctx, &own, false), func(*model.LLMResponse) error { return nil })
}
