package voicegw

import (
	"context"
	"errors"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
)

// watchEvents is how many events a watcher may leave unread: those of about half a minute.
const watchEvents = 8192

// Watcher follows the net of a running call. One goroutine uses it, and closes it.
type Watcher struct {
	tracker *petri.Tracker
	from    *event.Follower
}

// Watch returns a watcher of the call, from now on. A watcher that reads too slowly is cut off; it
// never slows the call. The error wraps event.ErrFollowers if event.FollowersMax watch already.
func (s *Session) Watch() (*Watcher, error) {
	f, err := s.feed.Follow(watchEvents)
	if err != nil {
		return nil, err
	}
	return &Watcher{tracker: s.net.Track(), from: f}, nil
}

// Program returns the net of the call.
func (s *Session) Program() *petri.Program { return s.prog }

// Tracker returns what the net looks like before the events that Next returns next. It is the
// caller's: Next does not change it.
func (w *Watcher) Tracker() *petri.Tracker { return w.tracker.Clone() }

// Next waits for events and appends them to dst. The first one follows Tracker. At the end of the
// call it returns dst and ErrOver. Its error wraps event.ErrBehind if the watcher was cut off, or is
// that of ctx.
func (w *Watcher) Next(ctx context.Context, dst []petri.Event) ([]petri.Event, error) {
	for {
		events, over, err := w.from.Next(ctx, dst)
		if err != nil {
			return dst, err
		}
		if over {
			return dst, ErrOver
		}
		fresh := events[:len(dst)]
		for _, e := range events[len(dst):] {
			if e.Seq <= w.tracker.Seq() { // the tracker was taken after it
				continue
			}
			if err := w.tracker.Apply(e); err != nil {
				return dst, errors.Join(errors.New("voicegw: watch the call"), err)
			}
			fresh = append(fresh, e)
		}
		if len(fresh) > len(dst) {
			return fresh, nil
		}
	}
}

// Close ends the watch.
func (w *Watcher) Close() { w.from.Close() }
