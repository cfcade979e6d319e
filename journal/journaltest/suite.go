package journaltest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/journal"
)

// patience is how long a test waits for what must happen. Only a failing test waits that long.
const patience = time.Minute

// Run holds an engine to what package journal says. open opens an engine on the store in dir, an empty
// directory at first: two engines that are open one after the other on the same dir share a store, unless
// the Durability is ProcessLocal. The suite closes every engine. It never has two open on one store.
func Run(t *testing.T, open func(t *testing.T, dir string) journal.Engine) {
	e := open(t, t.TempDir())
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error("close:", err)
		}
	})
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) { c.run(newSuite(t, e, c.name)) })
	}
	for _, c := range closeCases() {
		t.Run(c.name, func(t *testing.T) { c.run(t, open) })
	}
}

func cases() []struct {
	name string
	run  func(*suite)
} {
	return []struct {
		name string
		run  func(*suite)
	}{
		{"numbers are dense", (*suite).dense},
		{"sizes", (*suite).sizes},
		{"the window", (*suite).window},
		{"await in any order", (*suite).awaitRace},
		{"a claim fences", (*suite).fence},
		{"owners race", (*suite).owners},
		{"archive", (*suite).archive},
		{"delete", (*suite).delete},
		{"a writer closes", (*suite).closeWriter},
		{"keys", (*suite).keys},
		{"logs are apart", (*suite).apart},
		{"read from anywhere", (*suite).readFrom},
		{"read large records", (*suite).readLarge},
		{"read what is missing", (*suite).readMissing},
		{"read live", (*suite).readLive},
		{"a slow reader", (*suite).readSlowly},
		{"a hundred readers", (*suite).readMany},
		{"a live reader ends", (*suite).readEnds},
		{"a live reader of a new log", (*suite).readReborn},
		{"documents", (*suite).documents},
		{"documents race", (*suite).documentsRace},
		{"list", (*suite).list},
		{"list many", (*suite).listMany},
		{"watch", (*suite).watch},
	}
}

// suite is one test of an engine.
type suite struct {
	*testing.T
	e    journal.Engine
	ctx  context.Context
	name string // which no key of another test begins with
}

func newSuite(t *testing.T, e journal.Engine, name string) *suite {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return &suite{T: t, e: e, ctx: ctx, name: strings.ReplaceAll(name, " ", "-")}
}

// key returns a key of the test.
func (s *suite) key(name string) string { return s.name + "/" + name }

// open claims a log and fails the test if it cannot.
func (s *suite) open(log, owner string) journal.Writer {
	s.Helper()
	w, err := s.e.Open(s.ctx, log, owner)
	if err != nil {
		s.Fatalf("open %s for %s: %v", log, owner, err)
	}
	return w
}

// append queues a record, when there is room for it.
func (s *suite) append(w journal.Writer, data string) uint64 {
	s.Helper()
	for {
		seq, err := w.Append([]byte(data))
		switch {
		case errors.Is(err, journal.ErrWindowFull):
			s.await(w, w.Acked()+1)
		case err != nil:
			s.Fatalf("append: %v", err)
		default:
			return seq
		}
	}
}

func (s *suite) await(w journal.Writer, seq uint64) {
	s.Helper()
	if err := w.Await(s.ctx, seq); err != nil {
		s.Fatalf("await %d: %v", seq, err)
	}
}

// write stores records.
func (s *suite) write(w journal.Writer, data ...string) {
	s.Helper()
	var last uint64
	for _, d := range data {
		last = s.append(w, d)
	}
	s.await(w, last)
}

// fill claims a new log and stores records in it: claim 1 and records 2 to n. Record i has the text of i.
func (s *suite) fill(log string, n int) journal.Writer {
	s.Helper()
	w := s.open(log, "filler")
	last := w.Claimed()
	for i := 2; i <= n; i++ {
		last = s.append(w, fmt.Sprint(i))
	}
	s.await(w, last)
	return w
}

// read returns what a log holds from a number on, as far as it is dense.
func (s *suite) read(log string, from uint64) []journal.Record {
	s.Helper()
	return readAll(s.ctx, s.T, s.e, log, from)
}

func readAll(ctx context.Context, t *testing.T, e journal.Engine, log string, from uint64) []journal.Record {
	t.Helper()
	var list []journal.Record
	next, epoch := max(from, 1), uint64(0)
	for r, err := range e.Read(ctx, log, from, false) {
		if err != nil {
			t.Fatalf("read %s from %d: record %d: %v", log, from, next, err)
		}
		if r.Seq != next || r.Epoch < epoch || r.Epoch == 0 || (r.Kind == journal.Data) != (len(r.Data) > 0) {
			t.Fatalf("read %s from %d: %s behind record %d of epoch %d", log, from, show(r), next-1, epoch)
		}
		next, epoch = r.Seq+1, r.Epoch
		list = append(list, r)
	}
	return list
}

// show is a record for people.
func show(r journal.Record) string {
	return fmt.Sprintf("record %d of epoch %d, kind %d, owner %q, data %.40q", r.Seq, r.Epoch, r.Kind, r.Owner, r.Data)
}

// holds checks what a log holds: "=owner" is a claim, "." the end, anything else data.
func (s *suite) holds(log string, want ...string) {
	s.Helper()
	list := s.read(log, 1)
	for i := range max(len(list), len(want)) {
		if i >= len(list) || i >= len(want) || text(list[i]) != want[i] {
			s.Fatalf("%s holds %.200q, want %.200q", log, texts(list), want)
		}
	}
}

func text(r journal.Record) string {
	switch r.Kind {
	case journal.Claim:
		return "=" + r.Owner
	case journal.Archived:
		return "."
	}
	return string(r.Data)
}

func texts(list []journal.Record) (out []string) {
	for _, r := range list {
		out = append(out, text(r))
	}
	return out
}

// is checks an error.
func (s *suite) is(what string, err, want error) {
	s.Helper()
	if !errors.Is(err, want) || err == nil != (want == nil) {
		s.Errorf("%s: %v, want %v", what, err, want)
	}
}

// useless checks a writer that cannot store any more.
func (s *suite) useless(w journal.Writer, want error) {
	s.Helper()
	seq, err := w.Append([]byte("from a writer that is useless"))
	if err == nil {
		s.is("await of a useless writer", w.Await(s.ctx, seq), want)
	} else {
		s.is("append of a useless writer", err, want)
	}
	select {
	case <-w.Failed():
	case <-s.ctx.Done():
		s.Error("a useless writer has not failed")
	}
	_, err = w.Append([]byte("again"))
	s.is("append of a writer that has failed", err, want)
	s.is("await of a writer that has failed", w.Await(s.ctx, w.Acked()+1), want)
}

// store opens engines on one store, one after the other.
type store struct {
	t    *testing.T
	dir  string
	open func(t *testing.T, dir string) journal.Engine
}

func newStore(t *testing.T, open func(t *testing.T, dir string) journal.Engine) *store {
	return &store{t: t, dir: filepath.Join(t.TempDir(), "store"), open: open}
}

// engine opens an engine that the test closes, at the latest at its end.
func (s *store) engine() journal.Engine {
	e := s.open(s.t, s.dir)
	s.t.Cleanup(func() { _ = e.Close() })
	return e
}
