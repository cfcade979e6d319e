package patterns_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/patterns"
)

const ms = time.Millisecond

// desk runs a net in a test and keeps its tasks until the test finishes them.
type desk struct {
	t      testing.TB
	m      *petri.Machine
	now    time.Duration
	flying map[string]any // by start place: the value being worked on
	lost   map[string]bool
	outs   []petri.Token
}

// open composes a net with the given environment places and outputs.
func open(t testing.TB, env []petri.Env, outs []petri.AnyPlace, init []petri.Token, parts ...*petri.Net) *desk {
	n, err := petri.Compose("session", parts...)
	if err != nil {
		t.Fatal(err)
	}
	n.Env, n.Init = env, init
	for _, p := range outs {
		n.Out = append(n.Out, petri.Output{Place: p})
	}
	prog, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, m: prog.Start(), flying: map[string]any{}, lost: map[string]bool{}}
	d.look()
	return d
}

// look acts on the outputs of the net.
func (d *desk) look() {
	starts, inFlight := map[string]bool{}, map[string]string{}
	p := d.m.Program()
	for _, t := range p.Tasks() {
		starts[p.Places()[t.Start].Name] = true
		inFlight[p.Places()[t.InFlight].Name] = p.Places()[t.Start].Name
	}
	for _, o := range slices.Clone(d.m.Advance(d.now).Out) {
		switch {
		case o.Cancel():
			d.lost[inFlight[o.Place()]] = true
		case starts[o.Place()]:
			if _, busy := d.flying[o.Place()]; busy {
				d.t.Fatalf("%s started twice", o.Place())
			}
			d.flying[o.Place()] = o.Value()
		default:
			d.outs = append(d.outs, o)
		}
	}
}

// at advances to a time.
func (d *desk) at(now time.Duration) *desk {
	d.now = now
	d.look()
	return d
}

// put injects tokens.
func (d *desk) put(toks ...petri.Token) *desk {
	d.t.Helper()
	for _, tok := range toks {
		if err := d.m.Inject(d.now, tok); err != nil {
			d.t.Fatal(err)
		}
	}
	d.look()
	return d
}

// finish delivers the result of a task, or Cancelled if the net cancelled it.
func finish[I, O any](d *desk, t petri.Task[I, O], r petri.Result[O]) {
	d.t.Helper()
	if _, ok := d.flying[string(t.Start)]; !ok {
		d.t.Fatalf("%s is not in flight", t.Start)
	}
	if d.lost[string(t.Start)] {
		r = petri.Result[O]{Outcome: petri.Cancelled}
	}
	delete(d.flying, string(t.Start))
	delete(d.lost, string(t.Start))
	d.put(t.Done.Token(r))
}

// take removes and returns the outputs at a place.
func take[T any](d *desk, p petri.Place[T]) []T {
	var got []T
	d.outs = slices.DeleteFunc(d.outs, func(o petri.Token) bool {
		v, ok := p.From(o)
		if ok {
			got = append(got, v)
		}
		return ok
	})
	return got
}

// finishAny ends one of the tasks in flight, at random.
func finishAny[I, O any](d *desk, rng *rand.Rand, value func(in I) petri.Result[O], tasks ...petri.Task[I, O]) {
	var flying []petri.Task[I, O]
	for _, t := range tasks {
		if _, ok := d.flying[string(t.Start)]; ok {
			flying = append(flying, t)
		}
	}
	if len(flying) > 0 {
		t := flying[rng.IntN(len(flying))]
		finish(d, t, value(d.flying[string(t.Start)].(I)))
	}
}

func ok[O any](v O) petri.Result[O] { return petri.Result[O]{Value: v} }

func failed[O any]() petri.Result[O] { return petri.Result[O]{Outcome: petri.Failed, Reason: "no"} }

// envs declares environment places of capacity 16.
func envs(places ...petri.AnyPlace) []petri.Env {
	var list []petri.Env
	for _, p := range places {
		list = append(list, petri.Env{Place: p, Capacity: 16})
	}
	return list
}

// newLane is the lane that leads through a task, and its worker.
func newLane[I, O any](name string, task petri.Task[I, O]) (patterns.Lane[I, petri.Result[O]], *petri.Net) {
	l := patterns.Lane[I, petri.Result[O]]{Job: petri.Place[I](name + "_job"),
		Result: petri.Place[petri.Result[O]](name + "_result"), InFlight: task.InFlight}
	return l, patterns.Worker(name, l.Job, task, l.Result)
}

func unit() petri.Unit { return petri.Unit{} }
