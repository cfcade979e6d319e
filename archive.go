package voicegw

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
)

// ArchiveLoss decides whether a call goes on without its archive. An archive is lost when
// Config.Archive or its writer fails, or blocks for more than 2 s. The gateway always logs and
// counts the loss and notes it in the call's Record. It does not continue an archive that was lost.
type ArchiveLoss uint8

// The values of ArchiveLoss.
const (
	ArchiveLossDefault ArchiveLoss = iota // ArchiveLossEnds if Config.Net.Consent is set, else ArchiveLossAllowed
	ArchiveLossAllowed                    // the call goes on
	ArchiveLossEnds                       // the call ends with transport.ReasonRecordLost
)

const (
	// archiveStall is the longest that a write may take. After the end of the call the writer has
	// as long again.
	archiveStall = 2 * time.Second
	// archiveWriters times CallsMax is the most archives that may be open: those of running calls,
	// and as many again whose writers are blocked.
	archiveWriters = 2
)

var (
	errArchiveStalled = errors.New("the writer is blocked")
	errArchiveWriters = errors.New("too many writers of earlier archives are blocked")
)

// archiver writes the events of a call to its archive, behind a queue, so that the net's loop does
// not wait for a disk.
type archiver struct {
	openWriter func() (io.WriteCloser, error)
	writersMax int64
	writers    *atomic.Int64 // of the gateway: goroutines that may be blocked
	ends       bool          // the call ends if the archive is lost
	lost       func(error)   // called once
	log        *zap.Logger

	writer  archiveWriter
	archive *event.Archive
	queue   *event.Queue

	mu     sync.Mutex
	isLost bool
}

// newArchiver makes the archiver of a call. writers counts those of the gateway.
func newArchiver(cfg *Config, call string, writers *atomic.Int64, log *zap.Logger) *archiver {
	return &archiver{openWriter: func() (io.WriteCloser, error) { return cfg.Archive(call) },
		writersMax: int64(archiveWriters * cfg.CallsMax), writers: writers, ends: cfg.archiveLossEnds(), log: log}
}

// begin makes the archive of a call that runs prog.
func (r *archiver) begin(call string, prog *petri.Program) {
	r.writer.open = r.open
	r.archive = event.NewArchive(&r.writer, prog, event.ArchiveConfig{Run: call, Start: time.Now()})
	r.queue = event.NewQueue(r.archive, event.QueueConfig{Stall: archiveStall, AfterFunc: time.AfterFunc})
}

// store returns the store for the events of the net.
func (r *archiver) store() event.Store {
	if r.ends {
		return r.queue
	}
	return event.Optional(r.queue)
}

// waiting returns the number of events that wait for the writer. A nil archiver has none.
func (r *archiver) waiting() int {
	if r == nil {
		return 0
	}
	return r.queue.Waiting()
}

// archiveLossEnds reports whether a call ends when it loses its archive.
func (c *Config) archiveLossEnds() bool {
	return c.ArchiveLoss == ArchiveLossEnds || c.ArchiveLoss == ArchiveLossDefault && c.Net.Consent
}

// open opens the writer, unless too many writers are blocked.
func (r *archiver) open() (io.WriteCloser, error) {
	if r.writers.Add(1) > r.writersMax {
		return nil, errArchiveWriters
	}
	return r.openWriter()
}

// run writes until ctx is done and everything is written, but at most archiveStall longer. A writer
// that blocks for longer keeps the goroutine of write.
func (r *archiver) run(ctx context.Context) {
	over := make(chan error, 1)
	go func() { over <- r.write(ctx) }() // ends when the writer returns
	select {
	case <-r.queue.Failed():
		r.lose(r.queue.Err())
		<-ctx.Done()
	case <-ctx.Done():
	}
	limit := time.NewTimer(archiveStall)
	defer limit.Stop()
	select {
	case err := <-over:
		r.lose(err)
	case <-limit.C:
		r.lose(errArchiveStalled)
	}
}

// write writes until ctx is done and closes the writer. It marks an archive that was lost as
// incomplete.
func (r *archiver) write(ctx context.Context) error {
	err := r.queue.Run(ctx)
	if err != nil {
		<-ctx.Done()
		r.archive.Incomplete()
	}
	if cerr := r.writer.Close(); err == nil {
		err = cerr
	}
	if r.writer.asked {
		r.writers.Add(-1)
	}
	return err
}

// lose notes that the archive is incomplete. It ignores nil, and every error after the first.
func (r *archiver) lose(err error) {
	r.mu.Lock()
	first := err != nil && !r.isLost
	r.isLost = r.isLost || first
	r.mu.Unlock()
	if first {
		r.log.Error("the archive of the call is incomplete", zap.Uint64("events", r.queue.Stored()),
			zap.Bool("ends the call", r.ends), zap.Error(err))
		r.lost(err)
	}
}

// incomplete reports whether the archive lacks events.
func (r *archiver) incomplete() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.isLost
}

// archiveWriter opens the writer of an archive when there is something to write. It returns a panic
// of the writer as an error. One goroutine uses it.
type archiveWriter struct {
	open  func() (io.WriteCloser, error)
	asked bool // open was called
	to    io.WriteCloser
	err   error // of open
}

func (w *archiveWriter) Write(b []byte) (n int, err error) {
	defer rescue(&err)
	if !w.asked {
		w.asked, w.err = true, errors.New("Config.Archive panicked")
		w.to, w.err = w.open()
	}
	if w.err != nil {
		return 0, w.err
	}
	return w.to.Write(b)
}

// Close closes the writer, if there is one.
func (w *archiveWriter) Close() (err error) {
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
