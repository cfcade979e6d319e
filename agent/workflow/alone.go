package workflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/petri"
)

// A block is proved alone: with its kids as tasks, closed by automata of everything around it. Around
// means: whoever enters and leaves, may end the run at any time, stores events, and does the work.

// Places of the automata.
const (
	ready   petri.Place[petri.Unit] = "ready"   // no run is in the block
	entered petri.Place[petri.Unit] = "entered" // a run is in the block
	stops   petri.Place[petri.Unit] = "stops"   // the run may still be stopped
	loans   petri.Place[petri.Unit] = "loans"   // another block may still use the session's writer
	lent    petri.Place[petri.Unit] = "lent"    // another block uses it
	others  petri.Place[petri.Unit] = "others"  // the event of another block is stored
	marked  petri.Place[petri.Unit] = "marked"  // others have set the marks that the block sets
	writing petri.Place[petri.Unit] = "writing" // an event is being stored
	working petri.Place[petri.Unit] = "working" // the work of a task goes on
)

// outlet is a way out of a block, as its surroundings see it.
type outlet struct {
	name  string
	place petri.Place[*Flow]
	exit  bool
}

// outlets are the ways out of a block: done, done and the loop is to end, and the targets of a router.
func (b *block) outlets() []outlet {
	list := []outlet{{"finish", b.out(), false}}
	if b.canExit() {
		list = append(list, outlet{"finish_and_exit", b.out(), true})
	}
	for _, to := range b.targets() {
		list = append(list, outlet{"finish_to_" + to.name, b.route(to), false})
	}
	return list
}

// task is a block as the block around it sees it: a run enters, and leaves by one of its outlets, or the
// run fails. That it behaves so is what the proof of the block alone shows.
func (b *block) asTask() *petri.Net {
	const early petri.Place[petri.Unit] = "early" // it is to end the loop, and still works
	var rest petri.Arcs
	if b.canExit() && len(b.kids) > 0 {
		rest = petri.Arcs{early}
	}
	n := &petri.Net{Name: b.name, Ports: []petri.AnyPlace{b.in(), b.out(), agent.EndInvocation},
		Caps: []petri.Cap{{Place: busy, Max: 1}, {Place: b.in(), Max: 1}, {Place: b.out(), Max: 1}}}
	n.Transitions = []petri.Transition{{Name: "start", In: petri.Arcs{b.in()}, Out: petri.And(busy)}}
	for _, o := range b.outlets() {
		t := petri.Transition{Name: o.name, In: petri.Arcs{busy}, Out: petri.And(o.place), When: petri.Anytime()}
		switch {
		case o.exit:
			t.Reset, t.Out = petri.Arcs{b.loop.exit(), early}, petri.And(o.place, b.loop.exit())
			n.Ports = append(n.Ports, b.loop.exit())
			if len(b.kids) > 0 { // a leaf in it exits, and it goes on
				n.Transitions = append(n.Transitions, petri.Transition{Name: "exit_early", Read: petri.Arcs{busy},
					Inhibit: petri.Arcs{early}, Reset: petri.Arcs{b.loop.exit()}, Out: petri.And(b.loop.exit(), early),
					When: petri.Anytime()})
			} else {
				t.Reset = t.Reset[:1]
			}
		case b.canExit() && len(b.kids) > 0:
			t.Inhibit = petri.Arcs{early}
		}
		if o.place != b.out() {
			n.Ports = append(n.Ports, o.place)
		}
		n.Transitions = append(n.Transitions, t)
	}
	n.Transitions = append(n.Transitions,
		petri.Transition{Name: "fail", In: petri.Arcs{busy}, Reset: rest,
			Out: petri.And(agent.EndInvocation.Is(agent.Failed)), When: petri.Anytime()},
		petri.Transition{Name: "discard", In: petri.Arcs{busy}, Read: petri.Arcs{agent.EndInvocation}, Reset: rest})
	return agent.Guarded(n)
}

// countMax is how far a counter of rounds, hops, steps or attempts counts in a proof. A larger one needs no more: the
// net only asks whether anything is left on a counter, and takes one at a time (countsDown checks that); and whenever
// it takes one, the rest of the block is marked as it was when it took the one before, except for marks that are only
// ever set: state keys, and the exit of a loop. So a run with more rounds passes no marking, apart from the counter,
// that a run with a first round, one in the middle and a last one does not pass, and the same steps follow it.
//
// What is found in a file does not depend on the bound: the first round finds the fewest keys written, and 1 would do.
// The bound is for the nets that this package makes. With 1 they do not have the transitions between rounds; with 2 no
// round has both one before it and one behind it, so that what it leaves to the next is not seen; 3 has all there is.
const countMax = 3

// alone compiles the block by itself, closed, with counters up to most.
func (b *block) alone(most int) (*petri.Program, error) {
	var kids []*petri.Net
	for _, k := range b.kids {
		kids = append(kids, k.asTask())
	}
	s := b.counting(most)
	return s.closed(s.netOf(kids))
}

// counting is the block with counters up to most.
func (b *block) counting(most int) *block {
	s, a := *b, *b.agent
	for _, n := range []*int{&a.MaxIterations, &a.MaxHops, &a.MaxSteps, &a.Attempts} {
		*n = min(*n, most)
	}
	s.agent = &a
	return &s
}

// closed closes a net of the block with its surroundings.
func (b *block) closed(open *petri.Net) (*petri.Program, error) {
	automata := []*petri.Net{b.around()}
	if b.agent.leaf() {
		automata = append(automata, writer())
		for _, t := range b.tasks() {
			automata = append(automata, doer(t))
		}
	}
	n, err := petri.Close(".alone", open, automata...)
	if err != nil {
		return nil, err
	}
	return petri.Compile(n)
}

// around is whoever runs the block. It may stop a run once, or not. It runs a leaf again and again, because
// work that was stopped may be left of a run before. Nothing is left of other blocks, so one run shows all.
func (b *block) around() *petri.Net {
	const unused petri.Place[petri.Unit] = "unused"
	n := &petri.Net{Name: ".around", Ports: []petri.AnyPlace{b.in(), b.out(), agent.EndInvocation},
		Init: []petri.Token{unused.Token(petri.Unit{})}, Caps: []petri.Cap{{Place: b.out(), Max: 1}}}
	from := unused
	if b.agent.leaf() {
		from, n.Init = ready, []petri.Token{ready.Token(petri.Unit{})}
	} else {
		n.Sinks = []petri.AnyPlace{ready}
	}
	supply, rest, parks := petri.Arcs{b.in(), entered, stops}, petri.Arcs{stops}, petri.Arcs(nil)
	closing := petri.Transition{Name: "close", In: petri.Arcs{agent.EndInvocation, entered}, Priority: -1}
	if b.agent.leaf() {
		n.Ports = append(n.Ports, agent.WriterIdle, loans)
		supply, rest = append(supply, loans), append(rest, loans)
		closing.Read = petri.Arcs{agent.WriterIdle}
		n.Ports, n.Caps = append(n.Ports, someParked), append(n.Caps, petri.Cap{Place: someParked, Max: 1})
		parks = petri.Arcs{someParked, marked}
	}
	var exit, key petri.Arcs
	if b.canExit() {
		exit = petri.Arcs{b.loop.exit()}
		n.Ports, n.Caps = append(n.Ports, b.loop.exit()), append(n.Caps, petri.Cap{Place: b.loop.exit(), Max: 1})
	}
	if own := b.own(); own != "" {
		key = petri.Arcs{keyPlace(own)}
		n.Ports, n.Caps = append(n.Ports, keyPlace(own)), append(n.Caps, petri.Cap{Place: keyPlace(own), Max: 1})
	}
	closing.Reset, closing.Out = append(append(petri.Arcs{}, rest...), exit...), petri.And(ready)
	outs := petri.Arcs{}
	for _, o := range b.outlets() {
		leave := petri.Transition{Name: "leave_by_" + o.name, In: petri.Arcs{o.place, entered}, Read: key,
			Reset: slices.Concat(rest, parks), Out: petri.And(ready), When: petri.Anytime()}
		switch {
		case o.exit:
			leave.In = append(leave.In, exit...)
		case o.place == b.out():
			leave.Inhibit = exit
		}
		if o.place != b.out() {
			n.Ports = append(n.Ports, o.place)
			n.Caps = append(n.Caps, petri.Cap{Place: o.place, Max: 1})
		}
		if !o.exit { // else it is there already
			outs = append(outs, o.place)
		}
		n.Transitions = append(n.Transitions, leave)
	}
	stop := petri.Transition{Name: "stop", In: petri.Arcs{stops}, Inhibit: append(slices.Clip(outs), agent.EndInvocation),
		Out: petri.And(agent.EndInvocation.Is(agent.Stopped)), When: petri.Anytime()}
	closing.Reset = append(closing.Reset, outs...) // which the real surroundings take at once
	enter := petri.Transition{Name: "enter", In: petri.Arcs{from}, Reset: key, Out: petri.And(supply...),
		When: petri.Anytime()}
	if b.agent.leaf() {
		b.amongOthers(n, enter, &closing, append(slices.Clip(outs), agent.EndInvocation), exit)
	}
	waste := petri.Transition{Name: "waste", In: petri.Arcs{stops}, When: petri.Anytime()}
	n.Transitions = append(n.Transitions, enter, closing, stop, waste)
	return n
}

// amongOthers adds what the other leaves of a run do around a leaf. They may have set the marks already that it
// sets, and then clear them, and the run parks once they are parked, too. halts are places that hold that up.
func (b *block) amongOthers(n *petri.Net, enter petri.Transition, closing *petri.Transition, halts, exit petri.Arcs) {
	again, late := enter, *closing
	again.Name, again.Reset = "enter_again", nil
	again.Out = petri.And(slices.Concat(enter.Out.Arcs(), exit, petri.Arcs{someParked, marked})...)
	late.Name, late.In = "close_marked", append(slices.Clip(closing.In), marked)
	late.Reset = append(slices.Clip(closing.Reset), someParked)
	closing.Inhibit = petri.Arcs{marked}
	n.Transitions = append(n.Transitions, again, late,
		petri.Transition{Name: "park", In: petri.Arcs{someParked}, Inhibit: halts,
			Out: petri.And(agent.EndInvocation.Is(agent.Parked)), When: petri.Anytime()})
}

// writer stores events at any time, or loses them, which ends the run. Others use it, too.
func writer() *petri.Net {
	write := agent.SessionWrite
	return &petri.Net{Name: ".writer", Ports: []petri.AnyPlace{write, agent.WriterIdle, agent.Stored, agent.Lost,
		agent.EndInvocation, loans},
		Init: []petri.Token{agent.WriterIdle.Token(petri.Unit{})},
		Caps: []petri.Cap{{Place: agent.WriterIdle, Max: 1}, {Place: agent.Stored, Max: 1}},
		Transitions: []petri.Transition{
			{Name: "begin_store", In: petri.Arcs{write.Fresh(), agent.WriterIdle}, Out: petri.And(writing)},
			{Name: "store", In: petri.Arcs{writing}, Inhibit: petri.Arcs{agent.EndInvocation},
				Out: petri.And(agent.Stored, agent.WriterIdle), When: petri.Anytime()},
			{Name: "lose", In: petri.Arcs{writing}, Inhibit: petri.Arcs{agent.EndInvocation},
				Out: petri.And(agent.Lost, agent.WriterIdle), When: petri.Anytime()},
			{Name: "end_after_loss", In: petri.Arcs{agent.Lost}, Inhibit: petri.Arcs{agent.EndInvocation},
				Out: petri.And(agent.EndInvocation.Is(agent.Unstored))},
			{Name: "store_late", In: petri.Arcs{writing}, Read: petri.Arcs{agent.EndInvocation},
				Out: petri.And(agent.WriterIdle), When: petri.Anytime()},
			{Name: "borrow", In: petri.Arcs{agent.WriterIdle, loans}, Inhibit: petri.Arcs{agent.Stored}, Out: petri.And(lent),
				When: petri.Anytime()},
			{Name: "return", In: petri.Arcs{lent}, Inhibit: petri.Arcs{agent.EndInvocation},
				Out: petri.And(agent.WriterIdle, agent.Stored, others), When: petri.Anytime()},
			{Name: "others_go_on", In: petri.Arcs{agent.Stored, others}},
			{Name: "return_late", In: petri.Arcs{lent}, Read: petri.Arcs{agent.EndInvocation}, Out: petri.And(agent.WriterIdle),
				When: petri.Anytime()},
		}}
}

// doer does the work of a task: it delivers one result of any outcome, at any time.
func doer(t petri.Task[*Job, *Result]) *petri.Net {
	n := &petri.Net{Name: ".work." + t.Start.String(), Ports: []petri.AnyPlace{t.Start, t.Done},
		Transitions: []petri.Transition{{Name: "take", In: petri.Arcs{t.Start}, Out: petri.And(working)}}}
	for _, o := range []petri.Outcome{petri.Succeeded, petri.Failed, petri.Cancelled} {
		n.Transitions = append(n.Transitions, petri.Transition{Name: fmt.Sprint("be_", o), In: petri.Arcs{working},
			Out: petri.And(t.Done.Is(o)), When: petri.Anytime()})
	}
	return n
}

// counters are the most tokens on each counter of the block, by place.
func (b *block) counters() map[string]int {
	return map[string]int{rounds.String(): b.agent.MaxIterations, hops.String(): b.agent.MaxHops,
		tries.String(): b.agent.Attempts, steps.String(): b.agent.MaxSteps, pending.String(): callsMax + 1}
}

// countsDown checks that the net takes one from a counter at a time, and otherwise only asks whether anything is left.
func (b *block) countsDown(prog *petri.Program) error {
	counters := b.counters()
	for _, t := range prog.Transitions() {
		for _, a := range t.Arcs {
			name := strings.TrimPrefix(prog.Places()[a.Place].Name, b.name+"/")
			fills := a.Kind == petri.OutArc || a.Kind == petri.ResetArc
			if counters[name] > 0 && !fills && (a.Count != 1 || a.All) {
				return fmt.Errorf("%s does more than take one from %s, or ask for one", t.Name, name)
			}
		}
	}
	return nil
}

// caps bound the places of a block to one token, except its counters.
func (b *block) caps(n *petri.Net) {
	counters := b.counters()
	seen := map[string]bool{agent.EndInvocation.String(): true, agent.SessionWrite.String(): true,
		agent.Stored.String(): true,
		agent.Lost.String():   true, agent.WriterIdle.String(): true, someParked.String(): true}
	var arcs petri.Arcs
	for _, t := range n.Transitions {
		arcs = slices.Concat(arcs, t.In, t.Out.Arcs())
	}
	for _, a := range arcs { // whatever a branch produces, another transition takes
		if p := petri.ArcPlace(a); !seen[p.String()] && !b.shared(p.String()) {
			seen[p.String()] = true
			n.Caps = append(n.Caps, petri.Cap{Place: p, Max: max(counters[p.String()], 1)})
		}
	}
}

// shared reports whether a place belongs to a task or a state key: others bound it.
func (b *block) shared(place string) bool {
	if key := b.own(); key != "" && place == keyPlace(key).String() {
		return true
	}
	for _, t := range b.tasks() {
		if place == t.Start.String() || place == t.InFlight.String() || place == t.Done.String() {
			return true
		}
	}
	return false
}
