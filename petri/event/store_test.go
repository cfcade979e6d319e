package event

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/voicegw/voicegw/petri"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seqs returns events with the given numbers.
func seqs(from, to uint64) []petri.Event {
	var out []petri.Event
	for n := from; n <= to; n++ {
		out = append(out, petri.Event{Seq: n, Kind: petri.Fired})
	}
	return out
}

func numbers(events []petri.Event) []uint64 {
	var out []uint64
	for _, e := range events {
		out = append(out, e.Seq)
	}
	return out
}

// memory is a store with a lag.
type memory struct {
	mu         sync.Mutex
	events     []petri.Event
	notes      []Note
	lag        uint64
	incomplete bool
	notify     func()
}

func (m *memory) Append(events []petri.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = append(m.events, events...)
}

func (m *memory) Stored() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.events) == 0 {
		return 0
	}
	return m.events[len(m.events)-1].Seq - m.lag
}

func (m *memory) Note(n Note)      { m.notes = append(m.notes, n) }
func (m *memory) Incomplete()      { m.incomplete = true }
func (m *memory) Notify(fn func()) { m.notify = fn }

func TestRing(t *testing.T) {
	for _, c := range []struct {
		name    string
		batches [][2]uint64
		want    []uint64
	}{
		{"empty", nil, nil},
		{"some", [][2]uint64{{1, 2}}, []uint64{1, 2}},
		{"full", [][2]uint64{{1, 2}, {3, 5}}, []uint64{1, 2, 3, 4, 5}},
		{"around", [][2]uint64{{1, 4}, {5, 7}}, []uint64{3, 4, 5, 6, 7}},
		{"more than there is room", [][2]uint64{{1, 2}, {3, 14}}, []uint64{10, 11, 12, 13, 14}},
		{"twice more", [][2]uint64{{1, 7}, {8, 13}, {14, 14}}, []uint64{10, 11, 12, 13, 14}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewRing(5)
			last := uint64(0)
			for _, b := range c.batches {
				r.Append(seqs(b[0], b[1]))
				r.Append(nil)
				last = b[1]
			}
			if got := numbers(r.Events(nil)); !slices.Equal(got, c.want) || r.Stored() != last {
				t.Errorf("%v, %d stored; want %v, %d stored", got, r.Stored(), c.want, last)
			}
		})
	}
}

func TestRingRefuses(t *testing.T) {
	for _, n := range []int{0, -1, maxRing + 1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a ring of %d was made", n)
				}
			}()
			NewRing(n)
		}()
	}
}

func TestNoAllocations(t *testing.T) {
	p := line(t)
	events := collected(t, p, 0, 200)
	archive := NewArchive(&forgetful{}, p, ArchiveConfig{})
	archive.Append(events) // fills the cache of names
	for name, s := range map[string]Store{
		"ring": NewRing(100), "archive": archive, "tee": Tee(NewRing(10), NewRing(20)),
	} {
		s.Append(events)
		if n := testing.AllocsPerRun(100, func() { s.Append(events) }); n != 0 {
			t.Errorf("%s: %v allocations for %d events", name, n, len(events))
		}
	}
}

// forgetful is a writer that keeps nothing.
type forgetful struct{}

func (forgetful) Write(b []byte) (int, error) { return len(b), nil }

func collected(t testing.TB, p *petri.Program, seed uint64, n int) []petri.Event {
	var m memory
	call(t, p, seed, n, &m)
	return m.events
}

func TestTee(t *testing.T) {
	if Tee() != nil || Tee(nil, nil) != nil {
		t.Error("tee of none is not nil")
	}
	var a, b memory
	b.lag = 2
	if Tee(nil, &a) != Store(&a) {
		t.Error("tee of one is not that one")
	}
	s := Tee(&a, nil, &b)
	s.Append(seqs(1, 5))
	if s.Stored() != 3 || Tee(&b, &a).Stored() != 3 || len(a.events) != 5 || len(b.events) != 5 {
		t.Errorf("%d stored of %d and %d", s.Stored(), len(a.events), len(b.events))
	}
	SendNote(s, Note{Kind: Late})
	s.(Notifier).Notify(func() {})
	markIncomplete(s)
	for _, m := range []*memory{&a, &b} {
		if len(m.notes) != 1 || m.notify == nil || !m.incomplete {
			t.Errorf("%+v", m)
		}
	}
}

func TestQueue(t *testing.T) {
	var m memory
	q := NewQueue(&m, QueueConfig{Events: 10})
	grown := make(chan struct{}, 1)
	q.Notify(func() { grown <- struct{}{} })
	q.Incomplete()
	q.Append(seqs(1, 3))
	q.Note(Note{After: 3, Kind: Late})
	q.Append(seqs(4, 6))
	if q.Stored() != 0 {
		t.Error("stored before it ran")
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- q.Run(ctx) }()
	<-grown
	if q.Stored() != 6 || len(m.notes) != 1 || !m.incomplete {
		t.Errorf("%d stored, %d notes", q.Stored(), len(m.notes))
	}
	q.Append(seqs(7, 8))
	<-grown
	cancel()
	q.Append(seqs(9, 9))
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := numbers(m.events); !slices.Equal(got[:8], []uint64{1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Errorf("passed on %v", got)
	}
}

func TestQueueOverflow(t *testing.T) {
	var m memory
	q := NewQueue(&m, QueueConfig{Events: 4})
	q.Append(seqs(1, 3))
	q.Append(seqs(4, 5))
	q.Append(seqs(6, 6))
	if err := q.Run(context.Background()); !errors.Is(err, ErrOverflow) {
		t.Errorf("got %v", err)
	}
	if got := numbers(m.events); !slices.Equal(got, []uint64{1, 2, 3}) || q.Stored() != 3 {
		t.Errorf("passed on %v, %d stored", got, q.Stored())
	}
}

// broken is a writer that fails at its second call.
type broken struct{ n int }

func (b *broken) Write(p []byte) (int, error) {
	if b.n++; b.n > 1 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func TestArchiveErrors(t *testing.T) {
	p := line(t)
	a := NewArchive(&broken{}, p, ArchiveConfig{Run: "r"})
	a.Append(seqs(1, 2))
	a.Append(seqs(3, 4))
	a.Append(seqs(5, 6))
	SendNote(a, Note{})
	if a.Stored() != 2 || a.Err() == nil || a.Err().Error() != "event: archive r: disk full" {
		t.Errorf("%d stored, %v", a.Stored(), a.Err())
	}
	s := NewArchive(&forgetful{}, p, ArchiveConfig{Sync: func() error { return errors.New("not on disk") }})
	s.Append(seqs(1, 2))
	if s.Stored() != 0 || s.Err() == nil {
		t.Errorf("%d stored, %v", s.Stored(), s.Err())
	}
}

// TestArchiveRoundTrip reads an archive back.
func TestArchiveRoundTrip(t *testing.T) {
	p := line(t)
	all := collected(t, p, 5, 200)
	var b bytes.Buffer
	start := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	a := NewArchive(&b, p, ArchiveConfig{Run: "call 17", Start: start})
	a.Append(all[:10])
	SendNote(a, Note{After: 10, At: 5, Kind: Late, Value: 7})
	a.Append(all[10:])
	r, err := NewReader(bytes.NewReader(append(b.Bytes(), `{"seq":99999,"ki`...)))
	if err != nil {
		t.Fatal(err)
	}
	want := Header{Format: archiveFormat, Version: archiveVersion, Net: "line", Hash: Hash(p),
		Run: "call 17", Start: start, Complete: true}
	if r.Header != want {
		t.Errorf("header %+v", r.Header)
	}
	var got []petri.Event
	for {
		e, err := r.Next()
		if err != nil {
			break
		}
		got = append(got, e)
	}
	if !slices.Equal(got, all) || !r.Cut() {
		t.Errorf("%d of %d events came back, cut %t", len(got), len(all), r.Cut())
	}
}

func TestHashSeesTheNet(t *testing.T) {
	base := func() *petri.Net {
		const a, b = petri.Place[edge]("a"), petri.Place[edge]("b")
		return &petri.Net{Name: "n", Env: []petri.Env{{Place: a, Capacity: 3}}, Sinks: []petri.AnyPlace{b},
			Transitions: []petri.Transition{{Name: "move", In: petri.Arcs{a}, Out: petri.And(b)}}}
	}
	hash := func(change func(*petri.Net)) string {
		n := base()
		change(n)
		p, err := petri.Compile(n)
		if err != nil {
			t.Fatal(err)
		}
		return Hash(p)
	}
	same := hash(func(*petri.Net) {})
	if hash(func(*petri.Net) {}) != same {
		t.Error("the hash changes by itself")
	}
	for name, change := range map[string]func(*petri.Net){
		"name":     func(n *petri.Net) { n.Name = "m" },
		"capacity": func(n *petri.Net) { n.Env[0].Capacity = 4 },
		"wait":     func(n *petri.Net) { n.Transitions[0].When = petri.After(1) },
		"guard": func(n *petri.Net) {
			n.Transitions[0].Guard = func(k *petri.Keys) bool { return petri.Place[edge]("a").Key(k) == 0 }
		},
		"initial":  func(n *petri.Net) { n.Init = []petri.Token{petri.Place[edge]("a").Token(1)} },
		"priority": func(n *petri.Net) { n.Transitions[0].Priority = 1 },
	} {
		if hash(change) == same {
			t.Errorf("the hash does not see a change of %s", name)
		}
	}
}
