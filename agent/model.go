package agent

import (
	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/petri"
)

// Stages says which hooks a model step has.
type Stages struct {
	Before bool // before the request: it may answer in place of the model
	After  bool // after a response: it may replace the response
	Error  bool // after a failure: it may answer in place of the model
}

// ModelStep asks the model of an agent: a task from ModelRequest to ModelResponse, or to Failure.
// Partial responses enter at Chunk and leave at once, while the request is in flight. A hook is a
// task, too. It either continues or answers in place of the model, never both.
func ModelStep(p Ports, l Limits, has Stages) *petri.Net {
	m := newModelStep(p, l)
	m.net.Ports = append(m.net.Ports, p.Chunk, EventOut)
	m.net.Env = []petri.Env{{Place: p.Chunk}}
	m.net.Transitions = append([]petri.Transition{
		{Name: "show_partial", In: petri.Arcs{p.Chunk}, Read: petri.Arcs{p.Ask.InFlight},
			Out: petri.And(EventOut.Is(Partial)), Action: func(f *petri.Firing) {
				c := p.Chunk.Get(f)
				showPartial(f, c.Turn, p.Agent, c.Response)
			}},
		{Name: "drop_partial", In: petri.Arcs{p.Chunk}, Inhibit: petri.Arcs{p.Ask.InFlight}},
	}, atEnd(p.Chunk)...)
	return m.build(has, func() {
		add(m, m.asker(), m.failing(has), m.passing())
	})
}

// strategyStep is a ModelStep that asks the branches of a strategy.
func strategyStep(p Ports, l Limits, has Stages, st Strategy) (*petri.Net, *plan) {
	m := newModelStep(p, l)
	var s *plan
	n := m.build(has, func() {
		s = newPlan(st, p, l, m.job)
		m.net.Nets = append(m.net.Nets, s.net)
		m.net.Ports = append(m.net.Ports, s.outside...)
		m.net.Transitions = append(m.net.Transitions, m.failing(has), m.passing())
	})
	return n, s
}

func newModelStep(p Ports, l Limits) *modelStep {
	return &modelStep{p: p, l: l, job: p.ModelRequest, response: p.ModelResponse, net: &petri.Net{
		Name: string(PartModel), Ports: []petri.AnyPlace{p.ModelRequest, p.ModelResponse, p.Failure, EndInvocation}}}
}

// showPartial produces the event of a partial response.
func showPartial(f *petri.Firing, t *Turn, agent string, r *model.LLMResponse) {
	ev := t.event(agent, r)
	ev.Partial = true
	EventOut.Put(f, &Event{Turn: t, Kind: Partial, Event: ev})
}

// build adds the hooks around what ask adds.
func (m *modelStep) build(has Stages, ask func()) *petri.Net {
	if has.Before {
		m.before()
	}
	if has.After {
		m.response = revising
	}
	ask()
	if has.After {
		m.after()
	}
	if has.Error {
		m.mend()
	}
	return guarded(m.net)
}

// modelStep is a ModelStep in the making.
type modelStep struct {
	p        Ports
	l        Limits
	net      *petri.Net
	job      petri.Place[*Request]  // what the model is asked
	response petri.Place[*Response] // where the response goes
}

const (
	asking   petri.Place[*Request]                             = "asking"
	checked  petri.Place[*Done[*Request, *model.LLMResponse]]  = "checked"
	answered petri.Place[*Attempt]                             = "answered"
	revising petri.Place[*Response]                            = "revising"
	revised  petri.Place[*Done[*Response, *model.LLMResponse]] = "revised"
	mending  petri.Place[*Failing]                             = "mending"
	mended   petri.Place[*Done[*Failing, *model.LLMResponse]]  = "mended"
)

// add adds a task and the transitions around it.
func add[I, O any](m *modelStep, w worker[I, O], more ...petri.Transition) {
	m.net.Nets = append(m.net.Nets, w.own().net())
	m.net.Ports = append(m.net.Ports, w.task.Start, w.task.InFlight, w.task.Done)
	m.net.Transitions = append(append(m.net.Transitions, more...),
		w.refuse(m.l.Patience, w.failed, petri.Arcs{w.task.InFlight}))
}

// before adds the hook before the request.
func (m *modelStep) before() {
	const goOn, shortCircuit = 0, 1
	m.job = asking
	w := worker[*Request, *model.LLMResponse]{name: "before", job: m.p.ModelRequest, task: m.p.Before, result: checked,
		limit: m.l.HookTimeout, failed: HookFailed, late: HookFailed}
	add(m, w, failing(checked, m.p), petri.Transition{Name: "continue_or_answer", In: petri.Arcs{checked.Is(okKey)},
		Out: petri.Free(petri.Arcs{asking}, petri.Arcs{m.p.ModelResponse}), Action: func(f *petri.Firing) {
			d := checked.Get(f)
			if d.Out == nil {
				f.Choose(goOn)
				asking.Put(f, d.In)
				return
			}
			f.Choose(shortCircuit)
			m.p.ModelResponse.Put(f, &Response{Turn: d.In.Turn, Response: d.Out})
		}})
}

// asker asks the model.
func (m *modelStep) asker() worker[*Request, *model.LLMResponse] {
	return worker[*Request, *model.LLMResponse]{name: "asker", job: m.job, task: m.p.Ask, result: answered,
		limit: m.l.ModelTimeout, failed: ModelFailed, late: ModelTimedOut}
}

// failing passes on the fault of a request.
func (m *modelStep) failing(has Stages) petri.Transition {
	t := failing(answered, m.p)
	if has.Error {
		t.Out, t.Action = petri.And(mending), func(f *petri.Firing) {
			d := answered.Get(f)
			mending.Put(f, &Failing{Request: d.In, Fault: m.p.blamed(d.Fault)})
		}
	}
	return t
}

// passing passes on the response.
func (m *modelStep) passing() petri.Transition {
	return petri.Transition{Name: "pass_response", In: petri.Arcs{answered.Is(okKey)}, Out: petri.And(m.response),
		Action: func(f *petri.Firing) {
			d := answered.Get(f)
			m.response.Put(f, &Response{Turn: d.In.Turn, Response: d.Out})
		}}
}

// after adds the hook after a response.
func (m *modelStep) after() {
	w := worker[*Response, *model.LLMResponse]{name: "after", job: revising, task: m.p.After, result: revised,
		limit: m.l.HookTimeout, failed: HookFailed, late: HookFailed}
	add(m, w, failing(revised, m.p), petri.Transition{Name: "pass_revised", In: petri.Arcs{revised.Is(okKey)},
		Out: petri.And(m.p.ModelResponse), Action: func(f *petri.Firing) {
			d := revised.Get(f)
			r := d.In
			if d.Out != nil {
				r = &Response{Turn: d.In.Turn, Response: d.Out}
			}
			m.p.ModelResponse.Put(f, r)
		}})
}

// mend adds the hook after a failure.
func (m *modelStep) mend() {
	const recovered, stands = 0, 1
	w := worker[*Failing, *model.LLMResponse]{name: "mender", job: mending, task: m.p.Error, result: mended,
		limit: m.l.HookTimeout, failed: HookFailed, late: HookFailed}
	add(m, w, failing(mended, m.p), petri.Transition{Name: "mend_or_fail", In: petri.Arcs{mended.Is(okKey)},
		Out: petri.Free(petri.Arcs{m.p.ModelResponse}, petri.Arcs{m.p.Failure}), Action: func(f *petri.Firing) {
			d := mended.Get(f)
			if d.Out == nil {
				f.Choose(stands)
				m.p.Failure.Put(f, d.In.Fault)
				return
			}
			f.Choose(recovered)
			m.p.ModelResponse.Put(f, &Response{Turn: d.In.Request.Turn, Response: d.Out})
		}})
}
