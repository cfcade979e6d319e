package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/journaltest"
	"github.com/voicegw/voicegw/journal/postgres"
)

func TestConformance(t *testing.T) {
	journaltest.Run(t, func(t *testing.T, dir string) journal.Engine { return shared.open(t, schemaOf(dir)) })
}

// read checks that a log is dense and returns its data.
func read(t *testing.T, e journal.Engine, log string) (data []string) {
	t.Helper()
	next := uint64(1)
	for r, err := range e.Read(t.Context(), log, 1, false) {
		if err != nil || r.Seq != next {
			t.Fatalf("%s: record %d: %+v, %v", log, next, r, err)
		}
		if next++; r.Kind == journal.Data {
			data = append(data, string(r.Data))
		}
	}
	return data
}

// TestTwoNodes has two engines on one schema: a log moves from one to the other and back, a reader at one
// follows the owner at the other, and so does a watcher.
func TestTwoNodes(t *testing.T) {
	schema := schemaOf(t.TempDir())
	nodes := []*postgres.Engine{shared.open(t, schema), shared.open(t, schema)}
	const moves, each = 20, 10
	got := make(chan string, moves*each)
	var work sync.WaitGroup
	defer work.Wait()
	first, err := nodes[0].Open(t.Context(), "log", "node")
	if err != nil {
		t.Fatal(err)
	}
	work.Go(func() {
		defer close(got)
		for r, err := range nodes[1].Read(t.Context(), "log", 1, true) {
			if err != nil {
				t.Errorf("follow: %v", err)
				return
			}
			if r.Kind == journal.Data {
				got <- string(r.Data)
			}
		}
	})
	docs := make(chan journal.Doc, moves)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	work.Go(func() { _ = nodes[1].Watch(ctx, "", func(d journal.Doc) { docs <- d }) })
	old := first
	for m := range moves {
		w, err := nodes[m%2].Open(t.Context(), "log", "node")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := old.Append([]byte("of a zombie")); err == nil {
			err = old.Await(t.Context(), old.Acked()+1)
			if !errors.Is(err, journal.ErrFenced) {
				t.Errorf("a zombie: %v", err)
			}
		}
		for i := range each {
			want := fmt.Sprint(m, "/", i)
			seq, err := w.Append([]byte(want))
			if err == nil {
				err = w.Await(t.Context(), seq)
			}
			if err != nil {
				t.Fatal(err)
			}
			if data := <-got; data != want {
				t.Fatalf("read %q, want %q", data, want)
			}
		}
		rev, err := nodes[0].Put(t.Context(), "doc/"+fmt.Sprint(m), []byte("x"), 0)
		if d := <-docs; err != nil || d.Revision != rev {
			t.Errorf("watched %+v, want revision %d, %v", d, rev, err)
		}
		old = w
	}
	if err := nodes[0].Archive(t.Context(), "log"); err != nil {
		t.Error(err)
	}
	cancel()
}

// TestCrash ends the server without warning while writers write, and starts it again: what was acked is
// there, and the writers go on. VOICEGW_CHAOS says how often, instead of twice.
func TestCrash(t *testing.T) {
	var s server
	if err := s.install(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(s.dir) })
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	defer func() { s.stop(syscall.SIGQUIT) }()
	e := s.open(t, "crash")
	if got := e.Durability(); got != journal.PowerLoss {
		t.Errorf("durability %d", got)
	}
	const writers = 8
	var work sync.WaitGroup
	var acked [writers]atomic.Uint64
	end, progress := make(chan struct{}), make(chan struct{}, 1)
	for g := range writers {
		work.Go(func() { appendUntil(t, e, g, end, progress, &acked[g]) })
	}
	crashes, _ := strconv.Atoi(os.Getenv("VOICEGW_CHAOS"))
	crashes = max(crashes, 2)
	for range crashes {
		before := total(acked[:])
		for total(acked[:]) < before+2000 && !t.Failed() {
			select {
			case <-progress:
			case <-t.Context().Done():
			}
		}
		s.stop(syscall.SIGQUIT)
		if err := s.start(); err != nil {
			t.Fatal(err)
		}
	}
	close(end)
	work.Wait()
	lost, next := 0, s.open(t, "crash")
	for g := range writers {
		data := read(t, next, fmt.Sprint("log", g))
		for i, d := range data {
			if d != fmt.Sprint(i+2) {
				t.Fatalf("log %d: record %d holds %q", g, i+2, d)
			}
		}
		if missing := int(acked[g].Load()) - 1 - len(data); missing > 0 {
			lost += missing
		}
	}
	t.Logf("%d crashes, %d acked, %d lost", crashes, total(acked[:]), lost)
	if lost > 0 {
		t.Error("acked records are lost")
	}
}

func total(acked []atomic.Uint64) (n uint64) {
	for i := range acked {
		n += acked[i].Load()
	}
	return n
}

// appendUntil stores records that hold their number.
func appendUntil(t *testing.T, e journal.Engine, g int, end, progress chan struct{}, acked *atomic.Uint64) {
	w, err := e.Open(t.Context(), fmt.Sprint("log", g), "a")
	for last := uint64(1); err == nil; {
		select {
		case progress <- struct{}{}:
		default:
		}
		select {
		case <-end:
			return
		default:
		}
		for range 3 {
			if _, err = w.Append(fmt.Append(nil, last+1)); err == nil {
				last++
			}
		}
		if err == nil {
			err = w.Await(t.Context(), last)
		}
		acked.Store(w.Acked())
	}
	t.Errorf("writer %d: %v", g, err)
}

// TestCorrupt damages tables. A reader says what it cannot read, and gives what comes in front of it.
func TestCorrupt(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{`DELETE FROM records WHERE seq = 5`, "log: record 5 is missing"},
		{`DELETE FROM records WHERE seq >= 5`, "log: record 5 is missing"},
		{`UPDATE records SET kind = 9 WHERE seq = 5`, "log: record 5 has"},
		{`UPDATE records SET kind = -1 WHERE seq = 5`, "log: record 5 has"},
		{`UPDATE records SET epoch = 0 WHERE seq = 5`, "log: record 5 has"},
		{`UPDATE records SET data = '' WHERE seq = 5`, "log: record 5 has"},
	} {
		schema := schemaOf(t.TempDir())
		e := shared.open(t, schema)
		w, err := e.Open(t.Context(), "log", "a")
		for i := 2; i <= 600 && err == nil; i++ {
			var seq uint64
			if seq, err = w.Append(fmt.Append(nil, i)); err == nil && i%100 == 0 {
				err = w.Await(t.Context(), seq)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		shared.exec(t, schema, c.sql)
		for _, live := range []bool{false, true} {
			n := 0
			for r, rerr := range e.Read(t.Context(), "log", 1, live) {
				if err = rerr; err == nil && r.Seq == uint64(n)+1 {
					n++
				}
			}
			if !errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), c.want) || n > 4 {
				t.Errorf("%s, live %v: %d records, %v", c.sql, live, n, err)
			}
		}
		if strings.Contains(c.sql, ">=") {
			if _, err := e.Last(t.Context(), "log"); !errors.Is(err, journal.ErrCorrupt) {
				t.Errorf("last: %v", err)
			}
		}
	}
	schema := schemaOf(t.TempDir())
	_ = shared.open(t, schema).Close()
	shared.exec(t, schema, `UPDATE format SET version = 2`)
	if _, err := postgres.Open(t.Context(), shared.config(schema)); err == nil ||
		!strings.Contains(err.Error(), "version 2") {
		t.Errorf("tables of a newer version: %v", err)
	}
}

// TestConfig has every setting that Open refuses.
func TestConfig(t *testing.T) {
	ok := shared.config("config")
	for want, change := range map[string]func(*postgres.Config){
		"Config.URL is empty": func(c *postgres.Config) { c.URL = "" },
		"Config.URL: ":        func(c *postgres.Config) { c.URL = "postgres://a:secret@[" },
		`"a;b"`:               func(c *postgres.Config) { c.Schema = "a;b" },
		`"1a"`:                func(c *postgres.Config) { c.Schema = "1a" },
		`"Schema"`:            func(c *postgres.Config) { c.Schema = "Schema" },
		"Config.Conns is -1":  func(c *postgres.Config) { c.Conns = -1 },
		"Config.Conns is 1001": func(c *postgres.Config) {
			c.Conns = 1001
		},
		"connect": func(c *postgres.Config) { c.URL = "host=" + t.TempDir() + " user=test dbname=postgres" },
		"nobody":  func(c *postgres.Config) { c.URL = "host=" + shared.dir + " user=nobody dbname=postgres" },
	} {
		c := ok
		change(&c)
		if _, err := postgres.Open(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", want, err)
		}
	}
}
