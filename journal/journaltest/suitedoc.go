package journaltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/voicegw/voicegw/journal"
)

// put stores a document and fails the test if it cannot.
func (s *suite) put(key, value string, expect uint64) uint64 {
	s.Helper()
	rev, err := s.e.Put(s.ctx, key, []byte(value), expect)
	if err != nil || rev <= expect {
		s.Fatalf("put %s behind revision %d: %d, %v", key, expect, rev, err)
	}
	return rev
}

// conflict checks that the document does not have a revision.
func (s *suite) conflict(key string, expect uint64) {
	s.Helper()
	_, err := s.e.Put(s.ctx, key, []byte("conflict"), expect)
	s.is(fmt.Sprint("put behind revision ", expect), err, journal.ErrConflict)
	if expect > 0 {
		s.is(fmt.Sprint("remove revision ", expect), s.e.Remove(s.ctx, key, expect), journal.ErrConflict)
	}
}

func (s *suite) documents() {
	key := s.key("doc")
	_, err := s.e.Get(s.ctx, key)
	s.is("get nothing", err, journal.ErrNotFound)
	s.is("remove nothing", s.e.Remove(s.ctx, key, 0), nil)
	s.is("remove a revision of nothing", s.e.Remove(s.ctx, key, 5), nil)
	_, err = s.e.Put(s.ctx, key, []byte("x"), 99)
	s.is("put behind a revision of nothing", err, journal.ErrConflict)

	value := []byte("one")
	first, err := s.e.Put(s.ctx, key, value, 0)
	s.is("put", err, nil)
	copy(value, "xxx") // the engine keeps no reference
	s.conflict(key, 0)
	s.conflict(key, first+1)
	d, err := s.e.Get(s.ctx, key)
	if err != nil || d.Key != key || string(d.Value) != "one" || d.Revision != first || d.At.IsZero() {
		s.Errorf("get: %+v, %v", d, err)
	}
	second := s.put(key, "one", first) // the same value is a change, too
	s.conflict(key, first)
	s.is("remove", s.e.Remove(s.ctx, key, second), nil)
	s.is("remove again", s.e.Remove(s.ctx, key, second), nil)
	_, err = s.e.Get(s.ctx, key)
	s.is("get what is removed", err, journal.ErrNotFound)
	_, err = s.e.Put(s.ctx, key, []byte("x"), second)
	s.is("put behind a revision that is removed", err, journal.ErrConflict)
	third := s.put(key, "", 0)
	if third <= second {
		s.Errorf("revision %d comes behind %d", third, second)
	}
	if d, err = s.e.Get(s.ctx, key); err != nil || len(d.Value) > 0 || d.Revision != third {
		s.Errorf("get an empty document: %+v, %v", d, err)
	}
	s.is("remove any revision", s.e.Remove(s.ctx, key, 0), nil)

	all := bytes.Repeat([]byte("\x00\xff\n"), journal.DocMax/3)
	if _, err := s.e.Put(s.ctx, key, append(all, 1), 0); err == nil || !strings.Contains(err.Error(), key) {
		s.Errorf("put a document that is too large: %v", err)
	}
	s.put(key, string(all), 0)
	if d, err = s.e.Get(s.ctx, key); err != nil || !bytes.Equal(d.Value, all) {
		s.Errorf("get the largest document: %d bytes, %v", len(d.Value), err)
	}
	s.is("log of the same key", s.firstError(key, false), journal.ErrNotFound)
}

// documentsRace lets many count in one document, and many make the same one.
func (s *suite) documentsRace() {
	const counters, each = 8, 12
	var wg sync.WaitGroup
	var mu sync.Mutex
	made := 0
	seen := map[uint64]bool{}
	for range counters {
		wg.Go(func() {
			if _, err := s.e.Put(s.ctx, s.key("once"), []byte("x"), 0); err == nil {
				mu.Lock()
				made++
				mu.Unlock()
			} else if !errors.Is(err, journal.ErrConflict) {
				s.Errorf("put: %v", err)
			}
			for range each {
				rev, err := s.count(s.key("counter"))
				mu.Lock()
				if err != nil || seen[rev] {
					s.Errorf("count: revision %d, %v", rev, err)
				}
				seen[rev] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	d, err := s.e.Get(s.ctx, s.key("counter"))
	if err != nil || len(d.Value) != counters*each || made != 1 {
		s.Errorf("counted to %d of %d, %v; made %d times", len(d.Value), counters*each, err, made)
	}
}

// count makes a document one byte longer.
func (s *suite) count(key string) (uint64, error) {
	for {
		d, err := s.e.Get(s.ctx, key)
		if err != nil && !errors.Is(err, journal.ErrNotFound) {
			return 0, err
		}
		rev, err := s.e.Put(s.ctx, key, append(slices.Clone(d.Value), '.'), d.Revision)
		if !errors.Is(err, journal.ErrConflict) {
			return rev, err
		}
	}
}

func (s *suite) list() {
	names := []string{"a/1", "a/10", "a/2", "a/B", "a/b", "a/b/c", "ab", "b/1"}
	for _, i := range []int{3, 1, 7, 0, 5, 2, 6, 4} {
		s.put(s.key(names[i]), names[i], 0)
	}
	s.put(s.key("a/gone"), "", 0)
	s.is("remove", s.e.Remove(s.ctx, s.key("a/gone"), 0), nil)
	for _, c := range []struct {
		prefix, after string
		reverse       bool
		limit         int
		want          string
	}{
		{"a/", "", false, 0, "a/1 a/10 a/2 a/B a/b a/b/c"},
		{"a", "", false, 0, "a/1 a/10 a/2 a/B a/b a/b/c ab"},
		{"a/1", "", false, 0, "a/1 a/10"},
		{"a/b", "", true, 0, "a/b/c a/b"},
		{"a/", "", true, 0, "a/b/c a/b a/B a/2 a/10 a/1"},
		{"a/", "", false, 2, "a/1 a/10"},
		{"a/", "a/10", false, 2, "a/2 a/B"},
		{"a/", "a/b", false, 2, "a/b/c"},
		{"a/", "a/b/c", false, 2, ""},
		{"a/", "a/15", false, 2, "a/2 a/B"}, // which does not exist
		{"a/", "a/2", true, 2, "a/10 a/1"},
		{"a/", "a/1", true, 2, ""},
		{"a/", "zz", true, 1, "a/b/c"},
		{"a/", "zz", false, 1, ""},
		{"c/", "", false, 0, ""},
		{"", "", false, 3, "a/1 a/10 a/2"},
	} {
		q := journal.Query{Prefix: s.key(c.prefix), Reverse: c.reverse, Limit: c.limit}
		if c.after != "" {
			q.After = s.key(c.after)
		}
		docs, err := s.e.List(s.ctx, q)
		var got []string
		for _, d := range docs {
			name := strings.TrimPrefix(d.Key, s.key(""))
			if got = append(got, name); string(d.Value) != name || d.Revision == 0 || d.At.IsZero() {
				s.Errorf("%s: %+v", name, d)
			}
		}
		if err != nil || strings.Join(got, " ") != c.want {
			s.Errorf("%+v: %v, %v, want %s", q, got, err, c.want)
		}
	}
}

// listMany pages through more documents than one call returns.
func (s *suite) listMany() {
	const n, at = journal.ListMax + 5, 16
	var wg sync.WaitGroup
	for g := range at {
		wg.Go(func() {
			for i := g; i < n; i += at {
				if _, err := s.e.Put(s.ctx, s.key(fmt.Sprintf("%05d", i)), []byte("x"), 0); err != nil {
					s.Errorf("put: %v", err)
				}
			}
		})
	}
	wg.Wait()
	for _, reverse := range []bool{false, true} {
		q := journal.Query{Prefix: s.key(""), Reverse: reverse}
		total := 0
		for _, want := range []int{journal.ListMax, 5, 0} {
			list, err := s.e.List(s.ctx, q)
			if err != nil || len(list) != want {
				s.Fatalf("%+v: %d documents, %v, want %d", q, len(list), err, want)
			}
			for _, d := range list {
				i := total
				if reverse {
					i = n - 1 - total
				}
				if d.Key != s.key(fmt.Sprintf("%05d", i)) {
					s.Fatalf("%+v: %s, want %05d", q, d.Key, i)
				}
				total++
				q.After = d.Key
			}
		}
	}
}

// watched is what a watcher has been told.
type watched struct {
	s    *suite
	docs chan journal.Doc
	last map[string]journal.Doc
}

// until reads what the watcher is told until the document has a value; "-" means that it is removed.
func (w *watched) until(key, value string) {
	w.s.Helper()
	for {
		select {
		case d := <-w.docs:
			old := w.last[d.Key]
			if d.Revision == 0 && (d.Value != nil || old.Revision == 0) || d.Revision > 0 && d.Revision <= old.Revision {
				w.s.Fatalf("told of %+v behind %+v", d, old)
			}
			w.last[d.Key] = d
			if d.Key == key && (d.Revision > 0 && string(d.Value) == value || d.Revision == 0 && value == "-") {
				return
			}
		case <-w.s.ctx.Done():
			w.s.Fatalf("not told that %s is %q; last: %+v", key, value, w.last)
		}
	}
}

func (s *suite) watch() {
	a, b, other := s.key("in/a"), s.key("in/b"), s.key("out")
	rev := s.put(a, "a1", 0)
	s.put(other, "o1", 0)
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	w := &watched{s: s, docs: make(chan journal.Doc, 1000), last: map[string]journal.Doc{}}
	ended := make(chan error, 1)
	go func() { ended <- s.e.Watch(ctx, s.key("in/"), func(d journal.Doc) { w.docs <- d }) }()
	w.until(a, "a1") // what there is
	rev = s.put(a, "a2", rev)
	w.until(a, "a2")
	s.put(b, "b1", 0)
	w.until(b, "b1")
	s.is("remove", s.e.Remove(s.ctx, a, rev), nil)
	w.until(a, "-")
	again := s.put(a, "a3", 0)
	w.until(a, "a3")
	for i := range 50 { // faster than it can look: the last one counts
		again = s.put(a, fmt.Sprint("fast ", i), again)
	}
	w.until(a, "fast 49")
	s.put(b, "", w.last[b].Revision) // empty is not removed
	w.until(b, "")
	s.is("remove", s.e.Remove(s.ctx, b, 0), nil)
	w.until(b, "-")
	if len(w.last) != 2 {
		s.Errorf("told of %v", w.last)
	}
	cancel()
	s.is("watch", <-ended, context.Canceled)
}
