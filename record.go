package voicegw

import (
	"context"
	"io"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/petri/event"
)

// recorder writes the events of a call to an archive, behind a queue, so that
// the net's loop waits for no disk.
type recorder struct {
	c       *call
	w       io.WriteCloser
	archive *event.Archive
	queue   *event.Queue
}

// recording opens the archive of a call, or returns nil when none is wanted. A
// record that cannot be opened does not stop the call.
func (c *call) recording() *recorder {
	if c.cfg.Record == nil {
		return nil
	}
	w, err := c.cfg.Record(c.id)
	if err != nil {
		c.log.Error("the call is not recorded", zap.Error(err))
		return nil
	}
	a := event.NewArchive(w, c.prog.Program, event.ArchiveConfig{Run: c.id, Start: time.Now()})
	return &recorder{c: c, w: w, archive: a, queue: event.NewQueue(a, 0)}
}

// run writes until ctx is done and everything is written.
func (r *recorder) run(ctx context.Context) {
	err := r.queue.Run(ctx)
	if err == nil {
		err = r.archive.Err()
	}
	if cerr := r.w.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		r.c.log.Error("the record of the call is incomplete", zap.Error(err))
	}
}
