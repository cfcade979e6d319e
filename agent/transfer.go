package agent

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/petri"
)

// TransferRouter hands the turn over to one of the targets: it fills their Due and Active. A name that
// is not among them is explained to the model, which is asked again.
func TransferRouter(p Ports, targets ...Ports) *petri.Net {
	const explaining petri.Place[petri.Unit] = "explaining"
	step := SessionWrite.Is(Step).Fresh()
	ports := []petri.AnyPlace{p.Transfer, p.Due, SessionWrite, Stored, turn, EndInvocation}
	var transfers []petri.Transition
	var branches []petri.Arcs
	places := []petri.AnyPlace{explaining}
	moving := false
	for i, to := range targets {
		going := petri.Place[petri.Unit](fmt.Sprint("going", i))
		places = append(places, going)
		branches = append(branches, petri.Arcs{step, going})
		ports = append(ports, to.Due)
		t := petri.Transition{Name: fmt.Sprint("transfer", i), In: petri.Arcs{Stored, going}, Read: petri.Arcs{turn},
			Out: petri.And(to.Due.Passing(turn))}
		if !to.Guest { // a guest gets this turn alone
			t.In, t.Out = append(t.In, p.Active), petri.And(append(t.Out.Arcs(), to.Active)...)
			ports = append(ports, to.Active)
			moving = true
		}
		transfers = append(transfers, t)
	}
	branches = append(branches, petri.Arcs{step, explaining})
	chosen := petri.Free(branches...)
	if len(targets) == 0 {
		chosen = petri.And(branches[0]...)
	}
	if moving {
		ports = append(ports, p.Active)
	}
	return guarded(&petri.Net{
		Name:  string(PartTransfer),
		Ports: ports,
		Transitions: slices.Concat([]petri.Transition{
			{Name: "choose_target", In: petri.Arcs{p.Transfer}, Out: chosen,
				Action: func(f *petri.Firing) { chooseTarget(f, p, targets) }},
			{Name: "ask_after_unknown", In: petri.Arcs{Stored, explaining}, Read: petri.Arcs{turn},
				Out: petri.And(p.Due.Passing(turn))},
		}, transfers, atEnd(places...)),
	})
}

// chooseTarget chooses the branch of the target that the model named, or the last one, for a name that
// nobody has, and writes the result of the call.
func chooseTarget(f *petri.Firing, p Ports, targets []Ports) {
	h := p.Transfer.Get(f)
	i := slices.IndexFunc(targets, func(t Ports) bool { return t.Agent == h.To })
	ev := h.Turn.event(p.Agent, nil)
	faults := h.faults
	result := map[string]any{"result": "transferred"}
	if i >= 0 {
		ev.Actions.TransferToAgent = h.To
	} else {
		var names []string
		for _, t := range targets {
			names = append(names, t.Agent)
		}
		fault := &Fault{Code: UnknownAgent, Agent: p.Agent, Tool: h.To, Call: h.Call.ID,
			Text: "no agent has this name; the agents are: " + strings.Join(names, ", ")}
		faults, result = append(slices.Clone(faults), fault), refusal(fault)
		i = len(targets)
	}
	answer := &genai.FunctionResponse{ID: h.Call.ID, Name: h.Call.Name, Response: result}
	ev.Content = resultsContent(append([]*genai.FunctionResponse{answer}, h.note...))
	AddFaults(ev, faults...)
	if len(targets) > 0 {
		f.Choose(i)
	}
	SessionWrite.Put(f, &Write{Turn: h.Turn, Kind: Step, Event: ev, gen: f.Gen()})
}
