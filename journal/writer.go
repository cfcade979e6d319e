package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Commit stores records, the first of which has the number first, all or none. The Writer calls it from one
// goroutine at a time, in order, and keeps the records unchanged. Its error is final; it wraps ErrFenced
// or ErrStore.
type Commit func(first uint64, records [][]byte) error

// NewWriter returns a Writer over an engine's commit, for an owner whose claim has the number claimed. It
// has a goroutine only while something waits to be stored.
func NewWriter(epoch, claimed uint64, commit Commit) Writer {
	return &writer{epoch: epoch, claimed: claimed, commit: commit, next: claimed + 1, acked: claimed,
		failed: make(chan struct{}), stored: make(chan struct{})}
}

type writer struct {
	epoch, claimed uint64
	commit         Commit
	failed         chan struct{}

	mu       sync.Mutex
	next     uint64 // the number of the next record
	acked    uint64
	queue    [][]byte // that no commit has
	records  int      // that are not stored, those in a commit included
	bytes    int
	flushing bool
	closed   bool
	err      error         // why it is useless
	stored   chan struct{} // closed and replaced when acked or err changes
}

func (w *writer) Epoch() uint64           { return w.epoch }
func (w *writer) Claimed() uint64         { return w.claimed }
func (w *writer) Failed() <-chan struct{} { return w.failed }

func (w *writer) Acked() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.acked
}

func (w *writer) Append(data []byte) (uint64, error) {
	if len(data) == 0 || len(data) > RecordMax {
		return 0, fmt.Errorf("journal: a record of %d bytes; it must have 1 to %d", len(data), RecordMax)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.err != nil:
		return 0, w.err
	case w.closed:
		return 0, ErrClosed
	case w.records == WindowRecords, w.bytes+len(data) > WindowBytes:
		return 0, ErrWindowFull
	}
	w.queue = append(w.queue, slices.Clone(data))
	w.records++
	w.bytes += len(data)
	w.next++
	if !w.flushing {
		w.flushing = true
		go w.flush()
	}
	return w.next - 1, nil
}

// flush commits what waits, as much as there is at a time.
func (w *writer) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.queue) > 0 && w.err == nil {
		batch, first := w.queue, w.acked+1
		w.queue = nil
		w.mu.Unlock()
		err := w.commit(first, batch)
		w.mu.Lock()
		if err != nil {
			w.fail(err)
			break
		}
		w.acked += uint64(len(batch))
		w.records -= len(batch)
		for _, b := range batch {
			w.bytes -= len(b)
		}
		w.tell()
	}
	w.flushing = false
}

// fail makes the writer useless; mu is held.
func (w *writer) fail(err error) {
	if w.err != nil {
		return
	}
	if !errors.Is(err, ErrFenced) && !errors.Is(err, ErrStore) && !errors.Is(err, ErrClosed) {
		err = fmt.Errorf("%w: %w", ErrStore, err)
	}
	w.err, w.queue = err, nil
	close(w.failed)
	w.tell()
}

func (w *writer) tell() {
	close(w.stored)
	w.stored = make(chan struct{})
}

func (w *writer) Await(ctx context.Context, seq uint64) error {
	for {
		w.mu.Lock()
		acked, err, stored, next := w.acked, w.err, w.stored, w.next
		w.mu.Unlock()
		switch {
		case seq <= acked:
			return nil
		case err != nil:
			return err
		case seq >= next:
			return fmt.Errorf("journal: await record %d; the last one that was appended is %d", seq, next-1)
		}
		select {
		case <-stored:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (w *writer) Close(ctx context.Context) error {
	w.mu.Lock()
	w.closed = true
	last := w.next - 1
	w.mu.Unlock()
	err := w.Await(ctx, last)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.fail(ErrClosed)
	}
	return err
}
