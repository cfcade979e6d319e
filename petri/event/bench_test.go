package event

import (
	"bytes"
	"testing"
)

// BenchmarkAppend is the cost of one event in each store.
func BenchmarkAppend(b *testing.B) {
	p := line(b)
	events := collected(b, p, 0, 400)[:256]
	for _, c := range []struct {
		name  string
		store Store
	}{
		{"ring", NewRing(4096)}, {"archive", NewArchive(forgetful{}, p, ArchiveConfig{})},
		{"tee", Tee(NewRing(4096), NewRing(64))},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.store.Append(events)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(events)), "ns/event")
		})
	}
}

// BenchmarkReplay is the cost of one event of an archive.
func BenchmarkReplay(b *testing.B) {
	p := line(b)
	log := archive(b, p, 0, 2000)
	var n uint64
	for b.Loop() {
		var err error
		if n, err = Replay(p, bytes.NewReader(log)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(uint64(b.N)*n), "ns/event")
}
