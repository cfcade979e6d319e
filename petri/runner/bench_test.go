package runner

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
)

// BenchmarkInjectToFire is the time from Inject in one goroutine to the output of the firing in the
// goroutine of the loop.
func BenchmarkInjectToFire(b *testing.B) {
	heard := make(chan time.Time, 1)
	r, err := Start(compile(b, relay(false)), Config{Out: func(petri.Token) { heard <- time.Now() }})
	if err != nil {
		b.Fatal(err)
	}
	took := make([]time.Duration, 0, b.N)
	b.ReportAllocs()
	for b.Loop() {
		at := time.Now()
		if err := r.Inject(ping.Token(petri.Unit{})); err != nil {
			b.Fatal(err)
		}
		took = append(took, (<-heard).Sub(at))
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
	slices.Sort(took)
	for _, q := range []struct {
		name string
		of   float64
	}{{"p50-ns", 0.5}, {"p99-ns", 0.99}} {
		b.ReportMetric(float64(took[int(q.of*float64(len(took)-1))]), q.name)
	}
}

// BenchmarkInjectWait is an injection with its answer.
func BenchmarkInjectWait(b *testing.B) {
	r, err := Start(compile(b, relay(false)), Config{})
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if err := r.InjectWait(ctx, ping.Token(petri.Unit{})); err != nil {
			b.Fatal(err)
		}
	}
	if s := r.Stats(); s.Fired != s.Injected {
		b.Fatalf("%d firings of %d", s.Fired, s.Injected)
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkInjectBurst is one injection of many, with and without a store.
func BenchmarkInjectBurst(b *testing.B) {
	for _, c := range []struct {
		name  string
		store event.Store
	}{{"store-off", nil}, {"store-ring", event.NewRing(4096)}} {
		b.Run(c.name, func(b *testing.B) {
			r, err := Start(compile(b, relay(false)), Config{Store: c.store})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				for r.Inject(ping.Token(petri.Unit{})) == ErrInboxFull {
					_ = r.InjectWait(context.Background(), ping.Token(petri.Unit{}))
				}
			}
			if err := r.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkStore is a firing of a run, in chains of 20, without a store and with one.
func BenchmarkStore(b *testing.B) {
	const chain = 20
	n := &petri.Net{Name: "chain", Env: []petri.Env{{Place: link(0)}}, Out: []petri.Output{{Place: link(chain)}}}
	for i := range chain {
		n.Transitions = append(n.Transitions, petri.Transition{
			Name: fmt.Sprintf("step_%d", i), In: petri.Arcs{link(i)}, Out: petri.And(link(i + 1))})
	}
	p := compile(b, n)
	for _, c := range []struct {
		name  string
		store event.Store
	}{{"off", nil}, {"ring", event.NewRing(4096)}} {
		b.Run(c.name, func(b *testing.B) {
			r, err := Start(p, Config{Store: c.store})
			if err != nil {
				b.Fatal(err)
			}
			ctx, tok := context.Background(), link(0).Token(petri.Unit{})
			for b.Loop() {
				for range 100 {
					if err := r.InjectWait(ctx, tok); err != nil {
						b.Fatal(err)
					}
				}
			}
			fired := r.Stats().Fired
			if fired != uint64(b.N*100*chain) {
				b.Fatalf("%d firings", fired)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(fired), "ns/firing")
			if err := r.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func link(i int) petri.Place[petri.Unit] { return petri.Place[petri.Unit](fmt.Sprintf("link_%d", i)) }

// BenchmarkIdle is the memory of a run that waits, including goroutine and machine.
func BenchmarkIdle(b *testing.B) {
	const runs = 2000
	p := compile(b, watchdog())
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		all := make([]*Runner, runs)
		for i := range all {
			r, err := Start(p, Config{})
			if err != nil {
				b.Fatal(err)
			}
			mustInject(b, r, ping.Token(petri.Unit{}))
			all[i] = r
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.Sys-before.Sys)/runs, "sys-B/run")
		b.ReportMetric(float64(after.HeapAlloc+after.StackInuse-before.HeapAlloc-before.StackInuse)/runs, "B/run")
		for _, r := range all {
			mustClose(b, r)
		}
	}
}
