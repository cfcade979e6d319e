package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
)

// Head begins a feed.
type Head struct {
	Call    Call    `json:"call"`
	Net     string  `json:"net"`             // hash of the net, for /api/nets/
	Running bool    `json:"running"`         // more is to come
	At      float64 `json:"at"`              // milliseconds since the call began
	Seq     uint64  `json:"seq"`             // number of the last event before the feed
	Marking []int32 `json:"marking"`         // by slot, before the first event
	Since   string  `json:"since,omitempty"` // why the feed does not show the beginning of the call
}

// sender writes server-sent events.
type sender struct {
	w   http.ResponseWriter
	out *http.ResponseController
}

// errFeeds refuses one more feed, or report.
var errFeeds = &problem{http.StatusServiceUnavailable, fmt.Sprintf("%d calls are being shown, which is the most; "+
	"close one of them", feedsMax)}

// begin takes the place of a feed, or of a report, which costs as much. If there is one, end must follow.
func (s *server) begin() bool {
	select {
	case s.feeds <- struct{}{}:
		return true
	default:
		return false
	}
}

func (s *server) end() { <-s.feeds }

// feeding answers with a feed: the event head, batches as batch, and at the end over with its reason.
func (s *server) feeding(do func(*http.Request, *sender) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.begin() {
			refuse(w, errFeeds)
			return
		}
		defer s.end()
		to := &sender{w: w, out: http.NewResponseController(w)}
		if err := do(r, to); err != nil {
			refuse(w, err)
		}
	}
}

// begin sends the head. From here on errors go to over.
func (s *sender) begin(h Head) error {
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.Header().Set("Cache-Control", "no-store")
	err := s.out.SetReadDeadline(time.Time{}) // a feed may outlast the time for a request
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return s.send("head", h)
}

func (s *sender) send(name string, data any) error {
	body, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return s.write(fmt.Sprintf("event: %s\ndata: %s\n\n", name, body))
}

func (s *sender) write(text string) error {
	err := s.out.SetWriteDeadline(time.Now().Add(sendTime))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.out.Flush()
}

// over ends a feed. why is "" if all went well.
func (s *sender) over(why string) { _ = s.send("over", map[string]string{"why": why}) }

func noCall(id string) error {
	return &problem{http.StatusNotFound, fmt.Sprintf("no call %q is up; if calls are archived, it is in the list of "+
		"archives", id)}
}

// running shows a running call.
func (s *server) running(r *http.Request, to *sender) error {
	session, ok := s.cfg.Gateway.Session(r.PathValue("call"))
	if !ok {
		return noCall(r.PathValue("call"))
	}
	watch, err := session.Watch()
	if errors.Is(err, event.ErrFollowers) {
		return &problem{http.StatusServiceUnavailable, fmt.Sprintf("%d others watch this call, which is the most",
			event.FollowersMax)}
	}
	if err != nil {
		return err
	}
	defer watch.Close()
	call, t := callOf(session), watch.Tracker()
	now := func() time.Duration { return time.Since(call.Began) }
	head := Head{Call: call, Net: s.know(session.Program()), Running: true, At: ms(max(now(), t.Now())), Seq: t.Seq(),
		Marking: append([]int32(nil), t.Marking()...)}
	rec, err := s.history(r.Context(), call.ID, session.Program(), t.Seq())
	if err == nil {
		head.At, head.Seq, head.Marking = 0, 0, make([]int32, len(head.Marking))
	} else {
		rec, head.Since = newRecorder(t), err.Error()
	}
	if to.begin(head) != nil {
		return nil // the client is gone
	}
	follow(r.Context(), watch, rec, now, to)
	return nil
}

// follow sends batches of a running call until it is over or the client is gone.
func follow(ctx context.Context, watch *voicegw.Watcher, rec *recorder, now func() time.Duration, to *sender) {
	var events []petri.Event
	for {
		wait, cancel := context.WithTimeout(ctx, heartbeat)
		var err error
		events, err = watch.Next(wait, events[:0])
		quiet := wait.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, voicegw.ErrOver):
			if to.send("batch", rec.flush(rec.t.Now())) == nil {
				to.over("")
			}
			return
		case errors.Is(err, event.ErrBehind):
			to.over("The console read too slowly and was cut off. Reload the page to go on from now.")
			return
		case err != nil && !quiet:
			to.over(err.Error())
			return
		}
		for _, e := range events {
			if err := rec.take(e); err != nil {
				to.over(err.Error())
				return
			}
		}
		if to.send("batch", rec.flush(now())) != nil || !rest(ctx, batchEvery) {
			return
		}
	}
}

// rest waits, unless ctx is done.
func rest(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
