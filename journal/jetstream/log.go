package jetstream

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/voicegw/voicegw/journal"
)

const (
	claimsMax = 8                      // attempts to claim a log that others claim, too
	commitMax = 15 * time.Second       // how long a commit whose outcome is unknown is looked after
	pollEvery = 500 * time.Millisecond // how often a reader that was told nothing looks by itself
)

// Open makes owner the owner of a log.
func (e *Engine) Open(ctx context.Context, log, owner string) (journal.Writer, error) {
	p, err := e.place(log)
	if err != nil {
		return nil, err
	}
	for range claimsMax {
		old, seq, err := e.last(ctx, p)
		if err != nil {
			return nil, err
		}
		claim := &batch{kind: journal.Claim, epoch: 1, first: 1, records: [][]byte{[]byte(owner)}}
		if old != nil {
			if old.kind == journal.Archived {
				return nil, fmt.Errorf("%w: %s", journal.ErrArchived, log)
			}
			claim.epoch, claim.first = old.epoch+1, old.last()+1
		}
		o := &ownership{e: e, p: p, id: rand.Uint64(), seq: seq}
		err = o.publish(ctx, claim)
		if errors.Is(err, journal.ErrFenced) {
			continue
		}
		if err != nil {
			return nil, err
		}
		o.epoch = claim.epoch
		return journal.NewWriter(claim.epoch, claim.first, o.commit), nil
	}
	return nil, fmt.Errorf("%w: %s is claimed by others again and again", journal.ErrFenced, log)
}

// ownership is what the owner of a log knows. One goroutine at a time uses it.
type ownership struct {
	e     *Engine
	p     place
	id    uint64 // of the writer
	epoch uint64
	seq   uint64 // number of the log's last message in its stream; 0 if there is none
}

// commit stores records in one message, or in several if they do not fit into one.
func (o *ownership) commit(first uint64, records [][]byte) error {
	most := int(o.e.nc.MaxPayload()) - headerMax
	for len(records) > 0 {
		n, size := 0, 0
		for n < len(records) && (n == 0 || size+len(records[n])+10 <= most) {
			size += len(records[n]) + 10
			n++
		}
		b := &batch{kind: journal.Data, epoch: o.epoch, first: first, records: records[:n]}
		if err := o.publish(context.Background(), b); err != nil {
			return err
		}
		first, records = first+uint64(n), records[n:]
	}
	return nil
}

// publish stores a message behind the last one that the owner knows.
func (o *ownership) publish(ctx context.Context, b *batch) error {
	b.writer = o.id
	data := b.encode()
	deadline := time.Now().Add(commitMax)
	for {
		attempt, cancel := context.WithTimeout(ctx, o.e.cfg.Timeout)
		ack, err := o.e.js.PublishMsg(attempt, &nats.Msg{Subject: o.p.subject, Data: data},
			jetstream.WithExpectLastSequencePerSubject(o.seq), jetstream.WithRetryAttempts(0))
		cancel()
		if err == nil {
			o.seq = ack.Sequence
			o.e.tell("log", o.p.key)
			return nil
		}
		stored, lerr := o.look(ctx, b)
		switch {
		case stored:
			o.e.tell("log", o.p.key)
			return nil
		case errors.Is(lerr, journal.ErrFenced), errors.Is(lerr, journal.ErrClosed), errors.Is(lerr, context.Canceled):
			return lerr
		case time.Now().After(deadline) || definite(err):
			return o.e.failed(ctx, "write to "+o.p.key, errors.Join(err, lerr))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// look finds out what became of a message whose answer is missing, or which the server refused. The server
// may have refused it for an earlier attempt that is still under way.
func (o *ownership) look(ctx context.Context, b *batch) (stored bool, err error) {
	last, seq, err := o.e.last(ctx, o.p)
	switch {
	case err != nil:
		return false, err
	case last == nil && o.seq == 0, seq == o.seq:
		return false, nil // it is not there yet
	case last != nil && last.writer == b.writer && last.last() == b.last():
		o.seq = seq
		return true, nil
	}
	return false, fmt.Errorf("%w: %s", journal.ErrFenced, o.p.key)
}

// definite reports whether an error of a server is one that another attempt does not change.
func definite(err error) bool {
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		return false
	}
	switch api.ErrorCode {
	case jetstream.JSErrCodeStreamWrongLastSequence, 10164: // another attempt may be under way
		return false
	}
	return api.Code >= 400
}

// Archive ends a log.
func (e *Engine) Archive(ctx context.Context, log string) error {
	p, err := e.place(log)
	if err != nil {
		return err
	}
	for range claimsMax {
		last, seq, err := e.last(ctx, p)
		switch {
		case err != nil:
			return err
		case last == nil:
			return fmt.Errorf("%w: log %s", journal.ErrNotFound, log)
		case last.kind == journal.Archived:
			return nil
		}
		o := &ownership{e: e, p: p, id: rand.Uint64(), seq: seq}
		err = o.publish(ctx, &batch{kind: journal.Archived, epoch: last.epoch + 1, first: last.last() + 1,
			records: [][]byte{nil}})
		if !errors.Is(err, journal.ErrFenced) {
			return err
		}
	}
	return fmt.Errorf("%w: %s changes again and again", journal.ErrFenced, log)
}

// Delete removes a log.
func (e *Engine) Delete(ctx context.Context, log string) error {
	p, err := e.place(log)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, e.cfg.Timeout)
	defer cancel()
	if err := p.stream.Purge(ctx, jetstream.WithPurgeSubject(p.subject)); err != nil {
		return e.failed(ctx, "delete "+log, err)
	}
	e.tell("log", log)
	return nil
}

// Last returns the last record of a log.
func (e *Engine) Last(ctx context.Context, log string) (r journal.Record, err error) {
	p, err := e.place(log)
	if err != nil {
		return r, err
	}
	b, _, err := e.last(ctx, p)
	if err != nil {
		return r, err
	}
	if b == nil {
		return r, fmt.Errorf("%w: log %s", journal.ErrNotFound, log)
	}
	b.yield(b.last(), func(one journal.Record, _ error) bool { r = one; return true })
	return r, nil
}

// Read yields records.
func (e *Engine) Read(ctx context.Context, log string, from uint64, live bool) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		if err := e.read(ctx, log, max(from, 1), live, yield); err != nil {
			yield(journal.Record{}, err)
		}
	}
}

// read is Read; its error was not yielded.
func (e *Engine) read(ctx context.Context, log string, from uint64, live bool,
	yield func(journal.Record, error) bool) error {
	p, err := e.place(log)
	if err != nil {
		return err
	}
	news := make(chan *nats.Msg, 1)
	if live {
		sub, err := e.nc.Subscribe(hint+"log."+dotted(log), func(m *nats.Msg) {
			select {
			case news <- m:
			default:
			}
		})
		if err != nil {
			return e.failed(ctx, "read "+log, err)
		}
		defer func() { _ = sub.Unsubscribe() }()
	}
	at, err := e.find(ctx, p, from)
	if err != nil {
		return err
	}
	for first := uint64(0); ; { // the first record of the next message, where it is known
		b, seq, err := e.next(ctx, p, at)
		if err != nil {
			return err
		}
		if b != nil {
			if err := follows(b, first, from, log); err != nil {
				return err
			}
			if !b.yield(from, yield) || b.kind == journal.Archived {
				return nil
			}
			first, at = b.last()+1, seq+1
			from = max(from, first)
			continue
		}
		if !live {
			return nil
		}
		last, end, err := e.last(ctx, p)
		switch {
		case err != nil:
			return err
		case last == nil:
			return fmt.Errorf("%w: log %s is deleted", journal.ErrNotFound, log)
		case end >= at:
			continue // it came meanwhile
		case last.kind == journal.Archived:
			return nil
		}
		first = last.last() + 1
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

// follows checks that a message is the one with the record first, or, if that is 0, one with a record up to
// from. A log that begins again is another one: the one before is deleted.
func follows(b *batch, first, from uint64, log string) error {
	switch {
	case b.first == first, first == 0 && b.first <= from:
		return nil
	case b.first == 1:
		return fmt.Errorf("%w: log %s is deleted", journal.ErrNotFound, log)
	}
	return fmt.Errorf("%w: %s: record %d comes where %d must be", journal.ErrCorrupt, log, b.first, max(first, from))
}

// next reads the first message of a log from a number of its stream on; nil if there is none.
func (e *Engine) next(ctx context.Context, p place, at uint64) (*batch, uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, e.cfg.Timeout)
	defer cancel()
	msg, err := p.stream.GetMsg(ctx, at, jetstream.WithGetMsgSubject(p.subject))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, e.failed(ctx, "read "+p.key, err)
	}
	b, err := decodeBatch(msg.Data)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: message %d of %s: %w", journal.ErrCorrupt, msg.Sequence, p.key, err)
	}
	return b, msg.Sequence, nil
}

// find returns the number in the stream of the message that has a record, or of the first one behind it.
func (e *Engine) find(ctx context.Context, p place, record uint64) (uint64, error) {
	last, end, err := e.last(ctx, p)
	switch {
	case err != nil:
		return 0, err
	case last == nil:
		return 0, fmt.Errorf("%w: log %s", journal.ErrNotFound, p.key)
	case record == 1:
		return 1, nil
	case record > last.last():
		return end + 1, nil
	}
	low, high := uint64(1), end // the first message from low on may be too early, that from high on is not
	for low < high {
		middle := low + (high-low)/2
		b, seq, err := e.next(ctx, p, middle)
		switch {
		case err != nil:
			return 0, err
		case b == nil || b.last() >= record:
			high = middle
		default:
			low = seq + 1
		}
	}
	return low, nil
}
