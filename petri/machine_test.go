package petri

import (
	"testing"
	"time"
)

type edge uint8

const (
	start edge = iota
	stop
)

func (e edge) Key() Key           { return Key(e) }
func (e edge) KeyNames() []string { return []string{"start", "stop"} }

type chunk struct {
	gen Gen
	n   int
}

func (c *chunk) Generation() Gen {
	if c == nil {
		return 0
	}
	return c.gen
}

func TestSmoke(t *testing.T) {
	const (
		edges = Place[edge]("edges")
		quiet = Place[Unit]("quiet")
		talk  = Place[Unit]("talk")
		log   = Place[edge]("log")
		in    = Place[*chunk]("in")
		held  = Place[*chunk]("held")
		down  = Place[*chunk]("down")
		late  = Place[Unit]("late")
	)
	n := &Net{Name: "smoke", Env: []Env{{Place: edges, Capacity: 4}, {Place: in, Capacity: 8}},
		Out:  []Output{{Place: log}, {Place: down}, {Place: late}},
		Init: []Token{quiet.Token(Unit{})},
		Transitions: []Transition{
			{Name: "open", In: Arcs{edges.Is(start), quiet}, Out: And(talk, log), Bump: true},
			{Name: "close", In: Arcs{edges.Is(stop), talk}, Out: And(quiet, log)},
			{Name: "ignore_start", In: Arcs{edges.Is(start)}, Read: Arcs{talk}},
			{Name: "ignore_stop", In: Arcs{edges.Is(stop)}, Read: Arcs{quiet}},
			{Name: "hold", In: Arcs{in}, Out: And(held.Fresh()), Action: func(f *Firing) {
				c := *in.Get(f)
				c.gen = f.Gen()
				held.Put(f, &c)
			}},
			{Name: "send", In: Arcs{held.Fresh()}, Read: Arcs{quiet}, Out: And(down), When: After(20 * time.Millisecond)},
			{Name: "drop", In: Arcs{held.Stale()}},
			{Name: "tick", In: Arcs{talk}, Out: And(talk, late), When: After(300 * time.Millisecond)},
		}}
	p, err := Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	m := p.Start()
	show := func(r Ready) {
		for _, e := range r.Events {
			t.Log(p.Describe(e))
		}
		for _, o := range r.Out {
			t.Log("  out", o)
		}
	}
	ck := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	ck(m.Inject(10*time.Millisecond, in.Token(&chunk{n: 1})))
	show(m.Advance(15 * time.Millisecond))
	show(m.Advance(35 * time.Millisecond))
	ck(m.Inject(40*time.Millisecond, in.Token(&chunk{n: 2})))
	ck(m.Inject(50*time.Millisecond, edges.Token(start)))
	ck(m.Inject(60*time.Millisecond, edges.Token(start)))
	show(m.Advance(700 * time.Millisecond))
	ck(m.Inject(710*time.Millisecond, edges.Token(stop)))
	show(m.Advance(2 * time.Second))
}
