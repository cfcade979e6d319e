package journaltest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/voicegw/voicegw/journal"
)

func (s *suite) readFrom() {
	log := s.key("log")
	const n = 60
	w := s.fill(log, 20)
	for i := 21; i <= n-1; i++ {
		s.write(w, fmt.Sprint(i)) // many small messages behind large ones
	}
	s.open(log, "another")
	for from := uint64(0); from <= n+3; from++ {
		list := s.read(log, from)
		if want := max(0, n+1-int(max(from, 1))); len(list) != want { //nolint:gosec // small
			s.Errorf("from %d: %d records, want %d", from, len(list), want)
		}
		for _, r := range list {
			if r.Kind == journal.Data && text(r) != fmt.Sprint(r.Seq) {
				s.Errorf("from %d: %s", from, show(r))
			}
		}
	}
	if list := s.read(log, 1<<62); len(list) > 0 {
		s.Errorf("%d records from far beyond the end", len(list))
	}
	for stop := uint64(1); stop <= 3; stop++ { // a reader that has enough
		for r, err := range s.e.Read(s.ctx, log, 1, false) {
			if err != nil || r.Seq > stop {
				s.Fatalf("behind the end of the loop: %s, %v", show(r), err)
			}
			if r.Seq == stop {
				break
			}
		}
	}
}

func (s *suite) readLarge() {
	log := s.key("log")
	w := s.open(log, "a")
	want := []string{"=a"}
	for i := range 12 {
		want = append(want, strings.Repeat(fmt.Sprint(i%10), 700_000), fmt.Sprint("small ", i))
		s.append(w, want[len(want)-2])
		s.append(w, want[len(want)-1])
	}
	s.await(w, uint64(len(want)))
	s.holds(log, want...)
	if list := s.read(log, 20); len(list) != len(want)-19 || text(list[0]) != want[19] {
		s.Errorf("from 20: %d records, the first is %s", len(list), show(list[0]))
	}
}

func (s *suite) readMissing() {
	for _, live := range []bool{false, true} {
		for _, from := range []uint64{0, 1, 7} {
			n := 0
			for r, err := range s.e.Read(s.ctx, s.key("log"), from, live) {
				n++
				if s.is("read", err, journal.ErrNotFound); err == nil {
					s.Error(show(r))
				}
			}
			if n != 1 {
				s.Errorf("%d errors of a log that does not exist", n)
			}
		}
	}
	_, err := s.e.Last(s.ctx, s.key("log"))
	s.is("last", err, journal.ErrNotFound)
}

// follow reads a log live up to a number, or to its end if that is 0, and returns how it ended. each, if not
// nil, is called for every record.
func (s *suite) follow(ctx context.Context, log string, from, to uint64, each func(journal.Record)) error {
	next := max(from, 1)
	for r, err := range s.e.Read(ctx, log, from, true) {
		if err != nil {
			return err
		}
		if r.Seq != next || r.Kind == journal.Data && !strings.HasPrefix(text(r), fmt.Sprint(r.Seq)) {
			return fmt.Errorf("got %s, want record %d", show(r), next)
		}
		if each != nil {
			each(r)
		}
		if next++; r.Seq == to {
			return nil
		}
	}
	if to != 0 && next <= to {
		return fmt.Errorf("ended in front of record %d", next)
	}
	return nil
}

// followers starts readers of a log from several numbers and returns what waits for them.
func (s *suite) followers(log string, readers int, to uint64) (wait func()) {
	var wg sync.WaitGroup
	for i := range readers {
		from := uint64(i) % 7
		wg.Go(func() {
			if err := s.follow(s.ctx, log, from, to, nil); err != nil {
				s.Errorf("reader %d from %d: %v", i, from, err)
			}
		})
	}
	return wg.Wait
}

func (s *suite) readLive() {
	log := s.key("log")
	w := s.fill(log, 3)
	const n = 500
	wait := s.followers(log, 8, 0)
	seen := make(chan uint64, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.follow(s.ctx, log, 4, 0, func(r journal.Record) { seen <- r.Seq }); err != nil {
			s.Errorf("a reader in step: %v", err)
		}
		close(seen)
	})
	for i := 4; i <= n; i++ {
		s.append(w, fmt.Sprint(i))
		if i < 20 { // one at a time: a reader that waits is woken
			if seq := <-seen; seq != uint64(i) {
				s.Errorf("read %d, want %d", seq, i)
			}
		}
	}
	for i := 20; i <= n; i++ {
		<-seen
	}
	s.is("archive", s.e.Archive(s.ctx, log), nil) // ends them
	if seq := <-seen; seq != n+1 {
		s.Errorf("the end has the number %d, want %d", seq, n+1)
	}
	wg.Wait()
	wait()
	if err := s.follow(s.ctx, log, n, 0, nil); err != nil {
		s.Errorf("live reader of an archived log: %v", err)
	}
	if err := s.follow(s.ctx, log, n+2, 0, nil); err != nil {
		s.Errorf("live reader behind an archived log: %v", err)
	}
}

func (s *suite) readSlowly() {
	log := s.key("log")
	w := s.fill(log, 3)
	const n = 800
	step, done := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(done)
		if err := s.follow(s.ctx, log, 1, n, func(journal.Record) { <-step }); err != nil {
			s.Errorf("slow reader: %v", err)
		}
	})
	pad := strings.Repeat(".", 4000)
	for i := 4; i <= n; i++ { // far ahead of the reader, which has read nothing
		s.append(w, fmt.Sprint(i)+pad)
		if i%50 == 0 {
			step <- struct{}{}
		}
	}
	s.await(w, n)
	for {
		select {
		case step <- struct{}{}:
			continue
		case <-done:
		}
		break
	}
	wg.Wait()
}

func (s *suite) readMany() {
	log := s.key("log")
	w := s.fill(log, 10)
	const n = 200
	wait := s.followers(log, 100, n)
	for i := 11; i <= n; i++ {
		s.append(w, fmt.Sprint(i))
	}
	wait()
}

func (s *suite) readEnds() {
	log := s.key("log")
	w := s.fill(log, 3)
	// The context ends it, while it waits.
	ctx, cancel := context.WithCancel(s.ctx)
	err := s.follow(ctx, log, 1, 0, func(r journal.Record) {
		if r.Seq == 3 {
			cancel()
		}
	})
	s.is("a reader whose context ends", err, context.Canceled)
	cancel()

	// It waits for a number that is far ahead, and for the one behind the end.
	wait := s.followers(log, 7, 10)
	for i := 4; i <= 10; i++ {
		s.write(w, fmt.Sprint(i))
	}
	wait()

	// Delete ends it.
	ended, ready := make(chan error, 1), make(chan struct{})
	go func() {
		ended <- s.follow(s.ctx, log, 10, 0, func(journal.Record) { close(ready) })
	}()
	<-ready
	s.is("delete", s.e.Delete(s.ctx, log), nil)
	s.is("a reader of a deleted log", <-ended, journal.ErrNotFound)
}

// readReborn deletes a log that has a reader and begins another of the same key, faster than the reader looks,
// or while it is busy with a record.
func (s *suite) readReborn() {
	for round := range 5 {
		log := s.key(fmt.Sprint("log", round))
		s.fill(log, 5)
		ended, ready, goOn := make(chan error, 1), make(chan struct{}), make(chan struct{})
		go func() {
			for r, err := range s.e.Read(s.ctx, log, 5, true) {
				if err != nil {
					ended <- err
					return
				}
				if r.Seq != 5 {
					ended <- fmt.Errorf("got %s of the new log", show(r))
					return
				}
				close(ready)
				if round%2 == 0 {
					<-goOn
				}
			}
			ended <- errors.New("ended without an error")
		}()
		<-ready
		s.is("delete", s.e.Delete(s.ctx, log), nil)
		s.fill(log, 12)
		close(goOn)
		s.is("a reader of the log before", <-ended, journal.ErrNotFound)
		if list := s.read(log, 1); len(list) != 12 {
			s.Errorf("the new log has %d records", len(list))
		}
	}
}
