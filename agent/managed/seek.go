package managed

import (
	"context"
	"errors"
	"iter"

	"github.com/voicegw/voicegw/journal"
)

// recordOf finds a record of a session's log from which a reader misses no event from number from on. The
// head of each record tells the number of the session's last event behind it, so a few records suffice.
func (r *Runtime) recordOf(ctx context.Context, id string, from uint64) (uint64, error) {
	if from <= 1 {
		return 1, nil
	}
	last, err := r.cfg.Journal.Last(ctx, logKey(id))
	if err != nil {
		return 1, storage("read session "+id, err)
	}
	// Records in front of low hold earlier events alone.
	low, high := uint64(1), last.Seq
	for low < high {
		middle := low + (high-low)/2
		seq, rec, err := r.dataFrom(ctx, id, middle)
		switch {
		case err != nil:
			return 1, err
		case rec == nil || seq >= high || rec.Head.Seq >= from:
			high = middle
		default:
			low = seq + 1
		}
	}
	return low, nil
}

// dataFrom reads the first record of a session from number from on that is no claim; nil if there is none.
func (r *Runtime) dataFrom(ctx context.Context, id string, from uint64) (uint64, *record, error) {
	for rec, err := range r.cfg.Journal.Read(ctx, logKey(id), from, false) {
		if err != nil {
			return 0, nil, storage("read session "+id, err)
		}
		if rec.Kind != journal.Data {
			continue
		}
		one, err := decodeRecord(rec)
		if err != nil {
			return 0, nil, storage("read session "+id, err)
		}
		return rec.Seq, one, nil
	}
	return 0, nil, nil
}

// Events yields the events of a session from number from on; 0 means 1. It ends behind the newest one,
// or, with live, goes on until ctx ends or the session is deleted, which a session.deleted tells. Any node
// answers. No event is left out or yielded twice.
func (r *Runtime) Events(ctx context.Context, o Owner, id string, from uint64, live bool) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		if _, _, err := r.entry(ctx, o, id); err != nil {
			yield(nil, err)
			return
		}
		begin, err := r.recordOf(ctx, id, from)
		if err != nil && CodeOf(err) != NotFound {
			if ctx.Err() == nil {
				yield(nil, err)
			}
			return
		}
		for rec, err := range r.records(ctx, id, begin, live) {
			switch {
			case errors.Is(err, journal.ErrNotFound) && live:
				yield(&Event{Type: SessionDeleted}, nil)
				return
			case err != nil && ctx.Err() != nil:
				return
			case err != nil:
				yield(nil, storage("read session "+id, err))
				return
			case rec.Kind != journal.Data:
				continue
			}
			one, err := decodeRecord(rec)
			if err != nil {
				yield(nil, storage("read session "+id, err))
				return
			}
			for _, ev := range one.Events {
				if ev.Seq >= from && !yield(ev, nil) {
					return
				}
			}
		}
	}
}
