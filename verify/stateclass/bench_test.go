package stateclass

import (
	"context"
	"testing"

	"github.com/voicegw/voicegw/verify/netmodel"
)

func benchmark(b *testing.B, n int, merge Merge) {
	m := modelOf(b, crossing(n), netmodel.Interleave)
	b.ReportAllocs()
	made := 0
	for b.Loop() {
		g, err := Explore(context.Background(), m, Options{Merge: merge})
		if err != nil {
			b.Fatal(err)
		}
		made += len(g.classes)
		b.ReportMetric(float64(8*len(g.zones))/float64(len(g.classes)), "B/class")
	}
	b.ReportMetric(float64(made)/b.Elapsed().Seconds(), "classes/s")
}

func BenchmarkCrossing3(b *testing.B)          { benchmark(b, 3, Equality) }
func BenchmarkCrossing3Inclusion(b *testing.B) { benchmark(b, 3, Inclusion) }
func BenchmarkCrossing4Inclusion(b *testing.B) { benchmark(b, 4, Inclusion) }
