package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// report is what a child measured.
type report struct {
	Durable string // how the engine syncs
	Alone   phase  // one session at a time
	Many    phase  // sessions at once
}

// phase is a part of a run.
type phase struct {
	Turns   []time.Duration // from message to idle
	Elapsed time.Duration
	CPU     time.Duration // of all processes of the side, its client included
	Written int64         // bytes that these gave to the disk
	Stored  int64         // bytes by which the data grew
}

// warmups is how many turns a child makes before it measures.
const warmups = 20

// measure runs both phases.
func (s *settings) measure(ctx context.Context, e side, t *tool) (*report, error) {
	r := &report{}
	var err error
	if r.Durable, err = e.durable(ctx); err != nil {
		return nil, err
	}
	if _, err := s.run(ctx, e, "warm", warmups, 1, 1); err != nil {
		return nil, err
	}
	if r.Alone, err = s.run(ctx, e, "alone", s.length, s.alone, 1); err != nil {
		return nil, err
	}
	if r.Many, err = s.run(ctx, e, "many", s.length, s.many, s.many); err != nil {
		return nil, err
	}
	if want := int64(warmups + s.length*(s.alone+s.many)); t.calls.Load() != want {
		return nil, fmt.Errorf("the tool ran %d times in %d turns", t.calls.Load(), want)
	}
	return r, nil
}

// run runs turns of sessions, some at once.
func (s *settings) run(ctx context.Context, e side, name string, turns, sessions, atOnce int) (phase, error) {
	p := phase{}
	ids := make(chan string, sessions)
	for range sessions {
		id, err := e.begin(ctx)
		if err != nil {
			return p, err
		}
		ids <- id
	}
	close(ids)
	runtime.GC()
	stored, err := e.stored(ctx)
	if err != nil {
		return p, err
	}
	if err := s.mark(name + "-begin"); err != nil {
		return p, err
	}
	before, err := used(e.servers())
	if err != nil {
		return p, err
	}
	began := time.Now()
	if p.Turns, err = spread(ctx, e, ids, turns, atOnce); err != nil {
		return p, err
	}
	p.Elapsed = time.Since(began)
	after, err := used(e.servers())
	if err != nil {
		return p, err
	}
	p.CPU, p.Written = after.cpu-before.cpu, after.written-before.written
	if err := s.mark(name + "-end"); err != nil {
		return p, err
	}
	p.Stored, err = e.stored(ctx)
	p.Stored -= stored
	return p, err
}

// spread runs sessions, some at once, and returns how long their turns took.
func spread(ctx context.Context, e side, ids <-chan string, turns, atOnce int) ([]time.Duration, error) {
	var (
		work  sync.WaitGroup
		mu    sync.Mutex
		took  []time.Duration
		first error
	)
	for range atOnce {
		work.Go(func() {
			for id := range ids {
				list, err := session(ctx, e, id, turns)
				mu.Lock()
				took = append(took, list...)
				if first == nil {
					first = err
				}
				mu.Unlock()
			}
		})
	}
	work.Wait()
	return took, first
}

// session runs the turns of a session.
func session(ctx context.Context, e side, id string, turns int) ([]time.Duration, error) {
	took := make([]time.Duration, 0, turns)
	for i := range turns {
		began := time.Now()
		answer, err := e.turn(ctx, id, fmt.Sprint(id, "-", i), question)
		took = append(took, time.Since(began))
		if err == nil && answer != booked {
			err = fmt.Errorf("the answer is %q", answer)
		}
		if err != nil {
			return took, fmt.Errorf("turn %d of %s: %w", i, id, err)
		}
	}
	return took, nil
}
