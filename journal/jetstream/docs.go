package jetstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/voicegw/voicegw/journal"
)

// Get returns a document.
func (e *Engine) Get(ctx context.Context, key string) (journal.Doc, error) {
	d, deleted, err := e.doc(ctx, key)
	if err == nil && (d.Revision == 0 || deleted) {
		err = fmt.Errorf("%w: document %s", journal.ErrNotFound, key)
	}
	return d, err
}

// doc reads a document. Its revision is 0 if there is none. deleted means that only its removal is left.
func (e *Engine) doc(ctx context.Context, key string) (d journal.Doc, deleted bool, err error) {
	if err := journal.CheckKey(key); err != nil {
		return d, false, err
	}
	if e.nc.IsClosed() {
		return d, false, journal.ErrClosed
	}
	ctx, cancel := context.WithTimeout(ctx, e.cfg.Timeout)
	defer cancel()
	msg, err := e.docs.GetLastMsgForSubject(ctx, docSubject+dotted(key))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return d, false, nil
	}
	if err != nil {
		return d, false, e.failed(ctx, "read document "+key, err)
	}
	return journal.Doc{Key: key, Value: msg.Data, Revision: msg.Sequence, At: msg.Time},
		msg.Header.Get(deletedKey) != "", nil
}

// Put stores a document.
func (e *Engine) Put(ctx context.Context, key string, value []byte, expect uint64) (uint64, error) {
	if len(value) > journal.DocMax {
		return 0, fmt.Errorf("journal: document %s has %d bytes; at most %d are allowed", key, len(value), journal.DocMax)
	}
	if err := journal.CheckKey(key); err != nil {
		return 0, err
	}
	msg := &nats.Msg{Subject: docSubject + dotted(key), Data: value}
	revision, err := e.putDoc(ctx, key, msg, expect)
	if expect == 0 && errors.Is(err, journal.ErrConflict) {
		if d, deleted, derr := e.doc(ctx, key); derr == nil && deleted { // its removal is under way
			return e.putDoc(ctx, key, msg, d.Revision)
		}
	}
	return revision, err
}

// putDoc stores a message behind the one with the revision expect.
func (e *Engine) putDoc(ctx context.Context, key string, msg *nats.Msg, expect uint64) (uint64, error) {
	deadline := time.Now().Add(commitMax)
	for {
		attempt, cancel := context.WithTimeout(ctx, e.cfg.Timeout)
		ack, err := e.js.PublishMsg(attempt, msg, jetstream.WithExpectLastSequencePerSubject(expect),
			jetstream.WithRetryAttempts(0))
		cancel()
		if err == nil {
			e.tell("doc", key)
			return ack.Sequence, nil
		}
		d, _, derr := e.doc(ctx, key)
		switch {
		case derr == nil && d.Revision > expect && bytes.Equal(d.Value, msg.Data) && !refused(err):
			e.tell("doc", key)
			return d.Revision, nil // the answer was lost
		case derr == nil && d.Revision != expect:
			return 0, fmt.Errorf("%w: %s has revision %d, not %d", journal.ErrConflict, key, d.Revision, expect)
		case time.Now().After(deadline) || definite(err) || ctx.Err() != nil || errors.Is(derr, journal.ErrClosed):
			return 0, e.failed(ctx, "write document "+key, errors.Join(err, derr))
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// refused reports whether the server has answered, and refused.
func refused(err error) bool { return errors.As(err, new(*jetstream.APIError)) }

// Remove removes a document.
func (e *Engine) Remove(ctx context.Context, key string, expect uint64) error {
	for {
		d, deleted, err := e.doc(ctx, key)
		switch {
		case err != nil:
			return err
		case d.Revision == 0:
			return nil
		case expect != 0 && d.Revision != expect && !deleted:
			return fmt.Errorf("%w: %s has revision %d, not %d", journal.ErrConflict, key, d.Revision, expect)
		}
		subject := docSubject + dotted(key)
		if !deleted {
			gone := &nats.Msg{Subject: subject, Header: nats.Header{deletedKey: {"1"}}}
			d.Revision, err = e.putDoc(ctx, key, gone, d.Revision)
			if errors.Is(err, journal.ErrConflict) && expect == 0 {
				continue
			}
			if err != nil {
				return err
			}
		}
		attempt, cancel := context.WithTimeout(ctx, e.cfg.Timeout)
		err = e.docs.Purge(attempt, jetstream.WithPurgeSubject(subject), jetstream.WithPurgeSequence(d.Revision+1))
		cancel()
		if err != nil {
			return e.failed(ctx, "remove document "+key, err)
		}
		return nil
	}
}

// List lists documents. It asks the server for the keys below the part of the prefix in front of its last
// "/", and for the documents that it returns.
func (e *Engine) List(ctx context.Context, q journal.Query) ([]journal.Doc, error) {
	if e.nc.IsClosed() {
		return nil, journal.ErrClosed
	}
	filter := docSubject + ">"
	if i := strings.LastIndexByte(q.Prefix, '/'); i > 0 {
		filter = docSubject + dotted(q.Prefix[:i]) + ".>"
	}
	attempt, cancel := context.WithTimeout(ctx, e.cfg.Timeout)
	defer cancel()
	info, err := e.docs.Info(attempt, jetstream.WithSubjectFilter(filter))
	if err != nil {
		return nil, e.failed(ctx, "list documents", err)
	}
	keys := make([]string, 0, len(info.State.Subjects))
	for subject := range info.State.Subjects {
		keys = append(keys, slashed(strings.TrimPrefix(subject, docSubject)))
	}
	var failed error
	list := journal.Select(keys, q, func(key string) (journal.Doc, bool) {
		d, deleted, err := e.doc(ctx, key)
		if err != nil && failed == nil {
			failed = err
		}
		return d, err == nil && d.Revision != 0 && !deleted
	})
	return list, failed
}

// Watch tells of changes. It looks again at every hint, and by itself now and then.
func (e *Engine) Watch(ctx context.Context, prefix string, changed func(journal.Doc)) error {
	news := make(chan struct{}, 1)
	sub, err := e.nc.Subscribe(hint+"doc.>", func(m *nats.Msg) {
		if strings.HasPrefix(slashed(strings.TrimPrefix(m.Subject, hint+"doc.")), prefix) {
			select {
			case news <- struct{}{}:
			default:
			}
		}
	})
	if err != nil {
		return e.failed(ctx, "watch "+prefix, err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	seen := map[string]uint64{}
	for {
		now := map[string]bool{}
		q := journal.Query{Prefix: prefix}
		for {
			list, err := e.List(ctx, q)
			if err != nil {
				return err
			}
			for _, d := range list {
				q.After = d.Key
				if now[d.Key] = true; seen[d.Key] != d.Revision {
					seen[d.Key] = d.Revision
					changed(d)
				}
			}
			if len(list) < journal.ListMax {
				break
			}
		}
		for key := range seen {
			if !now[key] {
				delete(seen, key)
				changed(journal.Doc{Key: key})
			}
		}
		select {
		case <-news:
		case <-time.After(pollEvery):
		case <-e.done:
			return journal.ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
