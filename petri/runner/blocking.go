package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/voicegw/voicegw/petri"
)

// InjectBlocking is like Inject for a row of tokens, which enter one after another at one time. It
// waits while the inbox has no room for all of them; it returns ErrInboxFull for more than Config.Inbox
// tokens. If ctx ends first, it returns its error, and no token is queued. It must not be called from Out.
func (r *Runner) InjectBlocking(ctx context.Context, row ...petri.Token) error {
	if err := r.checkPlaces(row); err != nil || len(row) == 0 {
		return err
	}
	for {
		seen := r.in.progress.count()
		if err := r.in.push(nil, row...); !errors.Is(err, ErrInboxFull) || len(row) > r.cfg.Inbox {
			return err
		}
		if err := r.await(ctx, row[0], r.in.progress.since(seen)); err != nil {
			return err
		}
	}
}

// InjectQuietly is like Inject, but does not wake the loop: the token enters, with the time of this
// call, when another injection, a timer or a result wakes it. Use it for tokens that nothing waits for,
// and Inject for the last of a few.
func (r *Runner) InjectQuietly(t petri.Token) error {
	if err := r.checkPlace(t); err != nil {
		return err
	}
	return r.in.pushQuietly(t)
}

// InjectAccepted is like InjectWait for a row of tokens, but waits while the inbox or the place of the
// next token is full. Tokens that find room enter together, and the rest keeps its order. A place that
// is full refuses a waiting row once; it refuses it again only if the place had room since and
// something else filled it. If ctx ends first, InjectAccepted returns its error; tokens that are then
// queued still enter. It must not be called from Out.
func (r *Runner) InjectAccepted(ctx context.Context, row ...petri.Token) error {
	if err := r.checkPlaces(row); err != nil {
		return err
	}
	for len(row) > 0 {
		seen := r.in.progress.count()
		entered, err := r.ask(ctx, row...)
		row = row[entered:]
		switch {
		case errors.Is(err, ErrInboxFull) && len(row) <= r.cfg.Inbox:
			err = r.await(ctx, row[0], r.in.progress.since(seen))
		case errors.Is(err, petri.ErrFull):
			err = r.await(ctx, row[0], r.roomAt(row[0]))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Runner) checkPlaces(row []petri.Token) error {
	for _, t := range row {
		if err := r.checkPlace(t); err != nil {
			return err
		}
	}
	return nil
}

// await waits until room is closed.
func (r *Runner) await(ctx context.Context, t petri.Token, room <-chan struct{}) error {
	select {
	case <-room:
		return nil
	case <-r.done:
		return ErrClosed
	case <-ctx.Done():
		return fmt.Errorf("runner: inject at %q: %w", t.Place(), ctx.Err())
	}
}

// progress wakes senders that found the inbox full. It counts how often the loop emptied a full
// inbox. While no sender waits, counting costs two atomic operations.
type progress struct {
	n       atomic.Uint64
	waiting atomic.Bool

	mu sync.Mutex
	ch chan struct{} // closed when the count next changes; nil: nobody waits
}

func (p *progress) count() uint64 { return p.n.Load() }

// since returns a channel that is closed once the count differs from seen.
func (p *progress) since(seen uint64) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ch == nil {
		p.ch = make(chan struct{})
	}
	ch := p.ch
	p.waiting.Store(true) // before the count is read; advance uses the other order
	if p.n.Load() != seen {
		p.wake()
	}
	return ch
}

// advance counts.
func (p *progress) advance() {
	p.n.Add(1)
	if !p.waiting.Load() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wake()
}

// wake wakes every waiting sender. The caller holds mu.
func (p *progress) wake() {
	p.waiting.Store(false)
	if p.ch != nil {
		close(p.ch)
		p.ch = nil
	}
}
