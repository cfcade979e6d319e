package journaltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/voicegw/voicegw/journal"
)

func (s *suite) dense() {
	log := s.key("log")
	w := s.open(log, "node a")
	if w.Epoch() != 1 || w.Claimed() != 1 || w.Acked() != 1 {
		s.Errorf("a new log: epoch %d, claim %d, acked %d, want 1 of each", w.Epoch(), w.Claimed(), w.Acked())
	}
	want := []string{"=node a"}
	buf := make([]byte, 0, 100)
	for i := range 700 {
		buf = fmt.Append(buf[:0], "record ", i)
		want = append(want, string(buf))
		if seq := s.append(w, string(buf)); seq != uint64(i)+2 {
			s.Fatalf("append %d got the number %d", i, seq)
		}
		copy(buf, "xxxxxxxxxxx") // the writer keeps no reference
	}
	last := uint64(len(want))
	s.await(w, last)
	s.await(w, 1)
	if w.Acked() != last {
		s.Errorf("acked %d, want %d", w.Acked(), last)
	}
	if err := w.Await(s.ctx, last+1); err == nil {
		s.Error("await of a number that no record has")
	}
	s.holds(log, want...)
	if r, err := s.e.Last(s.ctx, log); err != nil || r.Seq != last || text(r) != want[last-1] {
		s.Errorf("last: %s, %v", show(r), err)
	}
}

func (s *suite) sizes() {
	log := s.key("log")
	w := s.open(log, "")
	for _, size := range []int{0, journal.RecordMax + 1} {
		if _, err := w.Append(make([]byte, size)); err == nil || !strings.Contains(err.Error(), fmt.Sprint(size)) {
			s.Errorf("a record of %d bytes: %v", size, err)
		}
	}
	// Every byte, and a size that no message and no page holds.
	all := make([]byte, journal.RecordMax)
	for i := range all {
		all[i] = byte(i)
	}
	s.write(w, "\x00", string(all), string(all), "\xff\xfe")
	s.holds(log, "=", "\x00", string(all), string(all), "\xff\xfe")
}

func (s *suite) window() {
	log := s.key("log")
	w := s.open(log, "a")
	want := []string{"=a"}
	full := 0
	large := strings.Repeat("x", journal.RecordMax)
	for i := range 40 {
		data := large
		if i%2 == 0 {
			data = fmt.Sprint(i)
		}
		seq, err := w.Append([]byte(data))
		if errors.Is(err, journal.ErrWindowFull) {
			full++
			s.await(w, w.Acked()+1)
			seq = s.append(w, data)
		} else if err != nil {
			s.Fatal(err)
		}
		want = append(want, data)
		if seq != uint64(len(want)) { // a refusal takes no number
			s.Fatalf("got the number %d, want %d", seq, len(want))
		}
	}
	s.await(w, uint64(len(want)))
	s.Log("the window was full", full, "times")
	s.holds(log, want...)
}

func (s *suite) awaitRace() {
	log := s.key("log")
	w := s.open(log, "a")
	const writers, each = 16, 60
	var wg sync.WaitGroup
	var mu sync.Mutex
	want := map[uint64]string{}
	for g := range writers {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(g), 1))
			var mine []uint64
			for i := range each {
				data := fmt.Sprint(g, "/", i)
				seq := s.tryAppend(w, data)
				mu.Lock()
				want[seq] = data
				mu.Unlock()
				mine = append(mine, seq)
				seq = mine[rnd.IntN(len(mine))]
				ctx, cancel := context.WithCancel(s.ctx)
				if rnd.IntN(4) == 0 {
					cancel()
				}
				err := w.Await(ctx, seq)
				if err == nil && w.Acked() < seq || err != nil && !errors.Is(err, context.Canceled) {
					s.Errorf("await %d: %v; acked %d", seq, err, w.Acked())
				}
				cancel()
			}
		})
	}
	wg.Wait()
	s.await(w, writers*each+1)
	list := s.read(log, 2)
	if len(list) != writers*each || len(want) != len(list) {
		s.Errorf("%d records, %d numbers, want %d", len(list), len(want), writers*each)
	}
	for _, r := range list {
		if text(r) != want[r.Seq] {
			s.Errorf("%s, want %q", show(r), want[r.Seq])
		}
	}
}

// tryAppend is append for other goroutines than that of the test. It returns 0 if the writer fails.
func (s *suite) tryAppend(w journal.Writer, data string) uint64 {
	for {
		seq, err := w.Append([]byte(data))
		if err == nil {
			return seq
		}
		if !errors.Is(err, journal.ErrWindowFull) {
			s.Errorf("append: %v", err)
			return 0
		}
		if err := w.Await(s.ctx, w.Acked()+1); err != nil {
			s.Errorf("await: %v", err)
			return 0
		}
	}
}

func (s *suite) fence() {
	log := s.key("log")
	a := s.open(log, "a")
	s.write(a, "1", "2")
	b := s.open(log, "b")
	if b.Epoch() <= a.Epoch() || b.Claimed() != 4 || b.Acked() != 4 {
		s.Errorf("the second owner: epoch %d, claim %d, acked %d", b.Epoch(), b.Claimed(), b.Acked())
	}
	s.useless(a, journal.ErrFenced) // it was paused while b came
	s.await(a, 3)                   // what was stored stays stored
	if a.Acked() != 3 {
		s.Errorf("the fenced writer has acked %d, want 3", a.Acked())
	}
	s.is("close of a fenced writer that has lost a record", a.Close(s.ctx), journal.ErrFenced)
	s.write(b, "3")
	s.useless(a, journal.ErrFenced)

	// Records that wait while another owner comes are stored in front of its claim or never.
	var queued []string
	for i := range 50 {
		queued = append(queued, fmt.Sprint("queued ", i))
		s.append(b, queued[i])
	}
	c := s.open(log, "c")
	s.useless(b, journal.ErrFenced)
	s.write(c, "4")
	want := append([]string{"=a", "1", "2", "=b", "3"}, queued...)
	if c.Claimed() < 6 || c.Claimed() > uint64(len(want))+1 || b.Acked() >= c.Claimed() {
		s.Fatalf("the claim has the number %d, the owner before has acked %d", c.Claimed(), b.Acked())
	}
	s.holds(log, append(want[:c.Claimed()-1], "=c", "4")...)
}

// owners lets nodes of the same name claim a log at once, again and again. What one of them has acked is
// there, one at a time has the log, and one has it in the end.
func (s *suite) owners() {
	for round := range 6 {
		log := s.key(fmt.Sprint("log", round))
		if round%2 == 1 {
			s.fill(log, 3)
		}
		c := &contest{acked: map[uint64]string{}, writers: map[uint64]journal.Writer{}}
		var wg sync.WaitGroup
		begin := make(chan struct{})
		for n := range 8 {
			wg.Go(func() {
				<-begin
				w, err := s.e.Open(s.ctx, log, "node")
				if err == nil {
					c.enter(s, w, fmt.Sprint("node ", n))
				} else if !errors.Is(err, journal.ErrFenced) {
					s.Errorf("open: %v", err)
				}
			})
		}
		close(begin)
		wg.Wait()
		c.judge(s, log)
	}
}

// contest is what the owners of a log know who claim it at once.
type contest struct {
	mu      sync.Mutex
	acked   map[uint64]string
	writers map[uint64]journal.Writer // by epoch
}

// enter stores records until another owner comes.
func (c *contest) enter(s *suite, w journal.Writer, name string) {
	c.mu.Lock()
	if c.writers[w.Epoch()] != nil {
		s.Errorf("two writers have the epoch %d", w.Epoch())
	}
	c.writers[w.Epoch()] = w
	c.mu.Unlock()
	for i := range 20 {
		data := fmt.Sprint(name, " record ", i)
		seq, err := w.Append([]byte(data))
		if err == nil {
			err = w.Await(s.ctx, seq)
		}
		if err != nil {
			s.is(name, err, journal.ErrFenced)
			return
		}
		c.mu.Lock()
		if old := c.acked[seq]; old != "" {
			s.Errorf("%q and %q were both acked as record %d", old, data, seq)
		}
		c.acked[seq] = data
		c.mu.Unlock()
	}
}

func (c *contest) judge(s *suite, log string) {
	s.Helper()
	var last uint64
	for epoch := range c.writers {
		last = max(last, epoch)
	}
	if last == 0 {
		s.Fatal("nobody owns the log")
	}
	for epoch, w := range c.writers {
		if epoch < last {
			s.useless(w, journal.ErrFenced)
		}
	}
	s.write(c.writers[last], "the last owner goes on")
	var epoch uint64
	for _, r := range s.read(log, 1) {
		if (r.Kind == journal.Claim) != (r.Epoch > epoch) {
			s.Errorf("%s behind epoch %d", show(r), epoch)
		}
		epoch = r.Epoch
		if want, ok := c.acked[r.Seq]; ok && text(r) != want {
			s.Errorf("%s, but %q was acked", show(r), want)
		}
		delete(c.acked, r.Seq)
	}
	if len(c.acked) > 0 {
		s.Errorf("%d acked records are lost: %v", len(c.acked), c.acked)
	}
}

func (s *suite) archive() {
	log := s.key("log")
	s.is("archive nothing", s.e.Archive(s.ctx, log), journal.ErrNotFound)
	w := s.open(log, "a")
	s.write(w, "1")
	for range 2 {
		s.is("archive", s.e.Archive(s.ctx, log), nil)
	}
	s.holds(log, "=a", "1", ".")
	if r, err := s.e.Last(s.ctx, log); err != nil || r.Kind != journal.Archived || r.Seq != 3 {
		s.Errorf("last: %s, %v", show(r), err)
	}
	s.useless(w, journal.ErrFenced)
	_, err := s.e.Open(s.ctx, log, "b")
	s.is("open an archived log", err, journal.ErrArchived)
	s.holds(log, "=a", "1", ".")

	// Whoever owns it, and while it writes.
	busy := s.key("busy")
	w = s.open(busy, "a")
	for i := range 100 {
		s.append(w, fmt.Sprint(i))
	}
	s.is("archive a busy log", s.e.Archive(s.ctx, busy), nil)
	s.useless(w, journal.ErrFenced)
	list := s.read(busy, 1)
	if last := list[len(list)-1]; last.Kind != journal.Archived || w.Acked() >= last.Seq {
		s.Errorf("the last one is %s; acked %d", show(last), w.Acked())
	}
}

func (s *suite) delete() {
	log := s.key("log")
	s.is("delete nothing", s.e.Delete(s.ctx, log), nil)
	old := s.open(log, "a")
	s.write(old, "1", "2", "3")
	idle := s.fill(s.key("other"), 3)
	s.is("delete", s.e.Delete(s.ctx, log), nil)
	s.is("delete again", s.e.Delete(s.ctx, log), nil)
	_, err := s.e.Last(s.ctx, log)
	s.is("last of a deleted log", err, journal.ErrNotFound)
	s.is("archive a deleted log", s.e.Archive(s.ctx, log), journal.ErrNotFound)
	w := s.open(log, "b")
	if w.Claimed() != 1 {
		s.Errorf("the claim of the new log has the number %d", w.Claimed())
	}
	s.useless(old, journal.ErrFenced)
	s.write(w, "4", "5", "6")
	s.holds(log, "=b", "4", "5", "6")

	s.is("archive", s.e.Archive(s.ctx, log), nil)
	s.is("delete an archived log", s.e.Delete(s.ctx, log), nil)
	s.useless(w, journal.ErrFenced) // there is no log at all
	s.write(s.open(log, "c"), "7")
	s.holds(log, "=c", "7")
	s.write(idle, "4")
	s.holds(s.key("other"), "=filler", "2", "3", "4")
}

func (s *suite) closeWriter() {
	log := s.key("log")
	w := s.open(log, "a")
	want := []string{"=a"}
	for i := range 100 {
		want = append(want, fmt.Sprint(i))
		s.append(w, want[i+1])
	}
	s.is("close", w.Close(s.ctx), nil)
	s.holds(log, want...)
	s.useless(w, journal.ErrClosed)
	s.await(w, 101)
	s.is("close again", w.Close(s.ctx), nil)
	s.holds(log, want...)
	if w = s.open(log, "b"); w.Claimed() != 102 {
		s.Errorf("the next claim has the number %d, want 102", w.Claimed())
	}
}

func (s *suite) keys() {
	bad := []string{"", "/", "a/", "/a", "a//b", "a b", "a.b", "a*", ">", "ä", "a\n", "a\x00", "-a", "_a", "a-", "a_", "%",
		strings.Repeat("a", journal.KeyMax+1)}
	for _, key := range bad {
		calls := map[string]func() error{
			"Open":    func() error { _, err := s.e.Open(s.ctx, key, "a"); return err },
			"Read":    func() error { return s.firstError(key, false) },
			"live":    func() error { return s.firstError(key, true) },
			"Last":    func() error { _, err := s.e.Last(s.ctx, key); return err },
			"Archive": func() error { return s.e.Archive(s.ctx, key) },
			"Delete":  func() error { return s.e.Delete(s.ctx, key) },
			"Get":     func() error { _, err := s.e.Get(s.ctx, key); return err },
			"Put":     func() error { _, err := s.e.Put(s.ctx, key, []byte("x"), 0); return err },
			"Remove":  func() error { return s.e.Remove(s.ctx, key, 0) },
		}
		for name, call := range calls {
			if err := call(); err == nil || errors.Is(err, journal.ErrNotFound) || !strings.Contains(err.Error(),
				fmt.Sprintf("%q", key)) {
				s.Errorf("%s of the key %q: %v", name, key, err)
			}
		}
	}
	long := s.key(strings.Repeat("x", journal.KeyMax-len(s.key(""))))
	for _, key := range []string{"0", "Z", s.key("a/-b/_c/D-_d"), s.key("A/-b/_c/D-_d"), long} {
		s.write(s.open(key, key), "1")
		s.holds(key, "="+key, "1")
		rev, err := s.e.Put(s.ctx, key, []byte(key), 0)
		if d, gerr := s.e.Get(s.ctx, key); err != nil || gerr != nil || d.Key != key || d.Revision != rev ||
			!bytes.Equal(d.Value, []byte(key)) {
			s.Errorf("document %s: %+v, %v, %v", key, d, err, gerr)
		}
	}
}

// firstError is the error of a reader.
func (s *suite) firstError(log string, live bool) error {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	for _, err := range s.e.Read(ctx, log, 1, live) {
		return err
	}
	return nil
}

// apart writes to many logs at once, whose keys begin with each other.
func (s *suite) apart() {
	keys := []string{"a", "a/b", "a/b/c", "A", "a/B", "ab", "a-", "a_/b", "a/b/c/d", "b/a"}
	var wg sync.WaitGroup
	for i, name := range keys {
		keys[i] = s.key(name + "/0")
		wg.Go(func() {
			w, err := s.e.Open(s.ctx, keys[i], keys[i])
			if err != nil {
				s.Errorf("open %s: %v", keys[i], err)
				return
			}
			var last uint64
			for n := range 50 {
				last = s.tryAppend(w, fmt.Sprint(keys[i], " ", n))
			}
			if err := w.Await(s.ctx, last); err != nil {
				s.Errorf("await: %v", err)
			}
		})
	}
	wg.Wait()
	s.is("delete", s.e.Delete(s.ctx, keys[0]), nil)
	for _, key := range keys[1:] {
		want := []string{"=" + key}
		for n := range 50 {
			want = append(want, fmt.Sprint(key, " ", n))
		}
		s.holds(key, want...)
	}
}
