package event

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// faulty is a memory that fails at an event, or blocks there until it is freed.
type faulty struct {
	memory
	at   uint64
	free chan struct{} // nil: fail
	err  error
}

func (f *faulty) Append(events []petri.Event) {
	if last := events[len(events)-1].Seq; f.at != 0 && last >= f.at {
		if f.free == nil {
			f.err = errors.New("disk full")
			return
		}
		<-f.free
	}
	f.memory.Append(events)
}

func (f *faulty) Err() error { return f.err }

// TestQueueFails checks that a failing store fails the queue, which then notifies once and passes
// nothing on.
func TestQueueFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &faulty{at: 3}
		q := NewQueue(f, QueueConfig{})
		notified := 0
		q.Notify(func() { notified++ })
		done := make(chan error, 1)
		go func() { done <- q.Run(context.Background()) }()
		q.Append(seqs(1, 2))
		synctest.Wait()
		if q.Err() != nil || q.Stored() != 2 || notified != 1 {
			t.Fatalf("%v, %d stored, notified %d times", q.Err(), q.Stored(), notified)
		}
		q.Append(seqs(3, 3))
		<-q.Failed()
		if err := <-done; err == nil || !errors.Is(q.Err(), err) || err.Error() != "disk full" {
			t.Errorf("Run: %v, Err: %v", err, q.Err())
		}
		f.at, f.err = 0, nil // the disk works again
		q.Append(seqs(4, 4))
		synctest.Wait()
		if q.Stored() != 2 || notified != 2 || len(f.events) != 2 || !f.incomplete {
			t.Errorf("%d stored, notified %d times, %d passed on, incomplete %t",
				q.Stored(), notified, len(f.events), f.incomplete)
		}
	})
}

// TestQueueStalls checks that a blocked store counts as failed after Stall, and that what it stores
// later does not count.
func TestQueueStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &faulty{at: 3, free: make(chan struct{})}
		q := NewQueue(f, QueueConfig{Stall: time.Second, AfterFunc: time.AfterFunc})
		done := make(chan error, 1)
		go func() { done <- q.Run(context.Background()) }()
		q.Append(seqs(1, 2))
		synctest.Wait()
		began := time.Now()
		q.Append(seqs(3, 3))
		synctest.Wait()
		q.Append(seqs(4, 9))
		if q.Err() != nil {
			t.Error("failed at once")
		}
		<-q.Failed()
		if after := time.Since(began); after != time.Second || !errors.Is(q.Err(), ErrStalled) {
			t.Errorf("after %v: %v", after, q.Err())
		}
		close(f.free)
		if err := <-done; !errors.Is(err, ErrStalled) {
			t.Errorf("Run: %v", err)
		}
		if q.Stored() != 2 || len(f.events) != 3 || !f.incomplete {
			t.Errorf("%d stored, %d passed on, incomplete %t", q.Stored(), len(f.events), f.incomplete)
		}
	})
}

// TestQueueBearsSlowness checks that a store that is slow, but within Stall each time, does not
// fail.
func TestQueueBearsSlowness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(slow{}, QueueConfig{Stall: time.Second, AfterFunc: time.AfterFunc})
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- q.Run(ctx) }()
		for n := uint64(1); n <= 20; n++ {
			q.Append(seqs(n, n))
			time.Sleep(500 * time.Millisecond)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// slow is a store that takes its time.
type slow struct{}

func (slow) Append([]petri.Event) { time.Sleep(900 * time.Millisecond) }
func (slow) Stored() uint64       { return 0 }

// TestFailurePassesOn checks that Tee reports the failure of a store that it wraps, and that
// Optional does not.
func TestFailurePassesOn(t *testing.T) {
	f := &faulty{at: 3}
	for name, s := range map[string]Store{"tee": Tee(NewRing(8), f)} {
		f.err = nil
		if err := Failure(s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		f.err = errors.New("disk full")
		if err := Failure(s); !errors.Is(err, f.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Failure(Tee(NewRing(8), NewRing(1))); err != nil {
		t.Error(err)
	}
	f = &faulty{at: 3}
	ring := NewRing(8)
	both := Tee(ring, Optional(f))
	both.Append(seqs(1, 2))
	if both.Stored() != 2 || Failure(both) != nil {
		t.Errorf("%d stored, %v", both.Stored(), Failure(both))
	}
	f.lag = 1
	if both.Stored() != 1 {
		t.Errorf("%d stored; it must wait for the optional store while that works", both.Stored())
	}
	both.Append(seqs(3, 4))
	if both.Stored() != 4 || Failure(both) != nil {
		t.Errorf("after a failure of the optional store %d stored, %v", both.Stored(), Failure(both))
	}
}

func TestOptionalPassesOn(t *testing.T) {
	var m memory
	o := Optional(&m)
	called := false
	o.(Notifier).Notify(func() { called = true })
	m.notify()
	SendNote(o, Note{})
	markIncomplete(o)
	if !called || len(m.notes) != 1 || !m.incomplete {
		t.Errorf("called %t, %d notes, incomplete %t", called, len(m.notes), m.incomplete)
	}
}

// flaky is a writer whose n-th write, counted from 1, is torn: it writes half.
type flaky struct {
	bytes.Buffer
	n, at int
	quiet bool // the torn write returns no error
}

func (f *flaky) Write(b []byte) (int, error) {
	if f.n++; f.n == f.at {
		n, _ := f.Buffer.Write(b[:len(b)/2])
		if f.quiet {
			return n, nil
		}
		return n, errors.New("disk full")
	}
	return f.Buffer.Write(b)
}

// TestArchiveIsNotResumed checks an archive whose writer failed and works again. The archive says
// that it is incomplete, Reader reads it up to there, and Replay refuses it.
func TestArchiveIsNotResumed(t *testing.T) {
	p := line(t)
	all := collected(t, p, 5, 200)
	for _, quiet := range []bool{false, true} {
		w := &flaky{at: 3, quiet: quiet}
		a := NewArchive(w, p, ArchiveConfig{})
		for _, part := range [][]petri.Event{all[:10], all[10:20], all[20:30], all[30:40]} {
			a.Append(part)
		}
		if a.Stored() != 20 || a.Err() == nil {
			t.Errorf("%d stored, %v", a.Stored(), a.Err())
		}
		a.Incomplete()
		a.Incomplete()
		a.Append(all[40:50])
		SendNote(a, Note{})
		text := w.String()
		const mark = "\n" + `{"note":"incomplete","after":20}` + "\n"
		if n := strings.Count(text, `"note"`); n != 1 || !strings.HasSuffix(text, mark) {
			t.Errorf("%d notes; the archive ends %q", n, text[len(text)-80:])
		}
		if _, err := Replay(p, strings.NewReader(text)); !errors.Is(err, ErrIncomplete) {
			t.Errorf("replay: %v", err)
		}
		r, err := NewReader(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for err == nil {
			var e petri.Event
			if e, err = r.Next(); err == nil && e != all[n] {
				t.Fatalf("event %d is %v", n, e)
			} else if err == nil {
				n++
			}
		}
		if n < 20 || n >= 30 || !errors.Is(err, ErrIncomplete) {
			t.Errorf("%d events, then %v", n, err)
		}
	}
}

// TestArchiveMarkWaits checks that Incomplete can be called again after the writer refused the
// note.
func TestArchiveMarkWaits(t *testing.T) {
	p := line(t)
	w := &flaky{at: 2}
	a := NewArchive(w, p, ArchiveConfig{})
	a.Append(collected(t, p, 5, 20))
	a.Incomplete()
	a.Incomplete()
	if _, err := Replay(p, strings.NewReader(w.String())); !errors.Is(err, ErrIncomplete) {
		t.Errorf("replay: %v", err)
	}
}

// TestReaderTearsOnlyBeforeTheMark checks that a torn line anywhere else is damage.
func TestReaderTearsOnlyBeforeTheMark(t *testing.T) {
	p := line(t)
	var b bytes.Buffer
	a := NewArchive(&b, p, ArchiveConfig{})
	a.Append(collected(t, p, 5, 20))
	lines := strings.SplitAfter(b.String(), "\n")
	lines[3] = lines[3][:5] + "\n"
	r, err := NewReader(strings.NewReader(strings.Join(lines, "") + `{"note":"incomplete"}` + "\n"))
	for err == nil {
		_, err = r.Next()
	}
	if errors.Is(err, ErrIncomplete) || errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "line 4") {
		t.Errorf("got %v", err)
	}
}
