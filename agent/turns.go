package agent

import (
	"fmt"
	"slices"

	"google.golang.org/adk/v2/session"

	"github.com/voicegw/voicegw/petri"
)

// Turns begins and ends turns, one at a time. A turn begins with the agent that is active, with a full
// Budget and a new generation. With storesMessage it first stores the message of the user. A turn ends
// when TurnOver is filled, or when EndInvocation is: then everything of the turn is discarded, and the
// turn ends once no event is being stored.
func Turns(l Limits, storesMessage bool, agents ...Ports) *petri.Net {
	n := &petri.Net{
		Name:  string(PartTurns),
		Ports: []petri.AnyPlace{UserIn, EventOut, EndInvocation, TurnEnd, turn, Quiet, TurnOver, Stored, Lost, WriterIdle},
		Env:   []petri.Env{{Place: UserIn}, {Place: EndInvocation}},
		Out:   []petri.Output{{Place: EventOut}, {Place: TurnEnd}},
		Init:  []petri.Token{Quiet.Token(petri.Unit{}), agents[0].Active.Token(petri.Unit{})},
		Caps:  []petri.Cap{{Place: turn, Max: 1}, {Place: Quiet, Max: 1}, {Place: Stored, Max: 1}},
	}
	if storesMessage {
		n.Ports = append(n.Ports, SessionWrite)
	}
	start, rest := petri.Arcs{turn}, petri.Arcs(nil)
	if slices.ContainsFunc(agents, func(p Ports) bool { return !p.Guest }) { // a guest asks no model of the net
		n.Ports = append(n.Ports, Budget)
		start, rest = append(start, Budget.Exactly(l.Reasks+1)), petri.Arcs{Budget}
	}
	for i, p := range agents {
		if p.Guest && i > 0 {
			continue // it is never active
		}
		n.Ports = append(n.Ports, p.Active, p.Due)
		if !p.Guest {
			n.Ports = append(n.Ports, p.ToolCalls)
		}
		n.Transitions = append(n.Transitions, begin(p, l, start, storesMessage)...)
	}
	n.Transitions = append(append(n.Transitions,
		petri.Transition{Name: "end_turn", In: petri.Arcs{TurnOver, turn}, Reset: rest,
			Out: petri.And(Quiet, TurnEnd.Passing(TurnOver)), Action: func(f *petri.Firing) {
				end := *TurnOver.Get(f)
				end.Turn = turn.Get(f)
				TurnEnd.Put(f, &end)
			}},
		petri.Transition{Name: "end_after_loss", In: petri.Arcs{Lost}, Read: petri.Arcs{turn},
			Out: petri.And(EndInvocation.Is(Unstored)), Action: func(f *petri.Firing) {
				EndInvocation.Put(f, &End{How: Unstored, Fault: Lost.Get(f)})
			}},
		petri.Transition{Name: "ignore_end", In: petri.Arcs{EndInvocation}, Read: petri.Arcs{Quiet}},
		petri.Transition{Name: "close_turn", In: petri.Arcs{EndInvocation, turn}, Read: petri.Arcs{WriterIdle},
			Reset: rest, Priority: -1, Out: petri.And(EventOut.Is(Notice), Quiet, TurnEnd.Passing(EndInvocation)),
			Action: func(f *petri.Firing) {
				end := *EndInvocation.Get(f)
				end.Turn = turn.Get(f)
				EventOut.Put(f, &Event{Turn: end.Turn, Kind: Notice, Event: end.event()})
				TurnEnd.Put(f, &end)
			}},
	), atEnd(Stored, Lost)...)
	return guarded(n)
}

// begin returns the transitions that begin a turn with an agent.
func begin(p Ports, l Limits, start petri.Arcs, storesMessage bool) []petri.Transition {
	opening := petri.Place[petri.Unit](fmt.Sprint("opening_", p.Agent))
	t := petri.Transition{Name: "begin_" + p.Agent, In: petri.Arcs{UserIn, Quiet}, Read: petri.Arcs{p.Active}, Bump: true}
	if !storesMessage {
		t.Out, t.Action = firstStep(p, l, start, UserIn)
		return []petri.Transition{t}
	}
	t.Out = petri.And(append(slices.Clip(start), opening, SessionWrite.Is(Step).Fresh())...)
	t.Action = func(f *petri.Firing) {
		begun := UserIn.Get(f)
		turn.Put(f, begun)
		ev := begun.event("user", nil)
		ev.Content = begun.Message
		SessionWrite.Put(f, &Write{Turn: begun, Kind: Step, Event: ev, gen: f.Gen()})
	}
	open := petri.Transition{Name: "open_" + p.Agent, In: petri.Arcs{Stored, opening}, Read: petri.Arcs{turn}}
	open.Out, open.Action = firstStep(p, l, nil, turn)
	return append([]petri.Transition{t, open}, atEnd(opening)...)
}

// firstStep begins a turn with a request to the model, or with the calls that it resumes.
func firstStep(p Ports, l Limits, out petri.Arcs, from petri.Place[*Turn]) (petri.Split, func(*petri.Firing)) {
	if p.Guest {
		return petri.And(append(slices.Clip(out), p.Due.Passing(from))...), nil
	}
	split := petri.Free(append(slices.Clip(out), p.Due), append(slices.Clip(out), p.ToolCalls))
	return split, func(f *petri.Firing) {
		t := from.Get(f)
		if from == UserIn {
			turn.Put(f, t)
		}
		if len(t.Resume) == 0 {
			f.Choose(0)
			p.Due.Put(f, t)
			return
		}
		f.Choose(1)
		p.ToolCalls.Put(f, resumed(t, p.Agent, l))
	}
}

// resumed are the calls with which a turn begins.
func resumed(t *Turn, agent string, l Limits) *Calls {
	s := &sorted{turn: t}
	for _, c := range t.Resume {
		if c.Name == transferTool {
			s.refuse(c, &Fault{Code: NotRun, Agent: agent, Text: "a transfer cannot be resumed"})
		}
	}
	s.admit(t.Resume, agent, l)
	return &Calls{Turn: t, Calls: s.calls, faults: s.faults, note: s.note}
}

// event is the notice of an early end.
func (e *End) event() *session.Event {
	ev := e.Turn.event("", nil)
	if e.Fault != nil {
		ev.ErrorCode, ev.ErrorMessage = string(e.Fault.Code), e.Fault.Error()
		AddFaults(ev, e.Fault)
	}
	return ev
}
