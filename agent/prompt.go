package agent

import (
	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/petri"
)

// PromptBuilder builds a request to the model of an agent: a task from Prompt to ModelRequest. It reads
// the session, whose events are all stored by then. If it fails, it fills Failure.
func PromptBuilder(p Ports, l Limits) *petri.Net {
	const built petri.Place[*Done[*Turn, *model.LLMRequest]] = "built"
	w := worker[*Turn, *model.LLMRequest]{name: "builder", job: p.Prompt, task: p.Build, result: built,
		limit: l.HookTimeout, failed: PromptFailed, late: PromptFailed}
	return guarded(&petri.Net{
		Name: string(PartPrompt),
		Ports: []petri.AnyPlace{p.Prompt, p.ModelRequest, p.Failure, p.Build.Start, p.Build.InFlight, p.Build.Done,
			EndInvocation},
		Transitions: []petri.Transition{
			{Name: "pass_request", In: petri.Arcs{built.Is(okKey)}, Out: petri.And(p.ModelRequest),
				Action: func(f *petri.Firing) {
					d := built.Get(f)
					p.ModelRequest.Put(f, &Request{Turn: d.In, Request: d.Out})
				}},
			failing(built, p),
			w.refuse(l.Patience, PromptFailed, petri.Arcs{p.Build.InFlight}),
		},
		Nets: []*petri.Net{w.own().net()},
	})
}

// failing passes the fault of a task on to Failure.
func failing[I, O any](result petri.Place[*Done[I, O]], p Ports) petri.Transition {
	return petri.Transition{Name: "fail_" + result.String(), In: petri.Arcs{result.Is(failedKey)},
		Out: petri.And(p.Failure), Action: func(f *petri.Firing) { p.Failure.Put(f, p.blamed(result.Get(f).Fault)) }}
}

// blamed returns a fault with the name of the agent.
func (p Ports) blamed(f *Fault) *Fault {
	with := *f
	with.Agent = p.Agent
	return &with
}
