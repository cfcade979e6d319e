package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/voicegw/voicegw/journal"
)

const (
	pageBytes = 1_000_000       // a page of a reader ends behind the record with which it has so many
	pollEvery = 2 * time.Second // how often a reader that was told nothing looks by itself
	farAhead  = 1 << 62         // more than the number of any record
)

// state is what a log is at a time.
type state struct {
	id, last int64
	archived bool
}

// find returns the state of a log.
func (e *Engine) find(ctx context.Context, log string) (s state, err error) {
	return s, e.ask(ctx, "read "+log, func(ctx context.Context) error {
		err := e.pool.QueryRow(ctx, `SELECT id, last, archived FROM logs WHERE key = $1`, log).
			Scan(&s.id, &s.last, &s.archived)
		if errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("%w: log %s", journal.ErrNotFound, log)
		}
		return err
	})
}

// Last returns the last record of a log.
func (e *Engine) Last(ctx context.Context, log string) (r journal.Record, err error) {
	if err := e.ready(log); err != nil {
		return r, err
	}
	s, err := e.find(ctx, log)
	for err == nil {
		var list []journal.Record
		if list, err = e.page(ctx, log, s.id, s.last); err == nil && len(list) > 0 {
			return list[len(list)-1], nil
		}
		was := s
		if s, err = e.find(ctx, log); err == nil && s.id == was.id {
			err = missing(log, was.last)
		}
	}
	return r, err
}

// missing is the error of a log without a record that must be there.
func missing(log string, seq int64) error {
	return fmt.Errorf("%w: %s: record %d is missing", journal.ErrCorrupt, log, seq)
}

// Read yields records.
func (e *Engine) Read(ctx context.Context, log string, from uint64, live bool) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		if err := e.read(ctx, log, int64(min(max(from, 1), farAhead)), live, yield); err != nil {
			yield(journal.Record{}, err)
		}
	}
}

// read is Read; its error was not yielded.
func (e *Engine) read(ctx context.Context, log string, next int64, live bool,
	yield func(journal.Record, error) bool) error {
	if err := e.ready(log); err != nil {
		return err
	}
	l := e.hints.listen(logTopic+log, live)
	defer l.stop()
	s, err := e.find(ctx, log)
	if err != nil {
		return err
	}
	for first := s.id; ; {
		for next <= s.last {
			list, err := e.page(ctx, log, first, next)
			if err != nil {
				return err
			}
			for _, r := range list {
				if int64(r.Seq) != next { // or the log was deleted between two looks; see below
					list = nil
					break
				}
				if next++; !yield(r, nil) {
					return nil
				}
			}
			if len(list) == 0 {
				break
			}
		}
		if !live && next > s.last {
			return nil
		}
		was := s
		s, err = e.find(ctx, log)
		switch {
		case err != nil:
			return err
		case s.id != first:
			return fmt.Errorf("%w: log %s is deleted", journal.ErrNotFound, log)
		case next <= was.last:
			return missing(log, next)
		case next <= s.last:
			continue
		case s.archived:
			return nil
		}
		select {
		case <-l.news:
		case <-time.After(pollEvery):
		case <-e.done:
			return journal.ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// page returns some records of a log from a number on, up to the first one with which they have pageBytes.
func (e *Engine) page(ctx context.Context, log string, id, from int64) (list []journal.Record, err error) {
	const read = `
		SELECT seq, epoch, kind, data FROM (
			SELECT seq, epoch, kind, data, sum(octet_length(data)) OVER (ORDER BY seq) - octet_length(data) AS before
			FROM records WHERE log = $1 AND seq >= $2 AND seq < $2 + 256) AS page
		WHERE before < $3 ORDER BY seq`
	return list, e.ask(ctx, "read "+log, func(ctx context.Context) error {
		rows, err := e.pool.Query(ctx, read, id, from, pageBytes)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (journal.Record, error) {
			return record(log, row)
		})
		return err
	})
}

// record reads a row.
func record(log string, row pgx.CollectableRow) (r journal.Record, err error) {
	var seq, epoch int64
	var kind int16
	var data []byte
	if err = row.Scan(&seq, &epoch, &kind, &data); err != nil {
		return r, err
	}
	r.Seq, r.Epoch, r.Kind = uint64(seq), uint64(epoch), journal.Kind(kind)
	switch {
	case epoch < 1, kind < 0, kind > int16(journal.Archived), (r.Kind == journal.Data) && len(data) == 0:
		return r, fmt.Errorf("%w: %s: record %d has the epoch %d, the kind %d and %d bytes", journal.ErrCorrupt, log, seq,
			epoch, kind, len(data))
	case r.Kind == journal.Data:
		r.Data = data
	case r.Kind == journal.Claim:
		r.Owner = string(data)
	}
	return r, nil
}
