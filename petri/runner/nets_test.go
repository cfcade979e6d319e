package runner

import (
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// Places of the nets in these tests.
const (
	in      = petri.Place[int]("in")
	ping    = petri.Place[petri.Unit]("ping")
	out     = petri.Place[int]("out")
	pong    = petri.Place[petri.Unit]("pong")
	waiting = petri.Place[petri.Unit]("waiting")
	over    = petri.Place[petri.Unit]("over")
	stop    = petri.Place[petri.Unit]("stop")
)

func compile(t testing.TB, n *petri.Net) *petri.Program {
	t.Helper()
	p, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// relay passes tokens on, at once or as durable outputs.
func relay(durable bool) *petri.Net {
	return &petri.Net{
		Name: "relay",
		Env:  []petri.Env{{Place: in, Capacity: 4}, {Place: ping, Capacity: 4}, {Place: stop}},
		Out:  []petri.Output{{Place: out, Durable: durable}, {Place: pong}},
		Transitions: []petri.Transition{
			{Name: "pass", In: petri.Arcs{in}, Out: petri.And(out)},
			{Name: "answer", In: petri.Arcs{ping}, Out: petri.And(pong)},
			{Name: "end", In: petri.Arcs{stop}, Out: petri.And(over)},
		},
		Final: over,
	}
}

// watchdog puts out pong 300 ms after each ping.
func watchdog() *petri.Net {
	return &petri.Net{
		Name: "watchdog",
		Env:  []petri.Env{{Place: ping, Capacity: 4}},
		Out:  []petri.Output{{Place: pong}},
		Caps: []petri.Cap{{Place: waiting, Max: 1}},
		Transitions: []petri.Transition{
			{Name: "begin", In: petri.Arcs{ping}, Inhibit: petri.Arcs{waiting}, Out: petri.And(waiting)},
			{Name: "fire", In: petri.Arcs{waiting}, Out: petri.And(pong), When: petri.After(300 * time.Millisecond)},
		},
	}
}
