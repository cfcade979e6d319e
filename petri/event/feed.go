package event

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/voicegw/voicegw/petri"
)

// Errors of a Follower.
var (
	// ErrBehind means that a follower read so slowly that its buffer was full. It is cut off.
	ErrBehind = errors.New("event: the follower fell behind")
	// ErrFollowers means that a feed has as many followers as it may have.
	ErrFollowers = errors.New("event: the feed has too many followers")
)

// FollowersMax limits the followers of a Feed.
const FollowersMax = 8

// followMax limits the events that a follower may leave unread, in its buffer of 40 bytes each.
const followMax = 1 << 16

// Feed is a Store for readers that come and go while the run goes on. It delays no output and keeps
// nothing: a follower gets the events from its Follow on. The zero value is ready to use. Without
// followers an Append costs a few nanoseconds. It is safe for concurrent use.
type Feed struct {
	list atomic.Pointer[[]*Follower]
	over atomic.Bool

	mu  sync.Mutex // of changes of list
	cut atomic.Uint64
}

// Append passes events on to the followers. It copies them, never blocks, and cuts off a follower
// whose buffer has no room.
func (f *Feed) Append(events []petri.Event) {
	list := f.list.Load()
	if list == nil {
		return
	}
	for _, one := range *list {
		if !one.take(events) {
			f.cut.Add(1)
			f.remove(one)
		}
	}
}

// Stored reports everything as stored: no output waits for a reader.
func (f *Feed) Stored() uint64 { return math.MaxUint64 }

// Cut returns how many followers were cut off because they fell behind.
func (f *Feed) Cut() uint64 { return f.cut.Load() }

// End ends all followers, and those that come later, once they have read what they have.
func (f *Feed) End() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over.Store(true)
	if list := f.list.Swap(nil); list != nil {
		for _, one := range *list {
			one.end(nil)
		}
	}
}

// Follow returns a follower with a buffer of n events, at most 65,536. The caller closes it. The
// error wraps ErrFollowers if the feed has FollowersMax.
func (f *Feed) Follow(n int) (*Follower, error) {
	if n < 1 || n > followMax {
		return nil, fmt.Errorf("event: follow with a buffer of %d events; it must have 1 to %d", n, followMax)
	}
	one := &Follower{feed: f, max: n, wake: make(chan struct{}, 1)}
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []*Follower
	if old := f.list.Load(); old != nil {
		list = slices.Clone(*old)
	}
	switch {
	case f.over.Load():
		one.end(nil)
		return one, nil
	case len(list) >= FollowersMax:
		return nil, fmt.Errorf("%w: %d", ErrFollowers, FollowersMax)
	}
	list = append(list, one)
	f.list.Store(&list)
	return one, nil
}

func (f *Feed) remove(one *Follower) {
	f.mu.Lock()
	defer f.mu.Unlock()
	old := f.list.Load()
	if old == nil {
		return
	}
	list := slices.DeleteFunc(slices.Clone(*old), func(o *Follower) bool { return o == one })
	if f.list.Store(&list); len(list) == 0 {
		f.list.Store(nil)
	}
}

// Follower reads the events of a Feed. One goroutine uses it.
type Follower struct {
	feed *Feed
	max  int
	wake chan struct{} // a signal, 1 deep

	mu   sync.Mutex
	buf  []petri.Event
	over bool
	err  error // why it is over; nil: the run has ended, or Close
}

// take copies events into the buffer. It reports false if there is no room; the follower is over.
func (f *Follower) take(events []petri.Event) bool {
	f.mu.Lock()
	full := len(f.buf)+len(events) > f.max
	if !full && !f.over {
		f.buf = append(f.buf, events...)
	}
	f.mu.Unlock()
	if full {
		f.end(fmt.Errorf("%w: %d events were unread", ErrBehind, f.max))
		return false
	}
	f.signal()
	return true
}

// end ends the follower. One that fell behind loses its buffer.
func (f *Follower) end(err error) {
	f.mu.Lock()
	if !f.over {
		f.over, f.err = true, err
		if err != nil {
			f.buf = nil
		}
	}
	f.mu.Unlock()
	f.signal()
}

func (f *Follower) signal() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Next waits for events, appends all unread ones to dst and returns the extended slice. At the end
// of the run it returns dst and over. Its error wraps ErrBehind if the follower was cut off, or is
// that of ctx.
func (f *Follower) Next(ctx context.Context, dst []petri.Event) (events []petri.Event, over bool, err error) {
	for {
		if events, over, err = f.unread(dst); over || err != nil || len(events) > len(dst) {
			return events, over, err
		}
		select {
		case <-f.wake:
		case <-ctx.Done():
			return dst, false, fmt.Errorf("event: follow: %w", ctx.Err())
		}
	}
}

func (f *Follower) unread(dst []petri.Event) (events []petri.Event, over bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	events = append(dst, f.buf...)
	f.buf = f.buf[:0]
	return events, f.over && len(events) == len(dst), f.err
}

// Close ends the follower, so that the feed forgets it.
func (f *Follower) Close() {
	f.feed.remove(f)
	f.end(nil)
}
