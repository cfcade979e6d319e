package wsconn

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestSocketBounds: each read and write ends in time, an interrupted one at once, and nothing lasts
// beyond hurry.
func TestSocketBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe() // nobody reads or writes at the far end
		defer far.Close()
		l := &socket{Conn: near, writeTimeout: 2 * time.Second}
		lasts := func(what string, want time.Duration, do func() error) {
			t.Helper()
			began := time.Now()
			if err := do(); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != want {
				t.Errorf("%s: %v after %v, want %v", what, err, time.Since(began), want)
			}
		}
		read := func() error { _, err := l.Read(make([]byte, 1)); return err }
		write := func() error { _, err := l.Write([]byte("x")); return err }
		l.startRead(time.Second)
		lasts("read", time.Second, read)
		if l.stalled.Load() {
			t.Error("stalled by a read")
		}
		began := time.Now()
		if err := write(); err != nil || !l.stalled.Load() || time.Since(began) != 2*time.Second {
			t.Errorf("a write that is kept: %v after %v, stalled %v", err, time.Since(began), l.stalled.Load())
		}
		began = time.Now()
		if err := write(); err != nil || time.Since(began) != 0 {
			t.Errorf("a piece behind one that is kept: %v after %v", err, time.Since(began))
		}
		l.startWrite(false)
		if err := write(); err != nil || time.Since(began) != 2*time.Second || string(l.rest) != "xxx" {
			t.Errorf("a message behind one that is kept: %v after %v, %q kept", err, time.Since(began), l.rest)
		}
		l.startRead(time.Hour)
		l.interruptRead()
		l.extendRead()
		lasts("interrupted", 0, read)
		l.hurry(time.Now().Add(time.Second))
		began = time.Now()
		if err := write(); err != nil || time.Since(began) != time.Second {
			t.Errorf("a write in a hurry: %v after %v", err, time.Since(began))
		}
		l.rest = make([]byte, restBytesMax)
		lasts("a write without room to keep it", 0, write)
		l.startRead(time.Hour)
		lasts("a read in a hurry", 0, read)
		_ = l.Close()
	})
}

// TestStallBetweenPieces: a message that stalls in its first piece, and the answer to a ping behind
// it, stay whole and in order.
func TestStallBetweenPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		s := &socket{Conn: near, writeTimeout: time.Second}
		framing := bufio.NewWriter(s)
		var want []byte
		write := func(b []byte) {
			t.Helper()
			want = append(want, b...)
			if _, err := framing.Write(b); err != nil {
				t.Fatal(err)
			}
			if err := framing.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		s.startWrite(false)
		write(bytes.Repeat([]byte("message "), 2000))
		write([]byte("pong"))
		if !s.stalled.Load() {
			t.Error("not stalled")
		}
		s.hurry(time.Now().Add(time.Minute))
		got := make(chan []byte)
		go func() { b, _ := io.ReadAll(far); got <- b }()
		write([]byte("bye"))
		_ = s.Close()
		if b := <-got; !bytes.Equal(b, want) {
			t.Errorf("%d bytes came, want %d", len(b), len(want))
		}
	})
}

// TestJoinedWrites: messages that others follow are one write with the last, at most rowBytesMax of
// them, and none is left when the call ends.
func TestJoinedWrites(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	s := &socket{Conn: near, writeTimeout: time.Minute}
	writes := make(chan string)
	go func() {
		defer close(writes)
		b := make([]byte, 2*rowBytesMax)
		for {
			n, err := far.Read(b)
			if err != nil {
				return
			}
			writes <- string(b[:n])
		}
	}()
	go func() {
		defer near.Close()
		write := func(more bool, text string) {
			s.startWrite(more)
			if n, err := s.Write([]byte(text)); n != len(text) || err != nil {
				t.Errorf("a write returned %d, %v", n, err)
			}
		}
		write(true, "a")
		write(true, "b")
		write(false, "c")
		write(false, "d")
		write(true, strings.Repeat("e", rowBytesMax-1))
		write(true, "f")
		write(true, "g")
		s.hurry(time.Now().Add(time.Minute))
		_, _ = s.Write([]byte("bye"))
	}()
	for _, want := range []string{"abc", "d", strings.Repeat("e", rowBytesMax-1) + "f", "gbye", ""} {
		if got := <-writes; got != want {
			t.Errorf("wrote %.10q of %d bytes, want %.10q of %d", got, len(got), want, len(want))
		}
	}
}

// TestHijack says when there is no connection to take over.
func TestHijack(t *testing.T) {
	if _, _, err := (&hijacker{ResponseWriter: httptest.NewRecorder(), socket: &socket{}}).Hijack(); err == nil {
		t.Error("a recorder was taken over")
	}
}
