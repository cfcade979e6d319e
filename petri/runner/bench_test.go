package runner

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
)

// BenchmarkInjectToFire is the time from Inject in one goroutine until the
// output of the firing it enabled is heard in the loop's.
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

// BenchmarkInjectWait is an injection with its acknowledgement.
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
