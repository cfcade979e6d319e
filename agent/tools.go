package agent

import (
	"fmt"

	"github.com/voicegw/voicegw/petri"
)

// ToolDispatch runs the calls of a response, each as a task of its own, up to one for each slot at a
// time. It joins their results by call. An error, a panic or a time-out of a call is a result, too.
func ToolDispatch(p Ports, l Limits) *petri.Net {
	const (
		job        petri.Place[*Call]                = "job"
		result     petri.Place[*Done[*Call, *Reply]] = "result"
		pending    petri.Place[petri.Unit]           = "pending" // one for each result that is missing
		collecting petri.Place[*gathering]           = "collecting"
	)
	var inFlight petri.Arcs
	n := &petri.Net{
		Name:  string(PartTools),
		Ports: []petri.AnyPlace{p.ToolCalls, p.ToolResults, EndInvocation},
		Caps:  []petri.Cap{{Place: job, Max: l.MaxCalls}, {Place: pending, Max: l.MaxCalls}, {Place: collecting, Max: 1}},
	}
	var any worker[*Call, *Reply]
	for i, t := range p.Tools {
		any = worker[*Call, *Reply]{name: fmt.Sprint("slot", i), job: job, task: t, result: result,
			limit: l.ToolTimeout, failed: ToolFailed, late: ToolTimedOut, discards: []petri.AnyPlace{t.InFlight}}
		if i == 0 { // the calls that wait are discarded once
			any = any.own()
		}
		n.Nets = append(n.Nets, any.net())
		n.Ports = append(n.Ports, t.Start, t.InFlight, t.Done)
		inFlight = append(inFlight, t.InFlight)
	}
	any.name = "call"
	branches := []petri.Arcs{{collecting}}
	for k := 1; k <= l.MaxCalls; k++ {
		branches = append(branches, petri.Arcs{collecting, job.Exactly(k), pending.Exactly(k)})
	}
	n.Transitions = append([]petri.Transition{
		{Name: "spread", In: petri.Arcs{p.ToolCalls}, Out: petri.Free(branches...), Action: func(f *petri.Firing) {
			c := p.ToolCalls.Get(f)
			f.Choose(len(c.Calls))
			for _, one := range c.Calls {
				job.Put(f, one)
			}
			collecting.Put(f, &gathering{Calls: c, Replies: make([]*Reply, len(c.Calls)), faults: c.faults})
		}},
		{Name: "collect", In: petri.Arcs{result, pending, collecting}, Out: petri.And(collecting), Priority: 1,
			Action: func(f *petri.Firing) { collecting.Put(f, collecting.Get(f).with(result.Get(f), p.Agent)) }},
		{Name: "join", In: petri.Arcs{collecting}, Inhibit: petri.Arcs{pending},
			Out: petri.Free(petri.Arcs{p.ToolResults.Is(askAgain)}, petri.Arcs{p.ToolResults.Is(lastWord)},
				petri.Arcs{p.ToolResults.Is(noResults)}),
			Action: func(f *petri.Firing) {
				r := (*Results)(collecting.Get(f))
				f.Choose(int(r.Key()))
				p.ToolResults.Put(f, r)
			}},
		any.refuse(l.Patience, ToolsBusy, inFlight),
	}, atEnd(pending, collecting)...)
	return guarded(n)
}

// gathering is Results that are not complete. It never changes, so that readers may keep it.
type gathering Results

// with returns the results with one more.
func (r *gathering) with(d *Done[*Call, *Reply], agent string) *gathering {
	next := *r
	next.Replies = append([]*Reply(nil), r.Replies...)
	reply, failed := d.Out, d.Fault
	if failed == nil && reply != nil {
		failed = reply.Fault
	}
	if failed != nil {
		fault := *failed
		fault.Agent, fault.Tool, fault.Call = agent, d.In.Call.Name, d.In.Call.ID
		next.faults = append(append([]*Fault(nil), r.faults...), &fault)
		if d.Fault != nil || reply.Response == nil {
			reply = &Reply{Response: refusal(&fault)}
		}
	}
	if reply == nil {
		reply = &Reply{}
	}
	next.last = next.last || reply.Last || reply.Deferred
	for i, c := range r.Calls.Calls {
		if c.Call.ID == d.In.Call.ID {
			next.Replies[i] = reply
		}
	}
	return &next
}

// refusal is the result of a call that failed, as the model gets it.
func refusal(f *Fault) map[string]any {
	return map[string]any{"error": fmt.Sprintf("%s: %s", f.Code, f.Text)}
}
