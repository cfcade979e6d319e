package memory

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/voicegw/voicegw/journal"
)

// Engine keeps everything in memory. Tests can make it misbehave. It is safe for concurrent use.
type Engine struct {
	// Before, if not nil, is called before records are stored and may block. An error is the outcome of the
	// commit; nothing is stored then.
	Before func(log string, first uint64, records int) error
	// Lost, if not nil, is called when records are stored. An error is the outcome of the commit all the
	// same: the answer is lost.
	Lost func(log string, first uint64, records int) error

	mu      sync.Mutex
	logs    map[string]*memoryLog
	docs    map[string]journal.Doc
	changed chan struct{} // closed and replaced at every change
	rev     uint64
	closed  bool
}

type memoryLog struct {
	records []journal.Record
	epoch   uint64
}

// New returns an empty engine.
func New() *Engine {
	return &Engine{logs: map[string]*memoryLog{}, docs: map[string]journal.Doc{}, changed: make(chan struct{})}
}

// Durability is ProcessLocal.
func (*Engine) Durability() journal.Durability { return journal.ProcessLocal }

// tell wakes those who wait; mu is held.
func (m *Engine) tell() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// ready is the error of a call with a key that is invalid or comes after Close; mu is held.
func (m *Engine) ready(key string) error {
	if m.closed {
		return journal.ErrClosed
	}
	return journal.CheckKey(key)
}

// Open makes owner the owner of a log.
func (m *Engine) Open(_ context.Context, log, owner string) (journal.Writer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.ready(log); err != nil {
		return nil, err
	}
	l := m.logs[log]
	switch {
	case l == nil:
		l = &memoryLog{}
		m.logs[log] = l
	case len(l.records) > 0 && l.records[len(l.records)-1].Kind == journal.Archived:
		return nil, fmt.Errorf("%w: %s", journal.ErrArchived, log)
	}
	l.epoch++
	epoch, claimed := l.epoch, uint64(len(l.records))+1
	l.records = append(l.records, journal.Record{Seq: claimed, Epoch: epoch, Kind: journal.Claim, Owner: owner})
	m.tell()
	return journal.NewWriter(epoch, claimed, func(first uint64, records [][]byte) error {
		return m.commit(log, l, epoch, first, records)
	}), nil
}

func (m *Engine) commit(log string, l *memoryLog, epoch, first uint64, records [][]byte) error {
	if m.Before != nil {
		if err := m.Before(log, first, len(records)); err != nil {
			return err
		}
	}
	if err := m.write(log, l, epoch, first, records); err != nil || m.Lost == nil {
		return err
	}
	return m.Lost(log, first, len(records))
}

func (m *Engine) write(log string, l *memoryLog, epoch, first uint64, records [][]byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return journal.ErrClosed
	case m.logs[log] != l || l.epoch != epoch || uint64(len(l.records))+1 != first:
		return fmt.Errorf("%w: %s", journal.ErrFenced, log)
	}
	for i, b := range records {
		l.records = append(l.records, journal.Record{Seq: first + uint64(i), Epoch: epoch, Data: b})
	}
	m.tell()
	return nil
}

// Read yields records.
func (m *Engine) Read(ctx context.Context, log string, from uint64, live bool) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		m.mu.Lock()
		l, err := m.logs[log], m.ready(log)
		m.mu.Unlock()
		if err != nil {
			yield(journal.Record{}, err)
			return
		}
		for next := max(from, 1); ; {
			m.mu.Lock()
			var list []journal.Record
			gone := l == nil || m.logs[log] != l
			if !gone && next <= uint64(len(l.records)) {
				list = slices.Clone(l.records[next-1:])
			}
			archived := !gone && len(l.records) > 0 && l.records[len(l.records)-1].Kind == journal.Archived
			changed, closed := m.changed, m.closed
			m.mu.Unlock()
			if closed {
				yield(journal.Record{}, journal.ErrClosed)
				return
			}
			if gone {
				yield(journal.Record{}, fmt.Errorf("%w: log %s", journal.ErrNotFound, log))
				return
			}
			for _, r := range list {
				if !yield(r, nil) {
					return
				}
				next = r.Seq + 1
			}
			if len(list) > 0 {
				continue
			}
			if !live || archived {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				yield(journal.Record{}, ctx.Err())
				return
			}
		}
	}
}

// Last returns the last record of a log.
func (m *Engine) Last(_ context.Context, log string) (journal.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.ready(log); err != nil {
		return journal.Record{}, err
	}
	l := m.logs[log]
	if l == nil || len(l.records) == 0 {
		return journal.Record{}, fmt.Errorf("%w: log %s", journal.ErrNotFound, log)
	}
	return l.records[len(l.records)-1], nil
}

// Archive ends a log.
func (m *Engine) Archive(_ context.Context, log string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.ready(log); err != nil {
		return err
	}
	l := m.logs[log]
	switch {
	case l == nil || len(l.records) == 0:
		return fmt.Errorf("%w: log %s", journal.ErrNotFound, log)
	case l.records[len(l.records)-1].Kind == journal.Archived:
		return nil
	}
	l.epoch++
	l.records = append(l.records, journal.Record{Seq: uint64(len(l.records)) + 1, Epoch: l.epoch, Kind: journal.Archived})
	m.tell()
	return nil
}

// Delete removes a log.
func (m *Engine) Delete(_ context.Context, log string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.ready(log); err != nil {
		return err
	}
	delete(m.logs, log)
	m.tell()
	return nil
}

// Get returns a document.
func (m *Engine) Get(_ context.Context, key string) (journal.Doc, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.ready(key); err != nil {
		return journal.Doc{}, err
	}
	d, ok := m.docs[key]
	if !ok {
		return d, fmt.Errorf("%w: document %s", journal.ErrNotFound, key)
	}
	return d, nil
}

// Put stores a document.
func (m *Engine) Put(_ context.Context, key string, value []byte, expect uint64) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.ready(key); err != nil {
		return 0, err
	}
	if len(value) > journal.DocMax {
		return 0, fmt.Errorf("journal: document %s has %d bytes; at most %d are allowed", key, len(value), journal.DocMax)
	}
	if m.docs[key].Revision != expect {
		return 0, fmt.Errorf("%w: %s has revision %d, not %d", journal.ErrConflict, key, m.docs[key].Revision, expect)
	}
	m.rev++
	m.docs[key] = journal.Doc{Key: key, Value: slices.Clone(value), Revision: m.rev, At: time.Now()}
	m.tell()
	return m.rev, nil
}

// Remove removes a document.
func (m *Engine) Remove(_ context.Context, key string, expect uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.ready(key); err != nil {
		return err
	}
	d, ok := m.docs[key]
	if ok && expect != 0 && d.Revision != expect {
		return fmt.Errorf("%w: %s has revision %d, not %d", journal.ErrConflict, key, d.Revision, expect)
	}
	delete(m.docs, key)
	m.tell()
	return nil
}

// List lists documents.
func (m *Engine) List(_ context.Context, q journal.Query) ([]journal.Doc, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, journal.ErrClosed
	}
	return journal.Select(slices.Collect(maps.Keys(m.docs)), q, func(key string) (journal.Doc, bool) {
		d, ok := m.docs[key]
		return d, ok
	}), nil
}

// Watch tells of changes.
func (m *Engine) Watch(ctx context.Context, prefix string, changed func(journal.Doc)) error {
	seen := map[string]uint64{}
	for {
		m.mu.Lock()
		var news []journal.Doc
		for key, d := range m.docs {
			if strings.HasPrefix(key, prefix) && seen[key] != d.Revision {
				seen[key] = d.Revision
				news = append(news, d)
			}
		}
		for key := range seen {
			if _, ok := m.docs[key]; !ok {
				delete(seen, key)
				news = append(news, journal.Doc{Key: key})
			}
		}
		wait, closed := m.changed, m.closed
		m.mu.Unlock()
		if closed {
			return journal.ErrClosed
		}
		for _, d := range news {
			changed(d)
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close closes the engine.
func (m *Engine) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.tell()
	return nil
}
