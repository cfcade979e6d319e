package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/voicegw/voicegw/journal"
)

const (
	retryMax   = 15 * time.Second       // how long a request is repeated that the server does not answer
	retryEvery = 100 * time.Millisecond // how long it rests in between
)

// Engine is a journal.Engine.
type Engine struct {
	cfg        Config
	pool       *pgxpool.Pool
	hints      *hints
	durability journal.Durability
	done       chan struct{}
	once       sync.Once
}

// Open opens an engine. It makes the tables if there are none.
func Open(ctx context.Context, cfg Config) (*Engine, error) {
	settings, err := cfg.check()
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, settings)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	e := &Engine{cfg: cfg, pool: pool, done: make(chan struct{})}
	attempt, cancel := context.WithTimeout(ctx, cfg.Timeout)
	defer cancel()
	if err := e.cfg.prepare(attempt, pool); err != nil {
		pool.Close()
		return nil, fmt.Errorf("postgres: %w", err)
	}
	var fsync, pages string
	if err := pool.QueryRow(attempt, `SELECT current_setting('fsync'), current_setting('full_page_writes')`).
		Scan(&fsync, &pages); err != nil {
		pool.Close()
		return nil, fmt.Errorf("postgres: %w", err)
	}
	if e.durability = journal.OSCrash; fsync == "on" && pages == "on" {
		e.durability = journal.PowerLoss
	}
	if e.hints, err = newHints(attempt, pool, settings.ConnConfig, cfg.Schema); err != nil {
		pool.Close()
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return e, nil
}

// Durability is PowerLoss, or OSCrash if the server does without fsync or full_page_writes. Standby servers
// do not make it Replicated: the engine cannot know that one of them takes over with every commit.
func (e *Engine) Durability() journal.Durability { return e.durability }

// Close waits for requests that run and closes the connections.
func (e *Engine) Close() error {
	e.once.Do(func() {
		close(e.done)
		e.hints.close()
		e.pool.Close()
	})
	return nil
}

// ready is the error of a call with a key that is invalid or comes after Close.
func (e *Engine) ready(key string) error {
	if e.isClosed() {
		return journal.ErrClosed
	}
	return journal.CheckKey(key)
}

func (e *Engine) isClosed() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

// ask makes a request. It repeats one that fails for a cause that may pass, such as a server that starts
// again. A request must be one that can be repeated, whatever became of it.
func (e *Engine) ask(ctx context.Context, what string, request func(context.Context) error) error {
	deadline := time.Now().Add(retryMax)
	for {
		attempt, cancel := context.WithTimeout(ctx, e.cfg.Timeout)
		err := request(attempt)
		cancel()
		switch {
		case err == nil:
			return nil
		case e.isClosed():
			return journal.ErrClosed
		case ctx.Err() != nil:
			return ctx.Err()
		case isOurs(err):
			return err
		case !passes(err) || time.Now().After(deadline):
			return fmt.Errorf("%w: %s: %w", journal.ErrStore, what, err)
		}
		select {
		case <-time.After(retryEvery):
		case <-e.done:
		case <-ctx.Done():
		}
	}
}

// isOurs reports whether an error is an answer, not a failure.
func isOurs(err error) bool {
	for _, own := range []error{journal.ErrFenced, journal.ErrArchived, journal.ErrNotFound, journal.ErrConflict,
		journal.ErrCorrupt} {
		if errors.Is(err, own) {
			return true
		}
	}
	return false
}

// passes reports whether the cause of an error may pass. See appendix A of PostgreSQL's manual.
func passes(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return true // the connection
	}
	switch pg.Code[:2] {
	case "08", "40", "55", "57": // connection, rollback, lock, operator
		return true
	case "53": // resources
		return pg.Code != "53100" // the disk is full
	}
	return pg.Code == "25006" // read only: the server is a standby for now
}
