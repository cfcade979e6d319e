package agent

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// Prove proves what every Program must keep, and its own Properties, with the net closed in two ways: by
// a caller that may stop each turn once, and by one that stops and streams at any time, without end.
// Models, tools, hooks and the session store may take any time, succeed or fail. The claims are:
//
//   - single writer: one transition alone starts to store an event, and only events of the current turn;
//   - end inhibits all: while EndInvocation is marked, nothing fires but what ends the turn, and
//     what takes the result of a cancelled task or of the writer;
//   - transfer fallback: a transfer to an unknown name has a branch of its own;
//   - requests: a turn makes at most Requests requests;
//   - budget: the same by induction, whatever Requests is: only the beginning of a turn fills Budget, and
//     every request takes a token of it;
//   - one answer: a turn has at most one answer and one end;
//   - persist barrier: no task works for a turn while an event of it is being stored, except one that was
//     cancelled and has not returned;
//   - nothing after the end: no event leaves between two turns, and nothing of a turn is left;
//   - deadlock-free: no turn gets stuck; it does not say that a guest or a part of one's own ever ends it;
//   - capacity: no place overflows, and no chain of firings at one instant is endless;
//   - every transition fires somewhere, else the proofs would be empty in part.
//
// The error tells that the net cannot be checked at all. Unknown is not success: see
// verify.ClosuresReport.Outcome.
func Prove(ctx context.Context, p *Program, c verify.Config) (*verify.ClosuresReport, error) {
	if err := p.compile(); err != nil {
		return nil, err
	}
	if err := p.missing(); err != nil {
		return nil, err
	}
	patient, err := p.close("patient", listener(), p.streamer(pieces), stopper(stops))
	if err != nil {
		return nil, err
	}
	hostile, err := p.close("hostile", listener(), p.streamer(), stopper())
	if err != nil {
		return nil, err
	}
	safe := p.safety()
	return verify.RunClosures(ctx, c,
		verify.Closure{Name: "patient", Program: patient, Props: slices.Concat(p.structure(), safe,
			[]*verify.Property{verify.DeadlockFree()}, p.Properties)},
		verify.Closure{Name: "hostile", Program: hostile, Props: slices.Concat(safe, p.Properties)})
}

// missing finds a place that claims are about and that the net lacks: such a claim would say nothing.
func (p *Program) missing() error {
	for _, place := range []petri.AnyPlace{UserIn, EventOut, SessionWrite, EndInvocation, TurnEnd, Quiet, Writing,
		storing().InFlight} {
		if !slices.ContainsFunc(p.compiled.Places(), func(has petri.PlaceInfo) bool {
			return netmodel.NamedBy([]string{place.String()}, has.Name)
		}) {
			return fmt.Errorf("agent: prove %s: the net has no place %q, which claims are about; give it that name",
				p.Net.Name, place)
		}
	}
	return nil
}

// Places of the automata.
const (
	listening petri.Place[petri.Unit] = "listening" // the caller may begin a turn
	awaiting  petri.Place[petri.Unit] = "awaiting"  // a turn of the caller runs
	answers   petri.Place[petri.Unit] = "answers"   // answers to this turn
	requests  petri.Place[petri.Unit] = "requests"  // requests of this turn
	tooLate   petri.Place[petri.Unit] = "too_late"  // an event or an end came between two turns
	stops     petri.Place[petri.Unit] = "stops"     // how often the caller may still stop this turn
	pieces    petri.Place[petri.Unit] = "pieces"    // partial responses that may still come in this turn
)

// close closes the net with the automata of its handlers, its own, and the given ones.
func (p *Program) close(name string, more ...*petri.Net) (*petri.Program, error) {
	var list []*petri.Net
	for _, h := range p.Handlers {
		var taken []petri.AnyPlace
		if slices.ContainsFunc(p.Agents, func(a Ports) bool { return a.asks(h.start) }) {
			taken = append(taken, requests)
		}
		list = append(list, h.worker(taken...))
	}
	n, err := petri.Close(name, p.Net, slices.Concat(list, p.Inputs, more)...)
	if err != nil {
		return nil, fmt.Errorf("agent: close %s: %w", p.Net.Name, err)
	}
	prog, err := petri.Compile(n)
	if err != nil {
		return nil, fmt.Errorf("agent: close %s: %w", p.Net.Name, err)
	}
	return prog, nil
}

// listener is a caller that begins a turn when the one before has ended, and hears everything.
func listener() *petri.Net {
	hear := func(name string, t petri.Transition) petri.Transition {
		t.Name, t.Priority = name, 100
		return t
	}
	return &petri.Net{
		Name:  "caller",
		Ports: []petri.AnyPlace{UserIn, EventOut, TurnEnd, requests, pieces, stops},
		Init:  []petri.Token{listening.Token(petri.Unit{})},
		Transitions: []petri.Transition{
			{Name: "say", In: petri.Arcs{listening}, Reset: petri.Arcs{answers, requests, pieces, stops},
				Out: petri.And(UserIn, awaiting, pieces, stops), When: petri.Anytime()},
			hear("hear_late", petri.Transition{In: petri.Arcs{EventOut}, Inhibit: petri.Arcs{awaiting},
				Out: petri.And(tooLate)}),
			hear("hear_answer", petri.Transition{In: petri.Arcs{EventOut.Is(Answer)}, Read: petri.Arcs{awaiting},
				Out: petri.And(answers)}),
			hear("hear_more", petri.Transition{In: petri.Arcs{EventOut.Is(Partial, Step, Notice)}, Read: petri.Arcs{awaiting}}),
			hear("hear_end_again", petri.Transition{In: petri.Arcs{TurnEnd}, Inhibit: petri.Arcs{awaiting},
				Out: petri.And(tooLate)}),
			{Name: "hear_end", In: petri.Arcs{TurnEnd, awaiting}, Out: petri.And(listening), Priority: 99},
		},
	}
}

// streamer sends partial responses at any time, each for one token of supply if there is one. It may
// also waste its supply, so that a net that needs it is found dead.
func (p *Program) streamer(supply ...petri.Place[petri.Unit]) *petri.Net {
	n := &petri.Net{Name: "streamer"}
	in := supplied(n, supply)
	for _, a := range p.Agents {
		if a.Guest || a.Branches != nil { // branches have no partial responses
			continue
		}
		n.Ports = append(n.Ports, a.Chunk)
		n.Transitions = append(n.Transitions, petri.Transition{Name: "send_" + a.Chunk.String(), In: in,
			Out: petri.And(a.Chunk), When: petri.Anytime()})
	}
	return n
}

// stopper stops turns, and what is no turn any more, each for one token of supply if there is one.
func stopper(supply ...petri.Place[petri.Unit]) *petri.Net {
	n := &petri.Net{Name: "stopper", Ports: []petri.AnyPlace{EndInvocation}}
	in := supplied(n, supply)
	for how := range How(len(hows)) {
		n.Transitions = append(n.Transitions, petri.Transition{Name: "end_" + how.String(), In: in,
			Out: petri.And(EndInvocation.Is(how)), When: petri.Anytime()})
	}
	return n
}

// supplied gives an automaton a supply, and the choice to waste it.
func supplied(n *petri.Net, supply []petri.Place[petri.Unit]) petri.Arcs {
	var in petri.Arcs
	for _, p := range supply {
		in = append(in, p)
		n.Ports = append(n.Ports, p)
		n.Transitions = append(n.Transitions, petri.Transition{Name: "waste_" + p.String(), In: petri.Arcs{p},
			When: petri.Anytime()})
	}
	return in
}

// safety are claims about what never happens.
func (p *Program) safety() []*verify.Property {
	working := "false"
	if work := p.inFlight(); len(work) > 0 {
		working = "(" + strings.Join(work, " || ") + ")"
	}
	named := func(prop *verify.Property, name, doc string) *verify.Property {
		prop.Name, prop.Doc = name, doc
		return prop
	}
	list := []*verify.Property{
		named(verify.Loosely(fmt.Sprintf("%s && (%s)", Quiet, strings.Join(p.passing(), " || "))),
			"nothing is left", "between two turns nothing of a turn is left"),
		named(verify.Loosely(fmt.Sprintf("%s && %s", EndInvocation, working)),
			"end cancels work", "while a turn is to end, no model, tool or hook works for it"),
		named(verify.Loosely(fmt.Sprintf("(%s || %s || %s) && %s", Writing, SessionWrite, storing().InFlight, working)),
			"persist barrier", "no request is built and no model or tool works while an event is being stored"),
		named(verify.Never(tooLate.String()), "nothing after the end", "no event and no second end leaves between two turns"),
		named(verify.Bounded(answers.String(), 1), "one answer", "a turn has at most one answer"),
		named(verify.Never(SessionWrite.String()+"[stale]"),
			"no stale event", "no event of an earlier turn waits to be stored"),
		verify.WithinCapacity(EndInvocation.String()),
	}
	if len(p.Agents) > 0 {
		list = append(list, p.budgeted(), named(verify.Bounded(requests.String(), p.Requests), "requests",
			"a turn makes no more requests to models than it may"))
	}
	return list
}

// budgeted claims that no firing makes requests out of nothing. Each token of a place on the way from
// Budget to a request stands for a number of requests. A firing never leaves more of them than it found,
// except the one that begins a turn: it fills Budget alone. The claim does not depend on how many tokens
// these are, so it bounds the requests of a turn for every budget.
func (p *Program) budgeted() *verify.Property {
	return &verify.Property{Name: "budget", Doc: "every request takes a token of the budget, whatever it is",
		Claim: claim.Structural{}, Check: func(_ context.Context, pass *verify.Pass) (verify.Verdict, error) {
			prog := pass.Program
			worth := make([]int, prog.Slots())
			var begins int
			for _, pl := range prog.Places() {
				for i := range pl.Slots {
					worth[pl.Slot+i] = p.worth(pl.Name)
				}
				if pl.Name == Quiet.String() {
					begins = pl.Slot
				}
			}
			for _, t := range prog.Transitions() {
				for _, m := range t.Modes {
					if !takesFrom(m, begins) && gains(m, worth) {
						return verify.Verdict{Outcome: verify.Refuted, Method: "structure",
							Reason: t.Name + " makes a request without a token of the budget"}, nil
					}
				}
			}
			return verify.Verdict{Outcome: verify.Proved, Method: "structure", Reason: "by induction over the firings"}, nil
		}}
}

// worth is for how many requests a token of a place stands.
func (p *Program) worth(place string) int {
	whole := append([]string{Budget.String(), "built", "checked", "asking"}, p.RequestPath...)
	single := []string{requests.String()}
	for _, a := range p.Agents {
		whole = append(whole, a.Prompt.String(), a.Build.InFlight.String(), a.ModelRequest.String(),
			a.Before.InFlight.String())
		single = append(single, a.Ask.Start.String())
		for _, t := range a.Branches {
			single = append(single, t.Start.String())
		}
	}
	for name, n := range p.requests {
		if strings.HasSuffix(place, "/"+name) {
			return n
		}
	}
	switch {
	case slices.Contains(single, place):
		return 1
	case netmodel.NamedBy(whole, place):
		return max(p.cost, 1)
	}
	return 0
}

func takesFrom(m petri.Mode, slot int) bool {
	return slices.ContainsFunc(m.Take, func(c petri.Count) bool { return int(c.Slot) == slot })
}

// gains reports whether a firing may leave tokens that stand for more requests than it found.
func gains(m petri.Mode, worth []int) bool {
	count := func(list []petri.Count) (n int) {
		for _, c := range list {
			n += worth[c.Slot] * int(c.N)
		}
		return n
	}
	return slices.ContainsFunc(m.Branches, func(b petri.Branch) bool { return count(b.Put) > count(m.Take) })
}

// passing are the places that hold tokens only during a turn.
func (p *Program) passing() []string {
	lasting := append([]string{Quiet.String(), WriterIdle.String(), "idle", "busy"}, p.Lasting...)
	for _, a := range p.Agents {
		lasting = append(lasting, a.Active.String())
	}
	for _, t := range p.compiled.Tasks() {
		lasting = append(lasting, p.compiled.Places()[t.Done].Name)
	}
	var list []string
	for _, pl := range p.compiled.Places() {
		if !pl.Out && !netmodel.NamedBy(lasting, pl.Name) {
			list = append(list, strconv.Quote(pl.Name))
		}
	}
	return list
}

// inFlight are the places that are marked while something works for the turn: those of all tasks of the net,
// except the one that stores an event and those that are among Lasting.
func (p *Program) inFlight() []string {
	other := append([]string{storing().InFlight.String()}, p.Lasting...)
	var list []string
	for _, t := range p.compiled.Tasks() {
		if name := p.compiled.Places()[t.InFlight].Name; !netmodel.NamedBy(other, name) {
			list = append(list, strconv.Quote(name))
		}
	}
	return list
}

// asks reports whether the task with a start place is a request to a model.
func (p Ports) asks(start string) bool {
	return p.Ask.Start.String() == start || slices.ContainsFunc(p.Branches,
		func(t petri.Task[*Request, *model.LLMResponse]) bool { return t.Start.String() == start })
}

// structure are claims about the text of the net.
func (p *Program) structure() []*verify.Property {
	start := storing().Start.String()
	single := verify.SingleWriter(start)
	single.Name = "single writer"
	excused := slices.Clone(p.AfterEnd)
	for _, t := range p.compiled.Transitions() {
		if p.serves(t) || takesLate(p.compiled, &t, start) {
			excused = append(excused, t.Name)
		}
	}
	end := verify.EndStops(EndInvocation.String(), excused...)
	end.Name = "end inhibits all"
	return append([]*verify.Property{single, end, p.freshWriter(start)}, p.fallbacks()...)
}

// serves reports whether a transition serves the end of a turn: it needs EndInvocation.
func (p *Program) serves(t petri.TransitionInfo) bool {
	return slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
		return (a.Kind == petri.InArc || a.Kind == petri.ReadArc) &&
			p.compiled.Places()[a.Place].Name == EndInvocation.String()
	})
}

// takesLate reports whether a transition takes a result that may come after the end of a turn: that of
// a task that was cancelled, or of the task with the start place store, which nothing cancels.
func takesLate(prog *petri.Program, t *petri.TransitionInfo, store string) bool {
	return TakesCancelled(prog, t) || slices.ContainsFunc(prog.Tasks(), func(task petri.TaskInfo) bool {
		return prog.Places()[task.Start].Name == store && hasArc(t, petri.InArc, task.Done)
	})
}

// TakesCancelled reports whether a transition takes the result of a task that was cancelled: one whose
// in-flight place is empty.
func TakesCancelled(prog *petri.Program, t *petri.TransitionInfo) bool {
	return slices.ContainsFunc(prog.Tasks(), func(task petri.TaskInfo) bool {
		return hasArc(t, petri.InArc, task.Done) && hasArc(t, petri.InhibitArc, task.InFlight)
	})
}

// freshWriter claims that whatever starts to store an event looks at its generation.
func (p *Program) freshWriter(start string) *verify.Property {
	var names []string
	for _, t := range p.compiled.Transitions() {
		if slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
			return a.Kind == petri.OutArc && p.compiled.Places()[a.Place].Name == start
		}) {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		names = []string{"a transition that fills " + start}
	}
	return verify.FreshCommits(names...)
}

// fallbacks claim, for each agent, that a transfer to an unknown name goes on somewhere.
func (p *Program) fallbacks() []*verify.Property {
	var list []*verify.Property
	for _, a := range p.Agents {
		if a.Guest {
			continue
		}
		list = append(list, &verify.Property{
			Name: "transfer fallback of " + a.Agent, Claim: claim.Structural{},
			Doc: "a transfer to a name that nobody has leads back to the agent",
			Check: func(_ context.Context, pass *verify.Pass) (verify.Verdict, error) {
				return fallback(pass.Model(), a), nil
			},
		})
	}
	return list
}

// fallback looks for a way from Transfer of an agent back to its own Due that passes no place of another
// agent.
func fallback(m *netmodel.Model, a Ports) verify.Verdict {
	from, err := m.Lookup(a.Transfer.String())
	if err != nil {
		return verify.Verdict{Outcome: verify.Refuted, Method: "structure", Reason: err.Error()}
	}
	seen, queue := map[int]bool{from: true}, []int{from}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for i := range m.Transitions {
			t := &m.Transitions[i]
			if t.Outside || !hasArc(t, petri.InArc, at) || moves(m, t, a.Active.String()) {
				continue
			}
			for _, arc := range t.Arcs {
				if arc.Kind != petri.OutArc || seen[arc.Place] {
					continue
				}
				if m.Places[arc.Place].Name == a.Due.String() {
					return verify.Verdict{Outcome: verify.Proved, Method: "structure", Reason: "by " + t.Name}
				}
				if m.Places[arc.Place].Group != "" { // a place of its own
					seen[arc.Place] = true
					queue = append(queue, arc.Place)
				}
			}
		}
	}
	return verify.Verdict{Outcome: verify.Refuted, Method: "structure",
		Reason: fmt.Sprintf("no way leads from %s back to %s", a.Transfer, a.Due)}
}

func hasArc(t *petri.TransitionInfo, kind petri.ArcKind, place int) bool {
	return slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool { return a.Kind == kind && a.Place == place })
}

// moves reports whether a transition takes the token of a place: another agent becomes active.
func moves(m *netmodel.Model, t *petri.TransitionInfo, place string) bool {
	i, err := m.Lookup(place)
	return err == nil && hasArc(t, petri.InArc, i)
}

// workerAutomaton is whoever does the work of a task, as proofs see it: it delivers one result of any
// outcome, at any time. The places of taken get a token when it takes the work.
func workerAutomaton[I, O any](t petri.Task[I, O], taken ...petri.AnyPlace) *petri.Net {
	const working petri.Place[petri.Unit] = "working"
	begun := petri.Arcs{working}
	for _, p := range taken {
		begun = append(begun, p)
	}
	move := func(name string, o petri.Outcome) petri.Transition {
		return petri.Transition{Name: name, In: petri.Arcs{working}, Out: petri.And(t.Done.Is(o)), When: petri.Anytime()}
	}
	return &petri.Net{
		Name:  "work_" + t.Start.String(),
		Ports: append([]petri.AnyPlace{t.Start, t.Done}, taken...),
		Transitions: []petri.Transition{
			{Name: "take", In: petri.Arcs{t.Start}, Out: petri.And(begun...)},
			move("succeed", petri.Succeeded), move("fail", petri.Failed), move("be_cancelled", petri.Cancelled),
		},
	}
}
