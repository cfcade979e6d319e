package voicegw

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// RecordLoss says what a call does when it loses its record: when Config.Record
// or its writer fails or blocks for more than 2 s. The loss is always logged,
// counted, and in the call's Record. A record that was lost is not continued.
type RecordLoss uint8

// What a call does when it loses its record.
const (
	RecordLossDefault RecordLoss = iota // RecordLossEnds if Config.Net.Consent is set, else RecordLossAllowed
	RecordLossAllowed                   // it goes on
	RecordLossEnds                      // it ends with transport.ReasonRecordLost
)

const (
	// recordStall is the longest a write may take. The writer has as long again
	// after the end of the call.
	recordStall = 2 * time.Second
	// recordWriters times CallsMax is the most records that may be open: those of
	// running calls, and as many again whose writers are blocked.
	recordWriters = 2
)

var (
	errRecordStalled = errors.New("the writer is blocked")
	errRecordWriters = errors.New("too many writers of earlier records are blocked")
)

// recorder writes the events of a call to an archive, behind a queue, so that
// the net's loop waits for no disk.
type recorder struct {
	c       *call
	writer  recordWriter
	archive *event.Archive
	queue   *event.Queue

	mu   sync.Mutex
	lost bool
}

// recording begins the record of a call. It returns nil when none is wanted.
func (c *call) recording() *recorder {
	if c.cfg.Record == nil {
		return nil
	}
	r := &recorder{c: c}
	r.writer.open = r.open
	r.archive = event.NewArchive(&r.writer, c.prog.Program, event.ArchiveConfig{Run: c.id, Start: time.Now()})
	r.queue = event.NewQueue(r.archive, event.QueueConfig{Stall: recordStall, AfterFunc: time.AfterFunc})
	return r
}

// store takes the events of the net.
func (r *recorder) store() event.Store {
	if r.c.cfg.recordLossEnds() {
		return r.queue
	}
	return event.Optional(r.queue)
}

// recordLossEnds reports whether a call ends when it loses its record.
func (c *Config) recordLossEnds() bool {
	return c.RecordLoss == RecordLossEnds || c.RecordLoss == RecordLossDefault && c.Net.Consent
}

// open asks for the writer, unless too many are blocked.
func (r *recorder) open() (io.WriteCloser, error) {
	if r.c.writers.Add(1) > int64(recordWriters*r.c.cfg.CallsMax) {
		return nil, errRecordWriters
	}
	return r.c.cfg.Record(r.c.id)
}

// run writes until ctx is done and everything is written, at most recordStall
// after that. A writer that blocks for longer keeps the goroutine of write.
func (r *recorder) run(ctx context.Context) {
	over := make(chan error, 1)
	go func() { over <- r.write(ctx) }() // ends when the writer returns
	select {
	case <-r.queue.Failed():
		r.lose(r.queue.Err())
		<-ctx.Done()
	case <-ctx.Done():
	}
	limit := time.NewTimer(recordStall)
	defer limit.Stop()
	select {
	case err := <-over:
		r.lose(err)
	case <-limit.C:
		r.lose(errRecordStalled)
	}
}

// write writes until ctx is done and closes the writer. A record that was lost
// is marked, now or, if the writer refuses, at the end.
func (r *recorder) write(ctx context.Context) error {
	err := r.queue.Run(ctx)
	if err != nil {
		<-ctx.Done()
		r.archive.Incomplete()
	}
	if cerr := r.writer.Close(); err == nil {
		err = cerr
	}
	if r.writer.asked {
		r.c.writers.Add(-1)
	}
	return err
}

// lose notes that the record is incomplete; the first error counts, nil is none.
func (r *recorder) lose(err error) {
	r.mu.Lock()
	first := err != nil && !r.lost
	r.lost = r.lost || first
	r.mu.Unlock()
	if !first {
		return
	}
	ends := r.c.cfg.recordLossEnds()
	r.c.log.Error("the record of the call is incomplete", zap.Uint64("events", r.queue.Stored()),
		zap.Bool("ends the call", ends), zap.Error(err))
	r.c.metrics.recordsLost.Inc()
	if ends {
		r.c.storeFailed(err)
	}
}

// isLost reports whether the record is incomplete.
func (r *recorder) isLost() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost
}

// storeFailed ends a call whose events must be stored and are not.
func (c *call) storeFailed(err error) {
	c.endWith(&ending{end: voicenets.Done, reason: transport.ReasonRecordLost,
		err: fmt.Errorf("the events of the call are not stored: %w", err)})
}

// recordWriter opens the writer of a record when there is something to write,
// and takes a panic of it for an error. One goroutine uses it.
type recordWriter struct {
	open  func() (io.WriteCloser, error)
	asked bool // open was called
	to    io.WriteCloser
	err   error // of open
}

func (w *recordWriter) Write(b []byte) (n int, err error) {
	defer rescue(&err)
	if !w.asked {
		w.asked, w.err = true, errors.New("Config.Record panicked")
		w.to, w.err = w.open()
	}
	if w.err != nil {
		return 0, w.err
	}
	return w.to.Write(b)
}

// Close closes the writer, if there is one.
func (w *recordWriter) Close() (err error) {
	defer rescue(&err)
	if w.to == nil || w.err != nil {
		return nil
	}
	return w.to.Close()
}

// rescue turns a panic into an error.
func rescue(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("panic: %v", v)
	}
}
