package event

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// FuzzReplay replays damaged archives. Replay must return without a panic, and must not report more
// events than the archive has.
func FuzzReplay(f *testing.F) {
	p := line(f)
	for seed := range uint64(4) {
		f.Add(archive(f, p, seed, 30))
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		n, _ := Replay(p, bytes.NewReader(log))
		if most := uint64(bytes.Count(log, []byte("\n"))); n > most {
			t.Errorf("%d events of at most %d lines replayed", n, most)
		}
	})
}

// FuzzReader reads arbitrary bytes to the end.
func FuzzReader(f *testing.F) {
	f.Add(archive(f, line(f), 1, 10))
	f.Add([]byte(`{"format":"voicegw.events","version":1,"complete":false}` + "\n" + `{"note":"late"}` + "\n\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		r, err := NewReader(bytes.NewReader(log))
		if err != nil {
			return
		}
		last := uint64(0)
		for {
			e, err := r.Next()
			if errors.Is(err, io.EOF) || err != nil {
				return
			}
			if e.Seq <= last {
				t.Fatalf("event %d after %d", e.Seq, last)
			}
			last = e.Seq
		}
	})
}
