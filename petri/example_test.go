package petri_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// Edge is a colour with a key: speech starts or stops.
type Edge uint8

// The edges of speech.
const (
	Start Edge = iota
	Stop
)

// Key implements petri.Keyed.
func (e Edge) Key() petri.Key { return petri.Key(e) }

// KeyNames implements petri.Keyed.
func (Edge) KeyNames() []string { return []string{"start", "stop"} }

// Places are typed constants.
const (
	edge     = petri.Place[Edge]("edge")
	quiet    = petri.Place[petri.Unit]("quiet")
	speaking = petri.Place[petri.Unit]("speaking")
	reprompt = petri.Place[string]("reprompt")
)

// caller tracks the edges of speech and asks again after 5 s of silence.
func caller() *petri.Net {
	return &petri.Net{
		Name: "caller",
		Env:  []petri.Env{{Place: edge, Capacity: 8}},
		Out:  []petri.Output{{Place: reprompt}},
		Init: []petri.Token{quiet.Token(petri.Unit{})},
		Transitions: []petri.Transition{
			{Name: "open", In: petri.Arcs{edge.Is(Start), quiet}, Out: petri.And(speaking)},
			{Name: "close", In: petri.Arcs{edge.Is(Stop), speaking}, Out: petri.And(quiet)},
			{Name: "ignore_start", In: petri.Arcs{edge.Is(Start)}, Read: petri.Arcs{speaking}},
			{Name: "ignore_stop", In: petri.Arcs{edge.Is(Stop)}, Read: petri.Arcs{quiet}},
			{Name: "ask_again", In: petri.Arcs{quiet}, Out: petri.And(quiet, reprompt), When: petri.After(5 * time.Second),
				Action: func(f *petri.Firing) { reprompt.Put(f, fmt.Sprint("are you there, after ", f.At(), "?")) }},
		},
	}
}

func must(net *petri.Net) *petri.Program {
	program, err := petri.Compile(net)
	if err != nil {
		panic(err)
	}
	return program
}

// show prints what a machine did.
func show(m *petri.Machine, now time.Duration) {
	ready := m.Advance(now)
	for _, e := range ready.Events {
		fmt.Println(m.Program().Describe(e))
	}
	for _, out := range ready.Out {
		fmt.Println("  out:", out.Place(), out.Value())
	}
}

// A net is a value. It is compiled once and run by many machines. Time is a parameter: the timer
// fires at its due time, although no call came at that time.
func Example() {
	m := must(caller()).Start()
	for _, s := range []struct {
		at   time.Duration
		edge Edge
	}{{time.Second, Start}, {2 * time.Second, Start}, {3 * time.Second, Stop}} {
		if err := m.Inject(s.at, edge.Token(s.edge)); err != nil {
			fmt.Println(err)
		}
	}
	show(m, 10*time.Second)
	fmt.Println("next at", m.Wake())
	// Output:
	// 0s started
	// 1s injected edge[start]
	// 1s fired open
	// 2s injected edge[start]
	// 2s fired ignore_start
	// 3s injected edge[stop]
	// 3s fired close
	// 8s fired ask_again
	//   out: reprompt are you there, after 8s?
	// next at 13s
}

// Compile reports every problem of a net at once.
func ExampleCompile() {
	net := caller()
	net.Init = append(net.Init, petri.Place[int]("quiet").Token(7))
	net.Transitions[4].Priority = 3
	_, err := petri.Compile(net)
	fmt.Println(err)
	// Output:
	// petri: 2 problems:
	// 	net "caller": initial token at "quiet" is int, not unit
	// 	transition "ask_again": priority 3 on a timed transition; priorities order at-once transitions only
}

// desk is a subnet: a function over typed ports. Places that it does not list as ports are private,
// so a net can have many desks.
func desk(name string, customer, served petri.Place[string]) *petri.Net {
	const free = petri.Place[petri.Unit]("free")
	const atTheDesk = petri.Place[string]("at_the_desk")
	return &petri.Net{
		Name:  name,
		Ports: []petri.AnyPlace{customer, served},
		Init:  []petri.Token{free.Token(petri.Unit{})},
		Transitions: []petri.Transition{
			{Name: "call", In: petri.Arcs{customer, free}, Out: petri.And(atTheDesk)},
			{Name: "serve", In: petri.Arcs{atTheDesk}, Out: petri.And(served, free), When: petri.After(time.Minute)},
		},
	}
}

// Two instances of one subnet share the places that are their ports.
func ExampleCompose() {
	const customer, served = petri.Place[string]("customer"), petri.Place[string]("served")
	office, err := petri.Compose("office", desk("left", customer, served), desk("right", customer, served))
	if err != nil {
		fmt.Println(err)
		return
	}
	office.Env = []petri.Env{{Place: customer, Capacity: 3}}
	office.Out = []petri.Output{{Place: served}}
	m := must(office).Start()
	for i, name := range []string{"ann", "bob", "cid"} {
		_ = m.Inject(time.Duration(i)*time.Second, customer.Token(name))
	}
	show(m, 2*time.Minute)
	// Output:
	// 0s started
	// 0s injected customer
	// 0s fired left/call
	// 1s injected customer
	// 1s fired right/call
	// 2s injected customer
	// 1m0s fired left/serve
	// 1m0s fired left/call
	// 1m1s fired right/serve
	// 2m0s fired left/serve
	//   out: served ann
	//   out: served bob
	//   out: served cid
}

// Ports of different types do not fuse.
func ExampleCompose_types() {
	const customer = petri.Place[int]("customer")
	other := &petri.Net{Name: "counter", Ports: []petri.AnyPlace{customer},
		Transitions: []petri.Transition{{Name: "count", In: petri.Arcs{customer}}}}
	_, err := petri.Compose("office", desk("left", "customer", "served"), other)
	problem, remedy, _ := strings.Cut(err.Error(), "; ")
	fmt.Println(problem)
	fmt.Println(remedy)
	// Output:
	// petri: compose office: port "customer" is string in net "left" but int in net "counter"
	// give both the same colour or rename one
}

// Keys decide. Proofs see the branches of an Xor as a table.
func ExampleXor() {
	const talk, silence = petri.Place[petri.Unit]("talk"), petri.Place[petri.Unit]("silence")
	m := must(&petri.Net{
		Name: "router",
		Env:  []petri.Env{{Place: edge, Capacity: 4}},
		Out:  []petri.Output{{Place: talk}, {Place: silence}},
		Transitions: []petri.Transition{{
			Name: "route", In: petri.Arcs{edge},
			Out: petri.Xor(petri.Arcs{talk}, petri.Arcs{silence.Exactly(2)}).By(func(k *petri.Keys) int {
				return int(edge.Key(k))
			}),
		}},
	}).Start()
	_ = m.Inject(0, edge.Token(Stop))
	_ = m.Inject(0, edge.Token(Start))
	for _, out := range m.Advance(0).Out {
		fmt.Println(out)
	}
	// Output:
	// silence
	// silence
	// talk
}

// Chunk is a colour whose tokens belong to a turn.
type Chunk struct {
	Turn petri.Gen
	Text string
}

// Generation implements petri.Generational.
func (c Chunk) Generation() petri.Gen { return c.Turn }

// A bump makes every token of the turn so far stale, wherever it is.
func ExampleGen() {
	const bargeIn = petri.Place[petri.Unit]("barge_in")
	const chunk, heard = petri.Place[Chunk]("chunk"), petri.Place[Chunk]("heard")
	m := must(&petri.Net{
		Name: "turns",
		Env:  []petri.Env{{Place: bargeIn}, {Place: chunk, Capacity: 4}},
		Out:  []petri.Output{{Place: heard}},
		Transitions: []petri.Transition{
			{Name: "begin_turn", In: petri.Arcs{bargeIn}, Bump: true},
			{Name: "play", In: petri.Arcs{chunk.Fresh()}, Out: petri.And(heard)},
			{Name: "drop_stale", In: petri.Arcs{chunk.Stale()}},
		},
	}).Start()
	_ = m.Inject(0, chunk.Token(Chunk{0, "once upon"}))
	_ = m.Inject(0, bargeIn.Token(petri.Unit{}))
	_ = m.Inject(0, chunk.Token(Chunk{0, "a time"}))
	_ = m.Inject(0, chunk.Token(Chunk{1, "yes?"}))
	show(m, 0)
	// Output:
	// 0s started
	// 0s injected chunk[fresh]
	// 0s fired play
	// 0s injected barge_in
	// 0s fired begin_turn
	// 0s injected chunk[stale]
	// 0s fired drop_stale
	// 0s injected chunk[fresh]
	// 0s fired play
	//   out: heard {0 once upon}
	//   out: heard {1 yes?}
}

// Slow work is a task. Its start leaves the net, and its result comes back. Its time-out is an arc
// that cancels it.
func ExampleTask() {
	lookUp := petri.Task[string, int]{Start: "start", InFlight: "in_flight", Done: "done"}
	const ask, answer, late = petri.Place[string]("ask"), petri.Place[int]("answer"), petri.Place[petri.Unit]("late")
	const idle, busy = petri.Place[petri.Unit]("idle"), petri.Place[petri.Unit]("busy")
	m := must(&petri.Net{
		Name:  "tool",
		Env:   []petri.Env{{Place: ask}},
		Out:   []petri.Output{{Place: answer}, {Place: late}},
		Tasks: []petri.AnyTask{lookUp},
		Init:  []petri.Token{idle.Token(petri.Unit{})},
		Transitions: []petri.Transition{
			{Name: "look_up", In: petri.Arcs{ask, idle}, Out: petri.And(lookUp.Start, lookUp.InFlight, busy)},
			{Name: "reply", In: petri.Arcs{lookUp.Done.Is(petri.Succeeded), lookUp.InFlight, busy}, Out: petri.And(answer, idle),
				Action: func(f *petri.Firing) { answer.Put(f, lookUp.Done.Get(f).Value) }},
			{Name: "fail", In: petri.Arcs{lookUp.Done.Is(petri.Failed, petri.Cancelled), lookUp.InFlight, busy},
				Out: petri.And(late, idle)},
			{Name: "time_out", In: petri.Arcs{lookUp.InFlight}, Out: petri.And(late), When: petri.After(time.Second)},
			{Name: "forget", In: petri.Arcs{lookUp.Done, busy}, Inhibit: petri.Arcs{lookUp.InFlight}, Out: petri.And(idle)},
		},
	}).Start()
	_ = m.Inject(0, ask.Token("what is six times seven?"))
	for _, out := range m.Advance(2 * time.Second).Out {
		fmt.Println(out.Seq(), out.Place(), out.Value(), out.Cancel())
	}
	_ = m.Inject(3*time.Second, lookUp.Done.Token(petri.Result[int]{Value: 42}))
	show(m, 3*time.Second)
	// Output:
	// 3 start what is six times seven? false
	// 4 late {} false
	// 5 in_flight <nil> true
	// 3s injected done[succeeded]
	// 3s fired forget (done[succeeded])
}

// A machine refuses a token that the net cannot take. The error wraps the reason.
func ExampleMachine_Inject() {
	net := &petri.Net{Name: "desk", Env: []petri.Env{{Place: edge, Capacity: 1}}, Sinks: []petri.AnyPlace{edge}}
	m := must(net).Start()
	fmt.Println(m.Inject(time.Second, edge.Token(Start)))
	err := m.Inject(time.Second, edge.Token(Stop))
	fmt.Println(err, errors.Is(err, petri.ErrFull))
	fmt.Println(m.Inject(0, edge.Token(Stop)))
	fmt.Println(m.Inject(time.Second, quiet.Token(petri.Unit{})))
	// Output:
	// <nil>
	// petri: inject at "edge": the place is full (capacity 1) true
	// petri: inject at "edge": the stamp is earlier than the machine's time (0s before 1s)
	// petri: inject at "quiet": not an environment place of this net (net desk)
}

// A machine can be saved and can continue elsewhere.
func ExampleMachine_Snapshot() {
	program := must(caller())
	m := program.Start()
	_ = m.Inject(time.Second, edge.Token(Start))
	_ = m.Inject(2*time.Second, edge.Token(Stop))
	m.Advance(4 * time.Second)

	snapshot, err := m.Snapshot()
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := snapshot.MarshalBinary()
	if err != nil {
		fmt.Println(err)
		return
	}
	var saved petri.Snapshot
	if err := saved.UnmarshalBinary(data); err != nil {
		fmt.Println(err)
		return
	}
	again, err := program.Restore(&saved)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("saved at", saved.At, "after event", saved.Seq)
	show(again, 7*time.Second)
	// Output:
	// saved at 4s after event 5
	// 7s fired ask_again
	//   out: reprompt are you there, after 7s?
}
