package workflow

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/patterns"
)

// Places of a leaf.
const (
	busy     petri.Place[*Flow]      = "busy"     // it works, from its beginning to its end
	thinking petri.Place[*Visit]     = "thinking" // it is to be asked
	asked    petri.Place[*Visit]     = "asked"    // it was asked
	tries    petri.Place[petri.Unit] = "tries"    // attempts that are left
	steps    petri.Place[petri.Unit] = "steps"    // requests to the model that are left
	delaying petri.Place[*Job]       = "delaying" // waits before the next attempt
	saying   petri.Place[*Flow]      = "saying"   // its event is being stored
	leaving  petri.Place[*Flow]      = "leaving"  // the same, and the loop is to end
	calling  petri.Place[*Visit]     = "calling"  // calls of one answer are run
	waiting  petri.Place[*Visit]     = "waiting"  // one of them runs
	pending  petri.Place[petri.Unit] = "pending"  // that are still to run
	parking  petri.Place[*Visit]     = "parking"  // it has calls whose results come later
	parked   petri.Place[*Visit]     = "parked"   // it waits for them, to the end of the run

	job        petri.Place[*Job]                  = "job"
	result     petri.Place[petri.Result[*Result]] = "result"
	toolJob    petri.Place[*Job]                  = "tool_job"
	toolResult petri.Place[petri.Result[*Result]] = "tool_result"
)

const (
	patience   = 5 * time.Second // for work that was stopped and has not returned
	toolsLimit = time.Minute     // for the calls of tools of one answer together
	callsMax   = 4               // calls of agents in one answer; the model gets an error for each further one
)

// task is one of the tasks of a leaf: ask, or tools.
func (b *block) task(what string) petri.Task[*Job, *Result] {
	at := b.id() + "." + what
	return petri.Task[*Job, *Result]{Start: petri.Place[*Job](at + ".start"),
		InFlight: petri.Place[petri.Unit](at + ".in_flight"), Done: petri.Place[petri.Result[*Result]](at + ".done")}
}

// tooled reports whether the model of the leaf may call something.
func (b *block) tooled() bool { return len(b.agent.Tools)+len(b.kids) > 0 }

// leafNet adds the net of a leaf: it is asked, up to Attempts times, and its event is stored before
// anything follows. A model that calls tools is asked again when they have results, while steps are left.
func (b *block) leafNet(n *petri.Net) {
	ask := b.task("ask")
	n.Ports = append(n.Ports, agent.SessionWrite, agent.Stored, agent.Lost, agent.WriterIdle, b.works(), someParked)
	if key := b.own(); key != "" {
		n.Ports, n.Sinks = append(n.Ports, keyPlace(key)), append(n.Sinks, keyPlace(key))
	}
	if b.exits() {
		n.Ports = append(n.Ports, b.loop.exit())
	}
	start := petri.Transition{Name: "start", In: petri.Arcs{b.in()},
		Out:    petri.And(busy.Passing(b.in()), thinking, b.works()),
		Action: func(f *petri.Firing) { thinking.Put(f, &Visit{Flow: b.in().Get(f)}) }}
	request := petri.Transition{Name: "ask", In: petri.Arcs{thinking}, Reset: petri.Arcs{}, Out: petri.And(job, asked),
		Action: func(f *petri.Firing) { job.Put(f, b.job(thinking.Get(f))); asked.Put(f, thinking.Get(f)) }}
	if more := b.agent.Attempts - 1; more > 0 {
		request.Reset, request.Out = petri.Arcs{tries}, petri.And(job, asked, tries.Exactly(more))
	}
	if b.tooled() {
		start.Out = petri.And(busy.Passing(b.in()), thinking, b.works(), steps.Exactly(b.agent.MaxSteps))
		request.In = petri.Arcs{thinking, steps}
	}
	b.add(n, b.label()+" starts", start)
	b.add(n, "", request)
	b.work(n, "work", job, ask, result, b.agent.Timeout)
	b.retries(n)
	b.answer(n)
	b.park(n)
	if b.tooled() {
		b.add(n, b.label()+" has used up its steps", petri.Transition{Name: "exhaust", In: petri.Arcs{thinking},
			Inhibit: petri.Arcs{steps}, Out: petri.And(agent.EndInvocation.Is(agent.Failed)),
			Action: b.fails(func(*petri.Firing) (agent.Code, string) {
				return agent.BudgetSpent, fmt.Sprintf("it needed more than max_steps: %d", b.agent.MaxSteps)
			})})
		b.calls(n)
	}
	b.discard(n, busy, b.inside()...)
}

// inside are the places of a leaf where a token may rest while it is busy.
func (b *block) inside() petri.Arcs {
	list := petri.Arcs{b.works(), parked, someParked, job, asked, result, saying, b.task("ask").InFlight}
	if b.agent.Attempts > 1 {
		list = append(list, tries, delaying)
	}
	if b.exits() {
		list = append(list, leaving)
	}
	for _, to := range b.targets() {
		list = append(list, b.routing(to))
	}
	if b.tooled() {
		list = append(list, steps, waiting, toolJob, b.task("tools").InFlight)
	}
	if len(b.kids) > 0 {
		list = append(list, pending)
	}
	return list
}

// exits reports whether the leaf itself may end the loop around it.
func (b *block) exits() bool {
	return b.loop != nil && slices.ContainsFunc(b.agent.Tools, func(t Tool) bool { return t.Name == exitLoop })
}

func (b *block) job(v *Visit) *Job {
	j := &Job{Agent: b.agent, Path: b.path, Author: b.author, Visit: v}
	if b.parent != nil && b.parent.agent.Type == reactType {
		j.React = b.parent.agent
	}
	for _, to := range b.targets() {
		j.Routes = append(j.Routes, to.agent.Name)
	}
	return j
}

// work adds a worker with a time-out. The slot is free again when the work has returned.
func (b *block) work(n *petri.Net, name string, from petri.Place[*Job], t petri.Task[*Job, *Result],
	to petri.Place[petri.Result[*Result]], limit time.Duration) {
	n.Nets = append(n.Nets, patterns.Worker("."+name, from, t, to, agent.EndInvocation))
	n.Ports = append(n.Ports, t.Start, t.InFlight, t.Done)
	fail := func(code agent.Code, text string) func(*petri.Firing) {
		return func(f *petri.Firing) {
			to.Put(f, petri.Result[*Result]{Outcome: petri.Failed, Reason: text, Value: &Result{fault: code}})
		}
	}
	_, late := b.faults()
	b.add(n, fmt.Sprintf("%s takes longer than %v", b.label(), limit), petri.Transition{Name: name + "_times_out",
		In: petri.Arcs{t.InFlight}, Read: petri.Arcs{busy}, When: petri.After(limit), Out: petri.And(to.Is(petri.Failed)),
		Action: fail(late, fmt.Sprintf("it took longer than %v", limit))})
	refused := name + "_refused"
	b.refusals = append(b.refusals, refused)
	b.add(n, b.label()+" waits for work that was stopped", petri.Transition{Name: refused,
		In: petri.Arcs{from}, Read: petri.Arcs{busy}, Inhibit: petri.Arcs{t.InFlight}, When: petri.After(patience),
		Out:    petri.And(to.Is(petri.Failed)),
		Action: fail(agent.ToolsBusy, fmt.Sprintf("work that was stopped more than %v ago has not returned yet", patience))})
}

// faults are the codes of an error of the leaf, and of one that takes too long.
func (b *block) faults() (failed, late agent.Code) {
	switch b.agent.Type {
	case llmType:
		return agent.ModelFailed, agent.ModelTimedOut
	case toolType:
		return agent.ToolFailed, agent.ToolTimedOut
	}
	return agent.WorkFailed, agent.WorkTimedOut
}

// retries adds what follows a failed attempt.
func (b *block) retries(n *petri.Net) {
	failed := result.Is(petri.Failed, petri.Cancelled)
	fail := petri.Transition{Name: "fail", In: petri.Arcs{failed, asked},
		Out: petri.And(agent.EndInvocation.Is(agent.Failed)),
		Action: b.fails(func(f *petri.Firing) (agent.Code, string) {
			r := result.Get(f)
			if r.Value != nil && r.Value.fault != "" {
				return r.Value.fault, r.Reason
			}
			code, _ := b.faults()
			return code, r.Reason
		})}
	if b.agent.Attempts > 1 {
		b.add(n, b.label()+" fails and is tried again", petri.Transition{Name: "retry",
			In: petri.Arcs{failed, tries}, Read: petri.Arcs{asked},
			Out: petri.Free(petri.Arcs{delaying}, petri.Arcs{job}), Action: func(f *petri.Firing) {
				if r := result.Get(f).Value; r != nil && r.Repeated {
					f.Choose(1)
					job.Put(f, b.job(asked.Get(f)))
					return
				}
				f.Choose(0)
				delaying.Put(f, b.job(asked.Get(f)))
			}})
		b.add(n, "", petri.Transition{Name: "try_again", In: petri.Arcs{delaying}, Out: petri.And(job),
			When: petri.After(b.agent.Delay)})
		fail.Inhibit = petri.Arcs{tries}
	}
	b.add(n, b.label()+" fails", fail)
}

// fails ends the run with a fault of the leaf.
func (b *block) fails(why func(*petri.Firing) (agent.Code, string)) func(*petri.Firing) {
	return func(f *petri.Firing) {
		code, text := why(f)
		agent.EndInvocation.Put(f, &agent.End{How: agent.Failed, Fault: &agent.Fault{Code: code, Agent: b.path, Text: text}})
	}
}

// way is one of the ways in which a leaf goes on after a result.
type way struct {
	name  string
	from  petri.Place[*Flow] // marked while the event is stored
	to    petri.Place[*Flow]
	exit  bool
	words string
}

// ways are the ways out of a leaf.
func (b *block) ways() []way {
	done := b.label() + " is done"
	if key := b.own(); key != "" {
		done += " and writes `" + key + "`"
	}
	list := []way{{"go_on", saying, b.out(), false, done}}
	if b.exits() {
		list = append(list, way{"go_on_and_exit", leaving, b.out(), true, done + " and calls exit_loop"})
	}
	for _, to := range b.targets() {
		list = append(list, way{"go_to_" + to.name, b.routing(to), b.route(to), false, done + " and chooses " + to.label()})
	}
	return list
}

// routing is marked while the event of a router is stored that hands over to a target.
func (b *block) routing(to *block) petri.Place[*Flow] {
	return petri.Place[*Flow]("routing_" + to.name)
}

// answer adds what follows a result: its event is stored, then the leaf goes on.
func (b *block) answer(n *petri.Net) {
	step := agent.SessionWrite.Is(agent.Step).Fresh()
	ways := b.ways()
	var branches []petri.Arcs
	for _, w := range ways {
		branches = append(branches, petri.Arcs{step, w.from})
	}
	if b.router {
		branches = append(branches, petri.Arcs{agent.EndInvocation.Is(agent.Failed)})
	}
	switch {
	case len(b.kids) > 0:
		for k := range callsMax + 1 {
			branches = append(branches, petri.Arcs{calling, pending.Exactly(k + 1)})
		}
	case b.tooled():
		branches = append(branches, petri.Arcs{toolJob, waiting})
	}
	branches = append(branches, petri.Arcs{parking})
	take := petri.Transition{Name: "answer", In: petri.Arcs{result.Is(petri.Succeeded), asked},
		Read: petri.Arcs{agent.WriterIdle}, Inhibit: petri.Arcs{agent.Stored, agent.Lost}, Out: petri.Free(branches...),
		Action: func(f *petri.Firing) { b.choose(f, ways, len(branches)-1) }}
	b.add(n, "", take)
	for _, w := range ways {
		b.add(n, w.words, b.leave(w))
	}
}

// leave is the end of a leaf: the key it writes is there from now on.
func (b *block) leave(w way) petri.Transition {
	t := petri.Transition{Name: w.name, In: petri.Arcs{agent.Stored, w.from, busy, b.works()}}
	out := petri.Arcs{w.to.Passing(w.from)}
	mark := func(p petri.Place[petri.Unit]) { t.Reset, out = append(t.Reset, p), append(out, p) }
	if key := b.own(); key != "" {
		mark(keyPlace(key))
	}
	if w.exit {
		mark(b.loop.exit())
	}
	if b.agent.Attempts > 1 {
		t.Reset = append(t.Reset, tries)
	}
	if b.tooled() {
		t.Reset = append(t.Reset, steps)
	}
	t.Out = petri.And(out...)
	return t
}

// choose decides what follows a result. parks is the branch of one that comes later.
func (b *block) choose(f *petri.Firing, ways []way, parks int) {
	r, v := result.Get(f).Value, asked.Get(f)
	switch {
	case r == nil:
		r = &Result{}
	case r.Deferred:
		f.Choose(parks)
		parking.Put(f, v)
		return
	case b.tooled() && len(r.Calls) > 0:
		b.takeCalls(f, v, r, len(ways)+map[bool]int{true: 1}[b.router])
		return
	}
	i := 0
	for k, to := range b.targets() {
		if r.Route == to.agent.Name {
			i = len(ways) - len(b.targets()) + k
		}
	}
	switch {
	case r.Route != "" && b.router && i == 0:
		f.Choose(len(ways))
		b.fails(func(*petri.Firing) (agent.Code, string) {
			return agent.UnknownAgent, fmt.Sprintf("it hands over to %q, which it may not", r.Route)
		})(f)
		return
	case r.Route == "" && (r.Exit || v.exit) && b.exits():
		i = 1
	}
	f.Choose(i)
	next := *v.Flow
	next.Output = r.Output
	if key := b.own(); key != "" {
		next.State = next.State.with(key, r.Output, f.Seq())
	}
	if r.Event != nil && r.Event.Content != nil {
		next.Said = append(slices.Clip(next.Said), Said{b.author, r.Event.Content, f.Seq()})
	}
	ways[i].from.Put(f, &next)
	agent.SessionWrite.Put(f, agent.NewWrite(f, v.Flow.Turn, agent.Step, b.event(v.Flow.Turn, r)))
}

// event is the event of a result.
func (b *block) event(t *agent.Turn, r *Result) *session.Event {
	ev := t.NewEvent(b.author)
	if r.Event != nil {
		own := *r.Event
		own.InvocationID, own.Author = ev.InvocationID, ev.Author
		if own.Actions.StateDelta == nil {
			own.Actions = ev.Actions
		}
		ev = &own
	}
	if key := b.own(); key != "" {
		ev.Actions.StateDelta[key] = r.Output
	}
	return ev
}

// takeCalls begins to run the calls of an answer: the plain tools first, together, then the agents, one
// after the other. first is the first branch for calls.
func (b *block) takeCalls(f *petri.Firing, v *Visit, r *Result, first int) {
	s := Step{Calls: r.Calls, Results: make([]any, len(r.Calls))}
	if r.Event != nil {
		s.Content = r.Event.Content
	}
	plain := work{agent: -1}
	var agents []work
	for i, c := range r.Calls {
		k := slices.IndexFunc(b.kids, func(k *block) bool { return k.agent.Name == c.Name })
		switch {
		case k < 0 || slices.Contains(r.Refused, c):
			plain.calls = append(plain.calls, i)
		case len(agents) == callsMax:
			s.Results[i] = map[string]any{"error": fmt.Sprintf("at most %d agents can be called in one answer", callsMax)}
		default:
			agents = append(agents, work{calls: []int{i}, agent: k})
		}
	}
	if len(plain.calls) > 0 {
		s.open = append(s.open, plain)
	}
	s.open = append(s.open, agents...)
	next := v.with(s)
	next.exit = v.exit || r.Exit
	if len(b.kids) == 0 {
		f.Choose(first)
		toolJob.Put(f, b.toolsOf(next))
		waiting.Put(f, next)
		return
	}
	f.Choose(first + len(s.open) - 1)
	for range s.open {
		pending.Put(f, petri.Unit{})
	}
	calling.Put(f, next)
}

// with returns the visit with one more step.
func (v *Visit) with(s Step) *Visit {
	return &Visit{Flow: v.Flow, Steps: append(slices.Clip(v.Steps), s)}
}

// toolsOf is the job of the plain tools of the last step.
func (b *block) toolsOf(v *Visit) *Job {
	j, s := b.job(v), v.Steps[len(v.Steps)-1]
	j.Calls = []*genai.FunctionCall{}
	for _, i := range s.open[0].calls {
		j.Calls = append(j.Calls, s.Calls[i])
	}
	return j
}

// collect returns the visit with the results of the first work that is open.
func (v *Visit) collect(f *Flow, results func(i int) any) *Visit {
	last := v.Steps[len(v.Steps)-1]
	last.Results = slices.Clone(last.Results)
	for i, c := range last.open[0].calls {
		last.Results[c] = results(i)
	}
	last.open = last.open[1:]
	next := &Visit{Flow: v.Flow, Steps: slices.Clone(v.Steps), exit: v.exit}
	next.Steps[len(next.Steps)-1] = last
	if f != nil {
		flow := *v.Flow
		flow.State = flow.State.join(f.State)
		next.Flow = &flow
	}
	return next
}

// calls adds what runs the calls of an answer.
func (b *block) calls(n *petri.Net) {
	b.work(n, "tools", toolJob, b.task("tools"), toolResult, toolsLimit)
	back := thinking
	if len(b.kids) > 0 {
		back = calling
	}
	b.add(n, "the tools of "+b.label()+" have results", petri.Transition{Name: "collect",
		In:  petri.Arcs{toolResult, waiting},
		Out: petri.Free(petri.Arcs{back}, petri.Arcs{parking}), Action: func(f *petri.Firing) {
			r := toolResult.Get(f)
			if r.Value != nil && r.Value.Deferred {
				f.Choose(1)
				parking.Put(f, waiting.Get(f))
				return
			}
			f.Choose(0)
			back.Put(f, waiting.Get(f).collect(nil, func(i int) any {
				switch {
				case r.Outcome != petri.Succeeded:
					return map[string]any{"error": r.Reason}
				case r.Value == nil || i >= len(r.Value.Results):
					return map[string]any{"error": "the tool gave no result"}
				}
				return r.Value.Results[i]
			}))
		}})
	if len(b.kids) > 0 {
		b.agentCalls(n)
	}
}

// agentCalls adds the calls of agents.
func (b *block) agentCalls(n *petri.Net) {
	branches := []petri.Arcs{{toolJob, waiting, b.works()}}
	for i, k := range b.kids {
		branches = append(branches, petri.Arcs{k.in(), waiting})
		b.add(n, "", petri.Transition{Name: "collect_" + k.name, In: petri.Arcs{k.out(), waiting},
			Out: petri.And(calling, b.works()), Action: func(f *petri.Firing) {
				flow := b.kids[i].out().Get(f)
				calling.Put(f, waiting.Get(f).collect(flow, func(int) any { return flow.Output }))
			}})
	}
	b.add(n, "", petri.Transition{Name: "call", In: petri.Arcs{calling, pending, b.works()},
		Out: petri.Free(branches...), Action: func(f *petri.Firing) {
			v := calling.Get(f)
			s := v.Steps[len(v.Steps)-1]
			waiting.Put(f, v)
			f.Choose(s.open[0].agent + 1)
			if s.open[0].agent < 0 {
				toolJob.Put(f, b.toolsOf(v))
				return
			}
			callee := *v.Flow
			callee.Said, callee.Args = nil, s.Calls[s.open[0].calls[0]].Args
			if callee.Args == nil {
				callee.Args = map[string]any{}
			}
			b.kids[s.open[0].agent].in().Put(f, &callee)
		}})
	b.add(n, "", petri.Transition{Name: "go_back", In: petri.Arcs{calling}, Inhibit: petri.Arcs{pending},
		Out: petri.And(thinking)})
}

// do is the handler of a task.
func do(w Worker) func(ctx context.Context, s *agent.Session, j *Job) (*Result, error) {
	return func(ctx context.Context, s *agent.Session, j *Job) (*Result, error) { return w.Do(ctx, s, j) }
}
