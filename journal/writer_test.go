package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// wait is a call of Await or Close that may still wait.
type wait struct {
	name   string
	seq    uint64
	close  bool
	cancel context.CancelFunc
	got    chan error // holds the result

	done bool  // what the model says
	want error // nil, or what the result wraps; any is errAny
}

var errAny = errors.New("any error")

// model is a second writer, that knows only the rules. It lets commits go on one at a time.
type model struct {
	t        *testing.T
	w        journal.Writer
	outcomes chan error // ends the commit that runs
	commits  chan commit

	next, acked uint64
	flight      [][]byte // what the commit that runs must have
	queue       [][]byte
	records     int
	bytes       int
	closed      bool
	err         error
	waits       []*wait
}

type commit struct {
	first   uint64
	records [][]byte
}

func newModel(t *testing.T, claimed uint64) *model {
	m := &model{t: t, outcomes: make(chan error), commits: make(chan commit, 1), next: claimed + 1, acked: claimed}
	m.w = journal.NewWriter(7, claimed, func(first uint64, records [][]byte) error {
		select {
		case m.commits <- commit{first, records}:
		default:
			t.Error("two commits at once")
		}
		return <-m.outcomes
	})
	return m
}

func (m *model) append(size int) {
	data := bytes.Repeat([]byte{byte(m.next)}, size)
	var want error
	switch {
	case size == 0, size > journal.RecordMax:
		want = errAny
	case m.err != nil:
		want = m.err
	case m.closed:
		want = journal.ErrClosed
	case m.records == journal.WindowRecords, m.bytes+size > journal.WindowBytes:
		want = journal.ErrWindowFull
	}
	seq, err := m.w.Append(data)
	if !same(err, want) || err == nil && seq != m.next {
		m.t.Fatalf("append %d bytes: %d, %v; want %d, %v", size, seq, err, m.next, want)
	}
	if want != nil {
		return
	}
	m.queue = append(m.queue, bytes.Clone(data))
	clear(data) // the writer has a copy
	m.next++
	m.records++
	m.bytes += size
	m.begin()
}

func same(got, want error) bool {
	if errors.Is(want, journal.ErrClosed) && errors.Is(got, journal.ErrStore) {
		return false // nothing is wrong with the store
	}
	return got == nil && want == nil || got != nil && (errors.Is(want, errAny) || errors.Is(got, want)) && want != nil
}

// begin is the start of a commit, if none runs.
func (m *model) begin() {
	synctest.Wait()
	if m.flight != nil || len(m.queue) == 0 || m.err != nil {
		return
	}
	m.flight, m.queue = m.queue, nil
	select {
	case c := <-m.commits:
		if c.first != m.acked+1 || len(c.records) != len(m.flight) {
			m.t.Fatalf("a commit of %d records from %d; want %d from %d", len(c.records), c.first, len(m.flight), m.acked+1)
		}
		for i := range c.records {
			if !bytes.Equal(c.records[i], m.flight[i]) {
				m.t.Fatalf("record %d has changed", c.first+uint64(i))
			}
		}
	default:
		m.t.Fatal("nothing is committed")
	}
}

// finish ends the commit that runs.
func (m *model) finish(err error) {
	if m.flight == nil {
		return
	}
	m.outcomes <- err
	if err == nil {
		m.acked += uint64(len(m.flight))
		m.records -= len(m.flight)
		for _, b := range m.flight {
			m.bytes -= len(b)
		}
	} else if m.err == nil {
		m.fail(err)
	}
	m.flight = nil
	m.resolve()
	m.begin()
	m.resolve()
}

func (m *model) fail(err error) {
	m.err, m.queue = err, nil
	if !errors.Is(err, journal.ErrFenced) && !errors.Is(err, journal.ErrClosed) {
		m.err = journal.ErrStore
	}
}

func (m *model) await(seq uint64) {
	ctx, cancel := context.WithCancel(m.t.Context())
	a := &wait{name: fmt.Sprint("await ", seq), seq: seq, cancel: cancel, got: make(chan error, 1)}
	if seq >= m.next && m.err == nil {
		a.done, a.want = true, errAny
	}
	go func() { a.got <- m.w.Await(ctx, seq) }()
	m.waits = append(m.waits, a)
	m.resolve()
}

func (m *model) close() {
	ctx, cancel := context.WithCancel(m.t.Context())
	a := &wait{name: "close", seq: m.next - 1, close: true, cancel: cancel, got: make(chan error, 1)}
	m.closed = true
	go func() { a.got <- m.w.Close(ctx) }()
	m.waits = append(m.waits, a)
	m.resolve()
}

func (m *model) cancel(i int) {
	if len(m.waits) == 0 {
		return
	}
	a := m.waits[i%len(m.waits)]
	a.cancel()
	a.done, a.want = true, context.Canceled
	if a.close && m.err == nil {
		m.fail(journal.ErrClosed)
	}
	m.resolve()
}

// resolve compares what waits with what the model says.
func (m *model) resolve() {
	synctest.Wait()
	for again := true; again; { // a Close that returns ends other waits
		again = false
		for _, a := range m.waits {
			if a.done {
				continue
			}
			if a.seq <= m.acked {
				a.done = true
			} else if m.err != nil {
				a.done, a.want = true, m.err
			}
			if a.done && a.close && m.err == nil {
				m.fail(journal.ErrClosed)
				again = true
			}
		}
	}
	rest := m.waits[:0]
	for _, a := range m.waits {
		select {
		case err := <-a.got:
			if a.cancel(); !a.done || !same(err, a.want) {
				m.t.Fatalf("%s: %v; want %v, done %v; acked %d", a.name, err, a.want, a.done, m.acked)
			}
		default:
			if a.done {
				m.t.Fatalf("%s still waits; acked %d, %v", a.name, m.acked, m.err)
			}
			rest = append(rest, a)
		}
	}
	m.waits = rest
	if got := m.w.Acked(); got != m.acked {
		m.t.Fatalf("acked %d, want %d", got, m.acked)
	}
	select {
	case <-m.w.Failed():
		if m.err == nil {
			m.t.Fatal("it has failed")
		}
	default:
		if m.err != nil {
			m.t.Fatal("it has not failed: ", m.err)
		}
	}
}

// run does what the bytes say, two at a time.
func (m *model) run(ops []byte) {
	disk := errors.New("the disk is full")
	for ; len(ops) > 1; ops = ops[2:] {
		n := int(ops[1])
		switch ops[0] % 16 {
		case 0, 1, 2, 3:
			m.append(n + 1)
		case 4:
			m.append(journal.RecordMax - n)
		case 5:
			m.append([]int{0, journal.RecordMax + 1}[n%2])
		case 6:
			for range n {
				m.append(1)
			}
		case 7, 8, 9:
			m.finish(nil)
		case 10, 11:
			m.await(m.acked + uint64(n%8))
		case 12:
			m.await(uint64(n) * m.next / 255)
		case 13:
			m.cancel(n)
		case 14:
			if n%4 == 0 {
				m.finish([]error{journal.ErrFenced, journal.ErrStore, journal.ErrClosed, disk}[n/4%4])
			}
		case 15:
			if n%4 == 0 {
				m.close()
			}
		}
	}
	for m.flight != nil {
		m.finish(nil)
	}
	for len(m.waits) > 0 {
		m.cancel(0)
	}
}

// FuzzWriter holds a Writer to the model: what it refuses, what it commits, who waits and until when.
func FuzzWriter(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 1, 0, 2, 10, 1, 10, 3, 7, 0, 7, 0})                // two commits
	f.Add([]byte{6, 255, 6, 255, 7, 0, 6, 255, 15, 0, 7, 0, 7, 0})     // full of records, then closed
	f.Add([]byte{4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 7, 0, 4, 0})      // full of bytes
	f.Add([]byte{0, 1, 0, 1, 10, 1, 10, 2, 13, 0, 14, 0, 0, 0, 10, 2}) // fenced
	f.Add([]byte{0, 1, 0, 1, 15, 0, 13, 0, 7, 0, 10, 1, 10, 2})        // closed in vain
	f.Fuzz(func(t *testing.T, ops []byte) {
		synctest.Test(t, func(t *testing.T) { newModel(t, uint64(len(ops)%5)+1).run(ops[:min(len(ops), 400)]) })
	})
}

// TestWriterRandom does what FuzzWriter does, with chance.
func TestWriterRandom(t *testing.T) {
	for seed := range uint64(100) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		ops := make([]byte, 200)
		for i := range ops {
			ops[i] = byte(rnd.Uint32())
		}
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newModel(t, 1).run(ops) })
		}) {
			break
		}
	}
}

// TestWriterWindow fills the window to the last byte.
func TestWriterWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newModel(t, 1)
		for left := journal.WindowBytes; left > 0; left -= min(left, journal.RecordMax) {
			m.append(min(left, journal.RecordMax))
		}
		if m.bytes != journal.WindowBytes {
			t.Errorf("%d bytes wait, want %d", m.bytes, journal.WindowBytes)
		}
		m.append(1) // refused
		m.finish(nil)
		m.append(1)
		m.finish(nil)
		m.finish(nil)
	})
}

// TestWriterIdle says what a writer costs that has nothing to do: no goroutine, and little memory.
func TestWriterIdle(t *testing.T) {
	const n = 10_000
	w := make([]journal.Writer, n)
	before, heap := runtime.NumGoroutine(), heapInUse()
	for i := range w {
		w[i] = journal.NewWriter(1, 1, func(uint64, [][]byte) error { return nil })
		if _, err := w[i].Append([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := w[i].Await(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
	}
	each := (heapInUse() - heap) / n
	t.Logf("%d bytes of heap for an idle writer", each)
	if each > 1000 {
		t.Errorf("an idle writer has %d bytes of heap", each)
	}
	for runtime.NumGoroutine() > before+10 { // those that have just committed end
		runtime.Gosched()
	}
	runtime.KeepAlive(w)
}

func heapInUse() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc) //nolint:gosec // small
}

// TestMemoryFaults shows what callers see of an engine that misbehaves.
func TestMemoryFaults(t *testing.T) {
	full := errors.New("no space left on device")
	synctest.Test(t, func(t *testing.T) {
		e := journaltest.NewMemory()
		n := 0
		e.Before = func(log string, _ uint64, _ int) error {
			<-time.After(time.Hour) // a slow disk
			if n++; log == "before" && n == 2 {
				return full
			}
			return nil
		}
		e.Lost = func(log string, _ uint64, _ int) error {
			if log == "lost" {
				return full
			}
			return nil
		}
		for log, stored := range map[string]uint64{"before": 2, "lost": 2} {
			n = 0
			w, err := e.Open(t.Context(), log, "a")
			if err != nil {
				t.Fatal(err)
			}
			for i := range 3 { // the first alone, the others together
				if _, err := w.Append([]byte{byte(i + 1)}); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			}
			err = w.Await(t.Context(), 4)
			if !errors.Is(err, journal.ErrStore) || !errors.Is(err, full) {
				t.Errorf("%s: %v", log, err)
			}
			if last, err := e.Last(t.Context(), log); err != nil || last.Seq != stored {
				t.Errorf("%s: stored up to %d, %v", log, last.Seq, err)
			}
			if next, err := e.Open(t.Context(), log, "b"); err != nil || next.Claimed() != stored+1 {
				t.Errorf("%s: the next owner: %v", log, err)
			}
			if _, again := w.Append([]byte("x")); !errors.Is(again, full) {
				t.Errorf("%s: a writer that has failed: %v", log, again)
			}
		}
	})
}

// validKey is the rule of Engine as a pattern.
var validKey = regexp.MustCompile(`^[A-Za-z0-9]((/?[A-Za-z0-9_-])*/?[A-Za-z0-9])?$`)

// FuzzCheckKey compares CheckKey with the rule.
func FuzzCheckKey(f *testing.F) {
	for _, key := range []string{"", "a", "a/b", "a//b", "/a", "a/", "a_", "_a", "a-/-b", "é", strings.Repeat("a", 257)} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		err := journal.CheckKey(key)
		if (err == nil) != (len(key) <= journal.KeyMax && validKey.MatchString(key)) {
			t.Errorf("key %q: %v", key, err)
		}
		if err != nil && !strings.Contains(err.Error(), fmt.Sprintf("%q", key)) {
			t.Errorf("the error does not name %q: %v", key, err)
		}
	})
}

// BenchmarkWriter is the cost of the queue alone: one record at a time, and as many as fit.
func BenchmarkWriter(b *testing.B) {
	for _, each := range []int{1, 64} {
		b.Run(fmt.Sprint("await every ", each), func(b *testing.B) {
			w := journal.NewWriter(1, 1, func(uint64, [][]byte) error { return nil })
			data := make([]byte, 400)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				seq, err := w.Append(data)
				if err == nil && i%each == 0 {
					err = w.Await(b.Context(), seq)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
