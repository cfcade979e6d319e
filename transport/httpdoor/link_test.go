package httpdoor

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// TestLinkBounds: each read and write ends in time, an interrupted one at once, and nothing lasts beyond Hurry.
func TestLinkBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe() // nobody reads or writes at the far end
		defer far.Close()
		l := &Link{Conn: near, WriteTimeout: 2 * time.Second}
		lasts := func(what string, want time.Duration, do func() error) {
			t.Helper()
			began := time.Now()
			if err := do(); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != want {
				t.Errorf("%s: %v after %v, want %v", what, err, time.Since(began), want)
			}
		}
		read := func() error { _, err := l.Read(make([]byte, 1)); return err }
		write := func() error { _, err := l.Write([]byte("x")); return err }
		l.StartRead(time.Second)
		lasts("read", time.Second, read)
		if l.Stalled() {
			t.Error("stalled by a read")
		}
		lasts("write", 2*time.Second, write)
		if !l.Stalled() {
			t.Error("not stalled by a write that was not taken")
		}
		l.InterruptRead()
		l.StartRead(time.Hour)
		lasts("interrupted", 0, read)
		l.Hurry(time.Now().Add(time.Second))
		lasts("a write in a hurry", time.Second, write)
		l.StartRead(time.Hour)
		lasts("a read in a hurry", 0, read)
		_ = l.Close()
	})
}

// TestHijacker puts a link under a connection, and says when there is none to take over.
func TestHijacker(t *testing.T) {
	put := func(c net.Conn) net.Conn { return &Link{Conn: c, WriteTimeout: time.Minute} }
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, rw, err := (&Hijacker{ResponseWriter: w, Put: put}).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		if _, ok := c.(*Link); !ok {
			t.Errorf("%T", c)
		}
		_, _ = rw.WriteString("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
		_ = rw.Flush()
		_ = c.Close()
	}))
	defer srv.Close()
	resp, err := srv.Client().Get(srv.URL)
	if err != nil || resp.StatusCode != http.StatusNoContent {
		t.Fatal(resp, err)
	}
	_ = resp.Body.Close()
	if _, _, err := (&Hijacker{ResponseWriter: httptest.NewRecorder(), Put: put}).Hijack(); err == nil {
		t.Error("a recorder was taken over")
	}
}
