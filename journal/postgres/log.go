package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/voicegw/voicegw/journal"
)

// Open makes owner the owner of a log.
func (e *Engine) Open(ctx context.Context, log, owner string) (journal.Writer, error) {
	if err := e.ready(log); err != nil {
		return nil, err
	}
	const claim = `
		WITH l AS (
			INSERT INTO logs AS old (key, epoch, last, archived) VALUES ($1, 1, 1, false)
			ON CONFLICT (key) DO UPDATE SET epoch = old.epoch + 1, last = old.last + 1 WHERE NOT old.archived
			RETURNING id, epoch, last)
		INSERT INTO records (log, seq, epoch, kind, data) SELECT id, last, epoch, $2, $3 FROM l
		RETURNING log, epoch, seq`
	var id, epoch, seq int64
	err := e.ask(ctx, "claim "+log, func(ctx context.Context) error {
		err := e.pool.QueryRow(ctx, claim, log, journal.Claim, []byte(owner)).Scan(&id, &epoch, &seq)
		if errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("%w: %s", journal.ErrArchived, log)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	e.hints.tell(logTopic + log)
	o := &ownership{e: e, log: log, id: id, epoch: epoch}
	return journal.NewWriter(uint64(epoch), uint64(seq), o.commit), nil
}

// ownership is what the owner of a log knows.
type ownership struct {
	e     *Engine
	log   string
	id    int64
	epoch int64
}

// commit stores records, if the log is still the owner's. A second attempt finds that the first one has
// stored them, or waits for its end, or is the only one that finds the log as it must be.
func (o *ownership) commit(first uint64, records [][]byte) error {
	const store = `
		WITH l AS (
			UPDATE logs SET last = last + cardinality($4::bytea[])
			WHERE id = $1 AND epoch = $2 AND last = $3 AND NOT archived RETURNING id)
		INSERT INTO records (log, seq, epoch, kind, data)
		SELECT l.id, $3 + r.n, $2, 0, r.data FROM l, unnest($4::bytea[]) WITH ORDINALITY AS r (data, n)`
	before := int64(first) - 1
	after := before + int64(len(records))
	err := o.e.ask(context.Background(), "write to "+o.log, func(ctx context.Context) error {
		tag, err := o.e.pool.Exec(ctx, store, o.id, o.epoch, before, records)
		if err != nil || tag.RowsAffected() > 0 {
			return err
		}
		var mine bool
		const look = `SELECT epoch = $2 AND last = $3 AND NOT archived FROM logs WHERE id = $1`
		err = o.e.pool.QueryRow(ctx, look, o.id, o.epoch, after).Scan(&mine)
		if err == nil && mine {
			return nil
		}
		if err == nil || errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("%w: %s", journal.ErrFenced, o.log)
		}
		return err
	})
	if err == nil {
		o.e.hints.tell(logTopic + o.log)
	}
	return err
}

// Archive ends a log.
func (e *Engine) Archive(ctx context.Context, log string) error {
	if err := e.ready(log); err != nil {
		return err
	}
	const archive = `
		WITH l AS (
			UPDATE logs SET epoch = epoch + 1, last = last + 1, archived = true
			WHERE key = $1 AND NOT archived RETURNING id, epoch, last)
		INSERT INTO records (log, seq, epoch, kind, data) SELECT id, last, epoch, $2, '' FROM l`
	err := e.ask(ctx, "archive "+log, func(ctx context.Context) error {
		tag, err := e.pool.Exec(ctx, archive, log, journal.Archived)
		if err != nil || tag.RowsAffected() > 0 {
			return err
		}
		var archived bool
		err = e.pool.QueryRow(ctx, `SELECT archived FROM logs WHERE key = $1`, log).Scan(&archived)
		if errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("%w: log %s", journal.ErrNotFound, log)
		}
		if err == nil && !archived {
			err = errors.New("the log has begun meanwhile") // and another attempt archives it
		}
		return err
	})
	if err == nil {
		e.hints.tell(logTopic + log)
	}
	return err
}

// Delete removes a log.
func (e *Engine) Delete(ctx context.Context, log string) error {
	if err := e.ready(log); err != nil {
		return err
	}
	err := e.ask(ctx, "delete "+log, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
			var id int64
			err := tx.QueryRow(ctx, `DELETE FROM logs WHERE key = $1 RETURNING id`, log).Scan(&id)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			if err == nil { // a statement of its own: it must see what was committed while the first one waited
				_, err = tx.Exec(ctx, `DELETE FROM records WHERE log = $1`, id)
			}
			return err
		})
	})
	if err == nil {
		e.hints.tell(logTopic + log)
	}
	return err
}
