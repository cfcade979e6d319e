package journaltest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/voicegw/voicegw/journal"
)

func closeCases() []struct {
	name string
	run  func(*testing.T, func(*testing.T, string) journal.Engine)
} {
	return []struct {
		name string
		run  func(*testing.T, func(*testing.T, string) journal.Engine)
	}{
		{"everything is there again", reopen},
		{"close at work", closeAtWork},
	}
}

// reopen closes an engine and opens another on its store, twice.
func reopen(t *testing.T, open func(*testing.T, string) journal.Engine) {
	st := newStore(t, open)
	s := newSuite(t, st.engine(), "again")
	if s.e.Durability() == journal.ProcessLocal {
		return // nothing survives, and it says so
	}
	log, want := s.key("log"), []string{}
	var rev uint64
	for round := range 3 {
		w := s.open(log, fmt.Sprint("node ", round))
		if w.Epoch() != uint64(round)+1 || w.Claimed() != uint64(len(want))+1 {
			s.Errorf("round %d: epoch %d, claim %d", round, w.Epoch(), w.Claimed())
		}
		want = append(want, fmt.Sprint("=node ", round))
		for i := range 30 {
			want = append(want, fmt.Sprint("round ", round, " record ", i))
			s.append(w, want[len(want)-1])
		}
		s.await(w, uint64(len(want)))
		rev = s.put(s.key("doc"), fmt.Sprint("round ", round), rev)
		if round == 0 {
			s.fill(s.key("archived"), 3)
			s.is("archive", s.e.Archive(s.ctx, s.key("archived")), nil)
			s.fill(s.key("deleted"), 3)
			s.is("delete", s.e.Delete(s.ctx, s.key("deleted")), nil)
			gone := s.put(s.key("gone"), "x", 0)
			s.is("remove", s.e.Remove(s.ctx, s.key("gone"), gone), nil)
		}
		s.is("close", s.e.Close(), nil)
		s.e = st.engine()
		s.holds(log, want...)
		s.holds(s.key("archived"), "=filler", "2", "3", ".")
		s.is("a deleted log", s.firstError(s.key("deleted"), false), journal.ErrNotFound)
		if d, err := s.e.Get(s.ctx, s.key("doc")); err != nil || string(d.Value) != fmt.Sprint("round ", round) ||
			d.Revision != rev {
			s.Errorf("document: %+v, %v", d, err)
		}
		_, err := s.e.Get(s.ctx, s.key("gone"))
		s.is("a document that was removed", err, journal.ErrNotFound)
		_, err = s.e.Open(s.ctx, s.key("archived"), "b")
		s.is("open an archived log", err, journal.ErrArchived)
	}
}

// closeAtWork closes an engine while writers write and readers read.
func closeAtWork(t *testing.T, open func(*testing.T, string) journal.Engine) {
	st := newStore(t, open)
	s := newSuite(t, st.engine(), "work")
	var wg sync.WaitGroup
	var mu sync.Mutex
	acked := map[string]uint64{}
	busy := make(chan struct{}, 1000)
	for g := range 4 {
		log := s.key(fmt.Sprint("log", g))
		w := s.open(log, "a")
		s.write(w, "first")
		wg.Go(func() {
			for i := 0; ; i++ {
				if _, err := w.Append(fmt.Append(nil, i)); errors.Is(err, journal.ErrWindowFull) {
					_ = w.Await(s.ctx, w.Acked()+1)
				} else if err != nil {
					s.is("append while the engine closes", err, journal.ErrClosed)
					break
				}
				if i == 20 {
					busy <- struct{}{}
				}
			}
			mu.Lock()
			defer mu.Unlock()
			acked[log] = w.Acked()
		})
		wg.Go(func() {
			var last error
			for _, err := range s.e.Read(s.ctx, log, 1, true) {
				last = err
			}
			s.is("live reader when the engine closes", last, journal.ErrClosed)
		})
	}
	idle := s.fill(s.key("idle"), 3)
	wg.Go(func() {
		s.is("watcher when the engine closes", s.e.Watch(s.ctx, s.key(""), func(journal.Doc) {}), journal.ErrClosed)
	})
	for range 4 {
		<-busy
	}
	s.is("close", s.e.Close(), nil)
	wg.Wait()
	s.useless(idle, journal.ErrClosed)
	s.is("close again", s.e.Close(), nil)
	closed(s)
	if s.e.Durability() == journal.ProcessLocal {
		return
	}
	s.e = st.engine()
	for log, seq := range acked {
		if list := s.read(log, 1); uint64(len(list)) < seq {
			s.Errorf("%s has %d records; %d were acked", log, len(list), seq)
		}
		s.write(s.open(log, "b"), "goes on")
	}
}

// closed checks that an engine that is closed says so.
func closed(s *suite) {
	key := s.key("idle")
	_, open := s.e.Open(s.ctx, key, "b")
	_, last := s.e.Last(s.ctx, key)
	_, get := s.e.Get(s.ctx, key)
	_, put := s.e.Put(s.ctx, key, nil, 0)
	_, list := s.e.List(s.ctx, journal.Query{})
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	for name, err := range map[string]error{
		"Open": open, "Read": s.firstError(key, false), "live": s.firstError(key, true), "Last": last,
		"Archive": s.e.Archive(s.ctx, key), "Delete": s.e.Delete(s.ctx, key), "Get": get, "Put": put,
		"Remove": s.e.Remove(s.ctx, key, 0), "List": list, "Watch": s.e.Watch(ctx, "", func(journal.Doc) {}),
	} {
		s.is(name+" of an engine that is closed", err, journal.ErrClosed)
	}
}
