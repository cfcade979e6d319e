package stateclass

import (
	"context"
	"testing"

	"github.com/voicegw/voicegw/verify"
)

func benchmark(b *testing.B, n int, merge Merge) {
	m := model(b, crossing(n), verify.Interleave)
	b.ReportAllocs()
	made := 0
	for b.Loop() {
		g, err := Explore(context.Background(), m, Options{Merge: merge})
		if err != nil {
			b.Fatal(err)
		}
		made += g.Made()
		b.ReportMetric(float64(g.Bytes())/float64(g.Made()), "B/class")
	}
	b.ReportMetric(float64(made)/b.Elapsed().Seconds(), "classes/s")
}

func BenchmarkCrossing3(b *testing.B)          { benchmark(b, 3, Equality) }
func BenchmarkCrossing3Inclusion(b *testing.B) { benchmark(b, 3, Inclusion) }
func BenchmarkCrossing4Inclusion(b *testing.B) { benchmark(b, 4, Inclusion) }
