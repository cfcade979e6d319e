package jetstream_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/jetstream"
)

func open(t *testing.T, dir string) *jetstream.Engine {
	t.Helper()
	e, err := jetstream.Open(t.Context(), jetstream.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func TestSmoke(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	began := time.Now()
	w, err := e.Open(t.Context(), "sessions/one", "a")
	if err != nil {
		t.Fatal(err)
	}
	var last uint64
	for i := range 500 {
		if last, err = w.Append([]byte(fmt.Sprint("record ", i))); errors.Is(err, journal.ErrWindowFull) {
			_ = w.Await(t.Context(), w.Acked()+1)
			last, err = w.Append([]byte(fmt.Sprint("record ", i)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Await(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	t.Log("500 appended in", time.Since(began))
	if _, err := jetstream.Open(t.Context(), jetstream.Config{Dir: dir}); err == nil {
		t.Error("two engines use one directory")
	}
	_ = e.Close()
	e = open(t, dir)
	began = time.Now()
	for _, from := range []uint64{1, 2, 77, 300, 501, 502} {
		next := from
		for r, err := range e.Read(t.Context(), "sessions/one", from, false) {
			if err != nil || r.Seq != next {
				t.Fatalf("from %d: %+v, %v; want %d", from, r, err, next)
			}
			next++
		}
		if next != 502 {
			t.Errorf("from %d: read up to %d", from, next-1)
		}
	}
	t.Log("read in", time.Since(began))
	w2, err := e.Open(t.Context(), "sessions/one", "b")
	if err != nil || w2.Epoch() != 2 {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := make(chan uint64, 100)
	go func() {
		for r, err := range e.Read(ctx, "sessions/one", 502, true) {
			if err != nil {
				close(got)
				return
			}
			got <- r.Seq
		}
		close(got)
	}()
	for range 3 {
		if _, err := w2.Append([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	for want := uint64(502); want < 506; want++ {
		if seq := <-got; seq != want {
			t.Errorf("record %d, want %d", seq, want)
		}
	}
	if err := e.Archive(t.Context(), "sessions/one"); err != nil {
		t.Fatal(err)
	}
	<-got
	if _, err := e.Open(t.Context(), "sessions/one", "c"); !errors.Is(err, journal.ErrArchived) {
		t.Error(err)
	}
	if _, err := w2.Append([]byte("y")); err == nil {
		if err := w2.Await(t.Context(), 506); !errors.Is(err, journal.ErrFenced) {
			t.Error(err)
		}
	}
	for i, key := range []string{"d/a/1", "d/a/2", "d/b/1"} {
		if _, err := e.Put(t.Context(), key, []byte{byte(i)}, 0); err != nil {
			t.Fatal(err)
		}
	}
	list, err := e.List(t.Context(), journal.Query{Prefix: "d/a/", Reverse: true})
	if err != nil || len(list) != 2 || list[0].Key != "d/a/2" {
		t.Errorf("%v %v", list, err)
	}
	if err := e.Remove(t.Context(), "d/a/1", 0); err != nil {
		t.Error(err)
	}
	if _, err := e.Get(t.Context(), "d/a/1"); !errors.Is(err, journal.ErrNotFound) {
		t.Error(err)
	}
	if _, err := e.Put(t.Context(), "d/a/1", nil, 0); err != nil {
		t.Error(err)
	}
	if _, err := e.Put(t.Context(), "d/a/1", nil, 0); !errors.Is(err, journal.ErrConflict) {
		t.Error(err)
	}
}
