package postgres_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/postgres"
)

// proxy stands between an engine and a server, and loses answers: a request reaches the server, and the
// connection breaks.
type proxy struct {
	server, dir string
	l           net.Listener
	lose        atomic.Int64 // how many answers it is about to lose
	lost        atomic.Int64
	conns       sync.WaitGroup
}

func newProxy(t *testing.T, s *server) *proxy {
	t.Helper()
	dir, err := os.MkdirTemp("", "px")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{server: filepath.Join(s.dir, ".s.PGSQL.5432"), dir: dir}
	if p.l, err = net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432")); err != nil {
		t.Fatal(err)
	}
	p.conns.Go(func() {
		for {
			c, err := p.l.Accept()
			if err != nil {
				return
			}
			p.conns.Go(func() { p.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = p.l.Close()
		p.conns.Wait()
		_ = os.RemoveAll(dir)
	})
	return p
}

func (p *proxy) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	s, err := net.Dial("unix", p.server)
	if err != nil {
		return
	}
	defer func() { _ = s.Close() }()
	p.conns.Go(func() {
		_, _ = io.Copy(s, c)
		_ = s.Close()
	})
	buf := make([]byte, 1<<16)
	for {
		n, err := s.Read(buf)
		if err != nil {
			return
		}
		if p.lose.Load() > 0 && p.lose.Add(-1) >= 0 {
			p.lost.Add(1)
			return
		}
		if _, err := c.Write(buf[:n]); err != nil {
			return
		}
	}
}

// TestLostAnswers breaks connections while the server answers, again and again. The engine finds out what
// became of each request: nothing is lost, stored twice or refused.
func TestLostAnswers(t *testing.T) {
	p := newProxy(t, &shared)
	cfg := shared.config("lost")
	cfg.URL = "host=" + p.dir + " user=test dbname=postgres"
	e, err := postgres.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	var work sync.WaitGroup
	for g := range 3 {
		work.Go(func() { appendAll(t, e, fmt.Sprint("log", g), &p.lose) })
	}
	work.Go(func() { countTo(t, e, 40, &p.lose) })
	work.Wait()
	p.lose.Store(0)
	t.Log("answers lost:", p.lost.Load())
	if p.lost.Load() < 50 {
		t.Error("the test has lost too few answers")
	}
	for g := range 3 {
		next := uint64(1)
		for r, err := range e.Read(t.Context(), fmt.Sprint("log", g), 1, false) {
			if err != nil || r.Seq != next || r.Kind == journal.Data && string(r.Data) != fmt.Sprint(r.Seq) {
				t.Fatalf("record %d of log %d: %+v, %v", next, g, r, err)
			}
			next++
		}
	}
}

// appendAll stores records of some at a time, and loses an answer each time.
func appendAll(t *testing.T, e journal.Engine, log string, lose *atomic.Int64) {
	lose.Add(1)
	w, err := e.Open(t.Context(), log, "a")
	if err != nil {
		t.Errorf("%s: %v", log, err)
		return
	}
	last := w.Claimed() // not 1 if the answer to a claim was lost
	for i := range 40 {
		lose.Add(1)
		for range i%5 + 1 {
			last++
			if seq, err := w.Append(fmt.Append(nil, last)); err != nil || seq != last {
				t.Errorf("%s: append %d: %d, %v", log, last, seq, err)
				return
			}
		}
		if err := w.Await(t.Context(), last); err != nil {
			t.Errorf("%s: await %d: %v", log, last, err)
			return
		}
	}
}

// countTo changes a document again and again, and loses an answer each time.
func countTo(t *testing.T, e journal.Engine, n int, lose *atomic.Int64) {
	var rev uint64
	for i := range n {
		lose.Add(1)
		next, err := e.Put(t.Context(), "counter", fmt.Append(nil, i), rev)
		if err != nil || next <= rev {
			t.Errorf("put %d: revision %d behind %d, %v", i, next, rev, err)
			return
		}
		rev = next
	}
	lose.Add(1)
	if err := e.Remove(t.Context(), "counter", rev); err != nil {
		t.Errorf("remove: %v", err)
	}
	if _, err := e.Get(t.Context(), "counter"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("get what is removed: %v", err)
	}
}
