package petri

import (
	"fmt"
	"runtime"
	"testing"
	"time"
)

// The benchmarks have the names of the scenarios in docs/performance.md. Each reports ns/firing and
// checks how the run ended.

// chainNet is n transitions in a row, from the environment place in to nothing; change may alter
// each of them. Every 900th transition waits, because a chain of firings at one instant is bounded.
func chainNet[T any](n int, change func(i int, t *Transition)) *Net {
	at := func(i int) Place[T] { return Place[T](fmt.Sprint("p", i)) }
	net := &Net{Name: "chain", Env: []Env{{Place: at(0)}}}
	for i := range n {
		t := Transition{Name: fmt.Sprint("t", i), In: Arcs{at(i)}}
		if i < n-1 {
			t.Out = And(at(i + 1))
		}
		if i%900 == 899 {
			t.When = After(1)
		}
		if change != nil {
			change(i, &t)
		}
		net.Transitions = append(net.Transitions, t)
	}
	return net
}

func compiled(tb testing.TB, n *Net) *Program {
	tb.Helper()
	p, err := Compile(n)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// silent is a machine that records no events.
func silent(tb testing.TB, n *Net) *Machine {
	m := compiled(tb, n).Start()
	m.Advance(0)
	m.Silent(true)
	return m
}

// rest checks the number of firings and that the marking is empty.
func rest(tb testing.TB, m *Machine, before uint64, events int) {
	tb.Helper()
	if got := m.seq - before; got != uint64(events) {
		tb.Fatalf("%d events, want %d", got, events)
	}
	for i, n := range m.count {
		if n != 0 {
			tb.Fatalf("%d tokens left at %s", n, m.prog.SlotName(i))
		}
	}
}

// perFiring runs a token through a machine b.N times and reports ns/firing.
func perFiring(b *testing.B, m *Machine, tok Token, firings int) {
	now, before := m.Now(), m.seq
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if err := m.Inject(now, tok); err != nil {
			b.Fatal(err)
		}
		now += 20_000
		m.Advance(now)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(firings), "ns/firing")
	rest(b, m, before, b.N*(firings+1))
}

func BenchmarkSyncChain(b *testing.B) {
	for _, n := range []int{10, 50, 100, 500, 2000} {
		b.Run(fmt.Sprintf("sync-chain-%d", n), func(b *testing.B) {
			perFiring(b, silent(b, chainNet[Unit](n, nil)), Place[Unit]("p0").Token(Unit{}), n)
		})
	}
}

// BenchmarkColours is sync-chain-100 with tokens of each sort.
func BenchmarkColours(b *testing.B) {
	for _, c := range colourChains() {
		b.Run(c.name, func(b *testing.B) {
			m := silent(b, c.net)
			perFiring(b, m, c.token, 100)
		})
	}
}

// colourChain is a chain of 100 with tokens of one sort.
type colourChain struct {
	name  string
	net   *Net
	token Token
}

func colourChains() []colourChain {
	const last = 99
	pass := func(Keys *Keys) bool { return true }
	return []colourChain{
		{"unit", chainNet[Unit](100, nil), Place[Unit]("p0").Token(Unit{})},
		{"pointer", chainNet[*int](100, nil), Place[*int]("p0").Token(new(int))},
		{"pointer-action", chainNet[*int](100, func(i int, t *Transition) {
			in, out := Place[*int](fmt.Sprint("p", i)), Place[*int](fmt.Sprint("p", i+1))
			if i < last {
				t.Action = func(f *Firing) { out.Put(f, in.Get(f)) }
			}
		}), Place[*int]("p0").Token(new(int))},
		{"struct-action", chainNet[[3]int](100, func(i int, t *Transition) {
			in, out := Place[[3]int](fmt.Sprint("p", i)), Place[[3]int](fmt.Sprint("p", i+1))
			if i < last {
				t.Action = func(f *Firing) { v := in.Get(f); v[0]++; out.Put(f, v) }
			}
		}), Place[[3]int]("p0").Token([3]int{})},
		{"enum-guard", chainNet[hue](100, func(i int, t *Transition) { t.Guard = pass }), Place[hue]("p0").Token(1)},
		{"generation-read", chainNet[*turn](100, nil), Place[*turn]("p0").Token(&turn{})},
		{"keyed-generation", chainNet[card](100, nil), Place[card]("p0").Token(card{hue: 2})},
		{"timers", chainNet[Unit](100, func(i int, t *Transition) { t.When = After(1) }), Place[Unit]("p0").Token(Unit{})},
	}
}

// BenchmarkStore is sync-chain-50 with events off and on.
func BenchmarkStore(b *testing.B) {
	for _, off := range []bool{true, false} {
		name := map[bool]string{true: "events-noop", false: "events-inMemory"}[off]
		b.Run(name+"/sync-chain-50", func(b *testing.B) {
			m := silent(b, chainNet[*int](50, nil))
			m.Silent(off)
			perFiring(b, m, Place[*int]("p0").Token(new(int)), 50)
		})
	}
}

// BenchmarkStart is the whole life of a machine: a start and a chain. The benchmarks of libpetri
// measure the same.
func BenchmarkStart(b *testing.B) {
	for _, n := range []int{10, 50, 100, 500} {
		b.Run(fmt.Sprintf("start/sync-chain-%d", n), func(b *testing.B) {
			net := chainNet[Unit](n, nil)
			net.Env, net.Init = nil, []Token{Place[Unit]("p0").Token(Unit{})}
			p := compiled(b, net)
			b.ReportAllocs()
			for range b.N {
				if m := p.Start(); m.seq != uint64(n+1) {
					b.Fatal(m.seq)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/firing")
		})
	}
}

// ringNet is two places between which a counter moves until it is 20,000.
func ringNet() *Net {
	const x, y, done = Place[int]("x"), Place[int]("y"), Place[int]("done")
	return &Net{Name: "ring", Env: []Env{{Place: x}}, Out: []Output{{Place: done}}, Transitions: []Transition{
		{Name: "there", In: Arcs{x}, Out: And(y), When: After(1), Action: func(f *Firing) { y.Put(f, x.Get(f)+1) }},
		{Name: "back", In: Arcs{y}, Out: Free(Arcs{x}, Arcs{done}), Action: func(f *Firing) {
			if v := y.Get(f) + 1; v < 20_000 {
				f.Choose(0)
				x.Put(f, v)
			} else {
				f.Choose(1)
				done.Put(f, v)
			}
		}},
	}}
}

func BenchmarkRing(b *testing.B) {
	b.Run("ring-20000", func(b *testing.B) {
		m := silent(b, ringNet())
		perFiring(b, m, Place[int]("x").Token(0), 20_000)
	})
}

// fanoutNet is a fork to n workers and a join.
func fanoutNet(n int) *Net {
	const in, done = Place[Unit]("in"), Place[Unit]("done")
	net := &Net{Name: "fanout", Env: []Env{{Place: in}}}
	fork := Transition{Name: "fork", In: Arcs{in}}
	var jobs Arcs
	for i := range n {
		job := Place[Unit](fmt.Sprint("job", i))
		jobs = append(jobs, job)
		net.Transitions = append(net.Transitions, Transition{Name: fmt.Sprint("work", i), In: Arcs{job}, Out: And(done)})
	}
	fork.Out = And(jobs...)
	net.Transitions = append(net.Transitions, fork, Transition{Name: "join", In: Arcs{done.Exactly(n)}})
	return net
}

func BenchmarkFanout(b *testing.B) {
	for _, n := range []int{10, 100} {
		b.Run(fmt.Sprintf("fanout-sync-%d", n), func(b *testing.B) {
			perFiring(b, silent(b, fanoutNet(n)), Place[Unit]("in").Token(Unit{}), n+2)
		})
	}
}

// growthNet is a chain of ten beside n-10 transitions that wait for other tokens. Each of these has
// a state of its own and an inhibitor.
func growthNet(n int) *Net {
	net := chainNet[*int](10, nil)
	for i := range n - 10 {
		at := func(name string) Place[Unit] { return Place[Unit](fmt.Sprint(name, i)) }
		idle, busy, ask := at("idle"), at("busy"), at("ask")
		net.Env = append(net.Env, Env{Place: ask})
		net.Init = append(net.Init, idle.Token(Unit{}))
		net.Sinks = append(net.Sinks, busy)
		net.Transitions = append(net.Transitions,
			Transition{Name: fmt.Sprint("serve", i), In: Arcs{ask, idle}, Inhibit: Arcs{busy}, Out: And(busy)})
	}
	return net
}

func BenchmarkGrowth(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10_000} {
		b.Run(fmt.Sprintf("growth-%d", n), func(b *testing.B) {
			m := silent(b, growthNet(n))
			clear(m.count) // so that rest sees an empty marking; no transition looks at the idle places
			perFiring(b, m, Place[*int]("p0").Token(new(int)), 10)
		})
	}
}

// timersNet is n timers, one of which is due every tick.
func timersNet(n int) *Net {
	net := &Net{Name: "timers"}
	for i := range n {
		p := Place[Unit](fmt.Sprint("p", i))
		net.Init = append(net.Init, p.Token(Unit{}))
		net.Transitions = append(net.Transitions,
			Transition{Name: fmt.Sprint("t", i), In: Arcs{p}, Out: And(p), When: After(time.Duration(n + i))})
	}
	return net
}

func BenchmarkTimers(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("timers-%d", n), func(b *testing.B) {
			m := silent(b, timersNet(n))
			before := m.seq
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				m.Advance(m.Wake())
			}
			fired := m.seq - before
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(fired), "ns/firing")
			if m.Wake() == Forever || fired < uint64(b.N) {
				b.Fatalf("%d firings, next at %v", fired, m.Wake())
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, n := range []int{10, 50, 100, 500} {
		b.Run(fmt.Sprintf("compile-%d", n), func(b *testing.B) {
			net := chainNet[Unit](n, nil)
			b.ReportAllocs()
			for range b.N {
				if p := compiled(b, net); len(p.transitions) != n {
					b.Fatal(len(p.transitions))
				}
			}
		})
	}
}

// BenchmarkInjectBurst injects 20,000 tokens back to back.
func BenchmarkInjectBurst(b *testing.B) {
	b.Run("inject-burst-20000", func(b *testing.B) {
		m := silent(b, chainNet[*int](1, nil))
		tok, before := Place[*int]("p0").Token(new(int)), m.seq
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			for range 20_000 {
				if err := m.Inject(0, tok); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/20_000, "ns/firing")
		rest(b, m, before, b.N*40_000)
	})
}

// idleNet has 12 transitions, of every sort that a session has.
func idleNet() *Net {
	net := chainNet[*turn](8, nil)
	other := timersNet(4)
	net.Transitions = append(net.Transitions, other.Transitions...)
	for i := range net.Transitions[8:] {
		t, p := &net.Transitions[8+i], Place[Unit](fmt.Sprint("q", i))
		t.Name, t.In, t.Out = fmt.Sprint("wait", i), Arcs{p}, And(p)
		net.Init = append(net.Init, p.Token(Unit{}))
	}
	return net
}

// idleBytes is the memory of an idle machine of idleNet after one token went through it.
func idleBytes(tb testing.TB, count int) float64 {
	p := compiled(tb, idleNet())
	if len(p.transitions) != 12 {
		tb.Fatal(len(p.transitions))
	}
	machines := make([]*Machine, count)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range machines {
		machines[i] = p.Start()
		if err := machines[i].Inject(0, Place[*turn]("p0").Token(&turn{})); err != nil {
			tb.Fatal(err)
		}
		machines[i].Advance(0)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(machines)
	return float64(after.HeapAlloc-before.HeapAlloc) / float64(count)
}

func BenchmarkIdle(b *testing.B) {
	b.Run("idle-session-bytes", func(b *testing.B) {
		for range b.N {
			b.ReportMetric(idleBytes(b, 5000), "B/machine")
		}
	})
}
