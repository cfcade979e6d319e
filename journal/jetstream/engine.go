package jetstream

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/voicegw/voicegw/journal"
)

// The names of streams and subjects.
const (
	logStream  = "VOICEGW_LOG_"
	docStream  = "VOICEGW_DOC"
	logSubject = "voicegw.log."
	docSubject = "voicegw.doc."
	hint       = "voicegw.hint." // tells readers that a log or a document has changed
	deletedKey = "Voicegw-Deleted"
)

// Engine is a journal.Engine.
type Engine struct {
	cfg    Config
	server *server.Server // nil: it is elsewhere
	unlock func()
	nc     *nats.Conn
	js     jetstream.JetStream
	logs   [Shards]jetstream.Stream
	docs   jetstream.Stream
	done   chan struct{}
	once   sync.Once
}

// Open opens an engine. With a cluster it waits until a majority of the nodes is there or ctx ends.
func Open(ctx context.Context, cfg Config) (*Engine, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	e := &Engine{cfg: cfg, unlock: func() {}, done: make(chan struct{})}
	if cfg.Dir != "" {
		var err error
		if e.server, e.unlock, err = e.cfg.serve(); err != nil {
			return nil, err
		}
	}
	err := e.connect(ctx)
	if err != nil {
		_ = e.Close()
		return nil, err
	}
	return e, nil
}

func (e *Engine) connect(ctx context.Context) (err error) {
	if e.nc, err = e.cfg.connect(e.server); err != nil {
		return err
	}
	if e.js, err = jetstream.New(e.nc, jetstream.WithDefaultTimeout(e.cfg.Timeout)); err != nil {
		return fmt.Errorf("jetstream: %w", err)
	}
	for i := range e.logs {
		name := fmt.Sprint(logStream, i)
		if e.logs[i], err = e.stream(ctx, jetstream.StreamConfig{Name: name, Discard: jetstream.DiscardNew,
			Subjects: []string{fmt.Sprint(logSubject, i, ".>")}, Storage: jetstream.FileStorage,
			Replicas: e.cfg.Replicas}); err != nil {
			return err
		}
	}
	e.docs, err = e.stream(ctx, jetstream.StreamConfig{Name: docStream, Subjects: []string{docSubject + ">"},
		Storage: jetstream.FileStorage, Replicas: e.cfg.Replicas, MaxMsgsPerSubject: 1, Discard: jetstream.DiscardOld})
	return err
}

// stream makes a stream, or finds the one that is there. A cluster without a leader does not answer, so an
// attempt is short.
func (e *Engine) stream(ctx context.Context, c jetstream.StreamConfig) (jetstream.Stream, error) {
	for {
		attempt, cancel := context.WithTimeout(ctx, min(e.cfg.Timeout, 2*time.Second))
		s, err := e.js.CreateStream(attempt, c)
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			s, err = e.js.Stream(attempt, c.Name)
		}
		cancel()
		if err == nil {
			return s, nil
		}
		if ctx.Err() != nil || e.cfg.Cluster == nil && !errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("jetstream: stream %s: %w", c.Name, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Durability is PowerLoss with Dir, Replicated with replicas, and OSCrash at an URL without.
func (e *Engine) Durability() journal.Durability { return e.cfg.durability() }

// Close closes the connection and stops the server in this process.
func (e *Engine) Close() error {
	e.once.Do(func() {
		close(e.done)
		if e.nc != nil {
			e.nc.Close()
		}
		if e.server != nil {
			e.server.Shutdown()
			e.server.WaitForShutdown()
		}
		e.unlock()
	})
	return nil
}

// Leave hands over what the node leads to other nodes of its cluster and closes the engine.
func (e *Engine) Leave() error {
	if e.server != nil && e.cfg.Cluster != nil {
		e.server.LameDuckShutdown()
	}
	return e.Close()
}

// place is where a log is.
type place struct {
	key, subject string
	stream       jetstream.Stream
}

func (e *Engine) place(log string) (place, error) {
	if err := journal.CheckKey(log); err != nil {
		return place{}, err
	}
	if e.nc.IsClosed() {
		return place{}, journal.ErrClosed
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(log))
	i := h.Sum32() % Shards
	return place{key: log, stream: e.logs[i], subject: fmt.Sprint(logSubject, i, ".", dotted(log))}, nil
}

// dotted is a key as the end of a subject.
func dotted(key string) string { return strings.ReplaceAll(key, "/", ".") }

// slashed is the key at the end of a subject.
func slashed(subject string) string { return strings.ReplaceAll(subject, ".", "/") }

// last reads the last message of a log; nil if there is none. The server does not find a message that is
// damaged, so a log without a last message must not have a first one either.
func (e *Engine) last(ctx context.Context, p place) (*batch, uint64, error) {
	for again := false; ; again = true {
		msg, err := e.lastMessage(ctx, p)
		if err == nil {
			b, err := decodeBatch(msg.Data)
			if err != nil {
				return nil, 0, fmt.Errorf("%w: the last record of %s: %w", journal.ErrCorrupt, p.key, err)
			}
			return b, msg.Sequence, nil
		}
		if !errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil, 0, e.failed(ctx, "read the last record of "+p.key, err)
		}
		first, _, err := e.next(ctx, p, 1)
		switch {
		case err != nil || first == nil:
			return nil, 0, err
		case again: // not one that has just begun
			return nil, 0, fmt.Errorf("%w: the last record of %s is damaged", journal.ErrCorrupt, p.key)
		}
	}
}

func (e *Engine) lastMessage(ctx context.Context, p place) (*jetstream.RawStreamMsg, error) {
	ctx, cancel := context.WithTimeout(ctx, e.cfg.Timeout)
	defer cancel()
	return p.stream.GetLastMsgForSubject(ctx, p.subject)
}

// failed is the error of a request to the server.
func (e *Engine) failed(ctx context.Context, what string, err error) error {
	switch {
	case e.nc.IsClosed():
		return journal.ErrClosed
	case errors.Is(ctx.Err(), context.Canceled):
		return context.Canceled
	}
	return fmt.Errorf("%w: %s: %w", journal.ErrStore, what, err)
}

// tell tells readers, here and on other nodes, that something has changed. What is lost they find out by
// themselves, later.
func (e *Engine) tell(kind, key string) { _ = e.nc.Publish(hint+kind+"."+dotted(key), nil) }
