//go:build !race

// Proofs have no goroutines, and take five times as long with the race detector.

package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// mustProve fails the test for each claim that is not proved.
func mustProve(t *testing.T, p *Program) *verify.ClosuresReport {
	t.Helper()
	r, err := Prove(t.Context(), p, verify.Config{Max: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range r.Idle {
		t.Errorf("%s never fires", name)
	}
	for i, report := range r.Reports {
		for k := range report.Results {
			v := &report.Results[k]
			if v.Outcome != verify.Proved {
				t.Errorf("%s: %s: %s: %.300s", r.Closures[i], v.Property.Name, v.Outcome, v.Reason)
			}
			if v.Witness != nil {
				t.Logf("%s", v.Witness.Story)
			}
		}
	}
	if r.Outcome() != verify.Proved {
		t.Errorf("outcome %s", r.Outcome())
	}
	return r
}

func TestProveTurns(t *testing.T) {
	small := Limits{Reasks: 2, ToolSlots: 2, MaxCalls: 2}
	hooked, kept := one(small), one(small)
	hooked.Agents[0].Hooks = allHooks()
	kept.KeepsMessage = true
	for _, c := range []struct {
		name string
		c    Config
	}{
		{"one agent", one(Limits{})}, {"hooks", hooked}, {"message kept", kept},
		{"two agents", two(Limits{Reasks: 1, ToolSlots: 1, MaxCalls: 2})},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := mustProve(t, newProgram(t, c.c))
			for _, report := range r.Reports {
				t.Logf("%s: %d markings", report.Net, report.Graph.States())
			}
		})
	}
}

// TestProveBudgets proves small budgets one by one. The claim "budget" covers all others.
func TestProveBudgets(t *testing.T) {
	for k := 1; k <= 6; k++ {
		mustProve(t, newProgram(t, one(Limits{Reasks: k, ToolSlots: 1, MaxCalls: 1})))
	}
}

func TestProveGuest(t *testing.T) {
	mustProve(t, newProgram(t, guests(Limits{Reasks: 1, ToolSlots: 1, MaxCalls: 1}, nil)))
}

// TestProveOwnTask finds a task of a net's own that works while an event is being stored.
func TestProveOwnTask(t *testing.T) {
	p := newProgram(t, one(Limits{Reasks: 1, ToolSlots: 1, MaxCalls: 1}))
	own := task[petri.Unit, petri.Unit]("own")
	var err error
	p.Net, err = petri.Compose("agents", append(slices.Clone(p.Net.Nets), guarded(&petri.Net{
		Name: "extra", Ports: []petri.AnyPlace{own.Start, own.InFlight, own.Done, Writing},
		Tasks: []petri.AnyTask{own},
		Init:  []petri.Token{idle.Token(petri.Unit{})},
		Transitions: append([]petri.Transition{
			{Name: "begin", In: petri.Arcs{idle}, Read: petri.Arcs{Writing}, Out: petri.And(own.Start, own.InFlight)},
			{Name: "end", In: petri.Arcs{own.Done, own.InFlight}, Out: petri.And(idle)},
			{Name: "forget", In: petri.Arcs{own.Done}, Inhibit: petri.Arcs{own.InFlight}, Out: petri.And(idle)},
		}, atEnd(own.InFlight)...),
	}))...)
	if err != nil {
		t.Fatal(err)
	}
	p.Handlers = append(p.Handlers, Handle(own, func(context.Context, *Session, petri.Unit) (petri.Unit, error) {
		return petri.Unit{}, nil
	}))
	p.compiled = nil
	r, err := Prove(t.Context(), p, verify.Config{Max: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	for _, report := range r.Reports {
		for _, v := range report.Results {
			if v.Property.Name == "persist barrier" && v.Outcome != verify.Refuted {
				t.Errorf("%s: %s", v.Outcome, v.Reason)
			}
		}
	}
}

// TestProveOwnProperty proves a property of a program against both callers.
func TestProveOwnProperty(t *testing.T) {
	p := newProgram(t, one(Limits{Reasks: 1, ToolSlots: 1, MaxCalls: 1}))
	p.Properties = append(p.Properties, verify.Mutex(turn.String(), Quiet.String()))
	for _, report := range mustProve(t, p).Reports {
		if !slices.ContainsFunc(report.Results, func(v verify.Result) bool { return v.Property == p.Properties[0] }) {
			t.Errorf("%s: the property is not proved", report.Net)
		}
	}
}

// TestProveExcuses: after the end of a turn a result may be taken if its work was cancelled, or if it is that of the
// writer. Another transition may not fire, whatever its name, and no other result may be taken.
func TestProveExcuses(t *testing.T) {
	for _, free := range []struct{ part, transition, name string }{
		{"host/router", "route", "store"},
		{"host/router", "route", "forget"},
		{"host/prompt/builder", "deliver", "deliver"},
		{"host/prompt/builder", "deliver", "forget_more"},
	} {
		p := newProgram(t, one(Limits{Reasks: 1, ToolSlots: 1, MaxCalls: 1}))
		changed := transition(t, part(t, p, free.part), free.transition)
		changed.Name, changed.Inhibit = free.name, nil
		p.compiled = nil
		r, err := Prove(t.Context(), p, verify.Config{Max: 1 << 16})
		if err != nil {
			t.Fatal(err)
		}
		list := r.Reports[0].Results
		i := slices.IndexFunc(list, func(v verify.Result) bool { return v.Property.Name == "end inhibits all" })
		if v := list[i]; v.Outcome != verify.Refuted {
			t.Errorf("%+v: %s: %s", free, v.Outcome, v.Reason)
		}
	}
}

// TestProveMissing refuses a net without a place that claims are about.
func TestProveMissing(t *testing.T) {
	n := &petri.Net{Name: "mine", Env: []petri.Env{{Place: UserIn}}, Out: []petri.Output{{Place: TurnEnd}},
		Transitions: []petri.Transition{{Name: "swallow", In: petri.Arcs{UserIn}, Out: petri.And(TurnEnd.Is(Answered)),
			Action: func(f *petri.Firing) { TurnEnd.Put(f, &End{Turn: UserIn.Get(f)}) }}}}
	if _, err := Prove(t.Context(), &Program{Net: n}, verify.Config{}); err == nil ||
		!strings.Contains(err.Error(), `no place "event_out"`) {
		t.Errorf("the error is %v", err)
	}
}

// part finds a subnet by its path.
func part(t testing.TB, p *Program, path string) *petri.Net {
	t.Helper()
	n := p.Net
	for name := range strings.SplitSeq(path, "/") {
		i := slices.IndexFunc(n.Nets, func(n *petri.Net) bool { return n.Name == name })
		if i < 0 {
			t.Fatalf("net %s has no part %s", n.Name, name)
		}
		n = n.Nets[i]
	}
	return n
}

func transition(t testing.TB, n *petri.Net, name string) *petri.Transition {
	t.Helper()
	i := slices.IndexFunc(n.Transitions, func(t petri.Transition) bool { return t.Name == name })
	if i < 0 {
		t.Fatalf("net %s has no transition %s", n.Name, name)
	}
	return &n.Transitions[i]
}

// drop removes the arcs of a place from a list.
func drop(list petri.Arcs, p petri.AnyPlace) petri.Arcs {
	return slices.DeleteFunc(slices.Clone(list), func(a petri.AnyArc) bool {
		return petri.ArcPlace(a).String() == p.String()
	})
}

// TestTurnMutants breaks each subnet once, and expects that the claim which is about that is refuted.
func TestTurnMutants(t *testing.T) {
	for _, c := range []struct{ net, transition, claim string }{
		{"session", "begin_store", "fresh commits"},
		{"session", "second", "single writer"},
		{"turns", "end_after_loss", "deadlock-free"},
		{"turns", "begin_host", "requests"},
		{"turns", "close_turn", "nothing is left"},
		{"turns", "end_turn", "nothing after the end"},
		{"host/step", "ask_model", "requests"},
		{"host/step", "ask_model", "budget"},
		{"host/step", "ask_with_results", "budget"},
		{"host/step", "give_up", "deadlock-free"},
		{"host/step", "store_results", "one answer"},
		{"host/prompt/builder", "time_out", "deadlock-free"},
		{"host/model/asker", "discard_host_ask_in_flight", "end cancels work"},
		{"host/model", "drop_partial", "capacity"},
		{"host/router", "route", "end inhibits all"},
		{"host/router", "dispatch", "persist barrier"},
		{"host/router", "discard_calling", "nothing is left"},
		{"host/tools", "collect", "deadlock-free"},
		{"host/transfer", "ask_after_unknown", "transfer fallback of host"},
		{"poet/guest", "take_event", "persist barrier"},
		{"poet/guest", "go_on", "deadlock-free"},
	} {
		t.Run(c.net+" "+c.transition, func(t *testing.T) {
			l := Limits{Reasks: 1, ToolSlots: 1, MaxCalls: 1}
			p := newProgram(t, two(l))
			if strings.HasPrefix(c.net, "poet") {
				p = newProgram(t, guests(l, nil))
			}
			n := part(t, p, c.net)
			breakNet(t, n, c.transition)
			p.compiled = nil
			r, err := Prove(t.Context(), p, verify.Config{Max: 1 << 14})
			if err != nil {
				t.Fatal(err)
			}
			refuted := map[string]bool{}
			for _, report := range r.Reports {
				for _, v := range report.Results {
					if v.Outcome == verify.Refuted {
						refuted[v.Property.Name] = true
					}
				}
			}
			if !refuted[c.claim] {
				t.Errorf("%q is not refuted, but %v; never fires: %v", c.claim, refuted, r.Idle)
			}
		})
	}
}

// breakNet breaks one transition of a subnet.
func breakNet(t testing.TB, n *petri.Net, name string) {
	t.Helper()
	if name == "second" {
		again := *transition(t, n, "begin_store")
		again.Name, again.Priority = name, -1
		n.Transitions = append(n.Transitions, again)
		return
	}
	b := transition(t, n, name)
	p := PortsOf("host", 1)
	switch name {
	case "begin_store":
		b.In = petri.Arcs{SessionWrite, WriterIdle}
	case "end_after_loss":
		b.Read = petri.Arcs{Quiet}
	case "begin_host":
		b.Out = petri.And(append(drop(b.Out.Arcs(), Budget), Budget.Exactly(4))...)
	case "close_turn", "route":
		b.Reset = nil
		b.Inhibit = nil
	case "end_turn":
		b.In, b.Read, b.Priority = drop(b.In, TurnOver), petri.Arcs{TurnOver}, -2
		b.Out, b.Action = petri.And(TurnEnd.Passing(TurnOver), Quiet), nil
	case "ask_model":
		b.In = petri.Arcs{p.Due}
	case "ask_with_results":
		b.Out = petri.And(b.Out.Arcs()[0], Budget)
	case "give_up":
		b.Read = petri.Arcs{Budget}
	case "store_results":
		b.Out = petri.And(SessionWrite.Is(Answer).Fresh(), b.Out.Arcs()[1])
	case "time_out":
		b.Out, b.Action = petri.And(), nil
	case "discard_host_ask_in_flight", "discard_calling":
		b.Inhibit = append(b.Inhibit, EndInvocation)
	case "drop_partial":
		b.Read = b.Inhibit
	case "dispatch":
		b.In = drop(b.In, Stored)
	case "take_event": // asks for the next event at once
		due := PortsOf("poet", 1).Due
		b.Out = petri.Free(petri.Arcs{SessionWrite.Is(Step).Fresh(), petri.Place[petri.Unit]("noting"), due},
			petri.Arcs{EventOut.Is(Partial), due}, petri.Arcs{TurnOver.Is(Answered)})
	case "go_on":
		b.Out = petri.And()
	case "collect":
		b.In = drop(b.In, petri.Place[petri.Unit]("pending"))
	case "ask_after_unknown":
		b.Out = petri.And()
		n.Ports = slices.DeleteFunc(n.Ports, func(at petri.AnyPlace) bool { return at.String() == p.Due.String() })
	default:
		t.Fatal(fmt.Sprint("no fault for ", name))
	}
}
