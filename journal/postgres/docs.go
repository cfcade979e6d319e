package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/voicegw/voicegw/journal"
)

const (
	scanEvery  = 5 * time.Second // how often a watcher looks at all documents by itself
	fetchMax   = 16              // documents that a watcher reads at a time
	afterAll   = "\x7f"          // behind every character of a key
	docColumns = "key, value, revision, at"
)

// Get returns a document.
func (e *Engine) Get(ctx context.Context, key string) (journal.Doc, error) {
	if err := e.ready(key); err != nil {
		return journal.Doc{}, err
	}
	list, err := e.docs(ctx, "read document "+key, `SELECT `+docColumns+` FROM docs WHERE key = $1`, key)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%w: document %s", journal.ErrNotFound, key)
	}
	if err != nil {
		return journal.Doc{}, err
	}
	return list[0], nil
}

// docs reads documents.
func (e *Engine) docs(ctx context.Context, what, sql string, args ...any) (list []journal.Doc, err error) {
	return list, e.ask(ctx, what, func(ctx context.Context) error {
		rows, err := e.pool.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (d journal.Doc, err error) {
			var revision int64
			err = row.Scan(&d.Key, &d.Value, &revision, &d.At)
			d.Revision = uint64(revision)
			return d, err
		})
		return err
	})
}

// Put stores a document.
func (e *Engine) Put(ctx context.Context, key string, value []byte, expect uint64) (uint64, error) {
	if err := e.ready(key); err != nil {
		return 0, err
	}
	if len(value) > journal.DocMax {
		return 0, fmt.Errorf("postgres: document %s has %d bytes; at most %d are allowed", key, len(value), journal.DocMax)
	}
	sql, args := `INSERT INTO docs (`+docColumns+`) VALUES ($1, $2, $3, now()) ON CONFLICT (key) DO NOTHING`, []any{}
	if expect > 0 {
		sql = `UPDATE docs SET value = $2, revision = $3, at = now() WHERE key = $1 AND revision = $4`
		args = append(args, int64(min(expect, farAhead)))
	}
	value = append([]byte{}, value...) // nil is empty, not NULL
	var revision, now int64
	err := e.ask(ctx, "write document "+key, func(ctx context.Context) error {
		if revision == 0 { // beforehand, so that a second attempt knows what the first one has stored
			if err := e.pool.QueryRow(ctx, `SELECT nextval('revisions')`).Scan(&revision); err != nil {
				return err
			}
		}
		tag, err := e.pool.Exec(ctx, sql, append([]any{key, value, revision}, args...)...)
		if err != nil || tag.RowsAffected() > 0 {
			return err
		}
		err = e.pool.QueryRow(ctx, `SELECT coalesce((SELECT revision FROM docs WHERE key = $1), 0)`, key).Scan(&now)
		if err == nil && now != revision {
			return fmt.Errorf("%w: %s has revision %d, not %d", journal.ErrConflict, key, now, expect)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	e.hints.tell(docTopic + key)
	return uint64(revision), nil
}

// Remove removes a document.
func (e *Engine) Remove(ctx context.Context, key string, expect uint64) error {
	if err := e.ready(key); err != nil {
		return err
	}
	err := e.ask(ctx, "remove document "+key, func(ctx context.Context) error {
		tag, err := e.pool.Exec(ctx, `DELETE FROM docs WHERE key = $1 AND ($2 = 0 OR revision = $2)`, key,
			int64(min(expect, farAhead)))
		if err != nil || tag.RowsAffected() > 0 {
			return err
		}
		var now int64
		err = e.pool.QueryRow(ctx, `SELECT revision FROM docs WHERE key = $1`, key).Scan(&now)
		if errors.Is(err, pgx.ErrNoRows) || err == nil && expect == 0 { // gone, or new since
			return nil
		}
		if err == nil {
			err = fmt.Errorf("%w: %s has revision %d, not %d", journal.ErrConflict, key, now, expect)
		}
		return err
	})
	if err == nil {
		e.hints.tell(docTopic + key)
	}
	return err
}

// List lists documents.
func (e *Engine) List(ctx context.Context, q journal.Query) ([]journal.Doc, error) {
	if e.isClosed() {
		return nil, journal.ErrClosed
	}
	sql := `SELECT ` + docColumns + ` FROM docs WHERE key >= $1 AND key < $2 AND key > $3 ORDER BY key LIMIT $4`
	if q.Reverse {
		sql = `SELECT ` + docColumns + ` FROM docs WHERE key >= $1 AND key < $2 AND key < $3 ORDER BY key DESC LIMIT $4`
		if q.After == "" {
			q.After = afterAll
		}
	}
	if q.Limit <= 0 || q.Limit > journal.ListMax {
		q.Limit = journal.ListMax
	}
	return e.docs(ctx, "list documents", sql, q.Prefix, q.Prefix+afterAll, q.After, q.Limit)
}

// Watch tells of changes. It looks at what it hears of, and at everything now and then.
func (e *Engine) Watch(ctx context.Context, prefix string, changed func(journal.Doc)) error {
	if e.isClosed() {
		return journal.ErrClosed
	}
	l := e.hints.watch(prefix)
	defer l.stop()
	w := &watcher{e: e, prefix: prefix, changed: changed, seen: map[string]uint64{}}
	scan := time.NewTicker(scanEvery)
	defer scan.Stop()
	if err := w.scan(ctx); err != nil {
		return err
	}
	for {
		all := false
		select {
		case <-l.news:
		case <-scan.C:
			all = true
		case <-e.done:
			return journal.ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
		keys, missed := l.take()
		var err error
		if all || missed {
			err = w.scan(ctx)
		} else {
			err = w.look(ctx, keys)
		}
		if err != nil {
			return err
		}
	}
}

// watcher is what a caller of Watch has been told.
type watcher struct {
	e       *Engine
	prefix  string
	changed func(journal.Doc)
	seen    map[string]uint64 // revisions by key
}

// scan looks at all documents.
func (w *watcher) scan(ctx context.Context) error {
	var news map[string]uint64 // those that are not there any more, and those that are others
	err := w.e.ask(ctx, "watch documents", func(ctx context.Context) error {
		news = maps.Clone(w.seen)
		rows, err := w.e.pool.Query(ctx, `SELECT key, revision FROM docs WHERE key >= $1 AND key < $2`, w.prefix,
			w.prefix+afterAll)
		if err != nil {
			return err
		}
		var key string
		var revision int64
		_, err = pgx.ForEachRow(rows, []any{&key, &revision}, func() error {
			if news[key] = uint64(revision); w.seen[key] == uint64(revision) {
				delete(news, key)
			}
			return nil
		})
		return err
	})
	if err != nil {
		return err
	}
	return w.look(ctx, slices.Sorted(maps.Keys(news)))
}

// look tells of the documents with these keys, if they have changed.
func (w *watcher) look(ctx context.Context, keys []string) error {
	for chunk := range slices.Chunk(keys, fetchMax) {
		list, err := w.e.docs(ctx, "watch documents", `SELECT `+docColumns+` FROM docs WHERE key = ANY ($1)`, chunk)
		if err != nil {
			return err
		}
		there := map[string]bool{}
		for _, d := range list {
			if there[d.Key] = true; w.seen[d.Key] != d.Revision {
				w.seen[d.Key] = d.Revision
				w.changed(d)
			}
		}
		for _, key := range chunk {
			if _, told := w.seen[key]; told && !there[key] {
				delete(w.seen, key)
				w.changed(journal.Doc{Key: key})
			}
		}
	}
	return nil
}
