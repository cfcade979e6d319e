package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/voicegw/voicegw/agent/managed"
)

// Times of streams.
const (
	heartbeat  = 15 * time.Second
	writeMax   = 30 * time.Second // for one event to a reader
	deltasMax  = 256              // parts of messages that wait for a reader; more are left out
	eventsPage = 1000
)

func (s *Server) sendEvents(r *request) (any, error) {
	var b struct {
		Events []managed.Event `json:"events"`
	}
	if err := r.body(&b); err != nil {
		return nil, err
	}
	accepted, err := s.cfg.Runtime.Send(r.Context(), r.owner, r.PathValue("id"), r.once(), b.Events...)
	if err != nil {
		return nil, err
	}
	return map[string]any{"data": accepted}, nil
}

// listEvents lists the events of a session: see managed.Runtime.ListEvents.
func (s *Server) listEvents(r *request) (any, error) {
	q := r.query()
	if q.compat() {
		return s.listCompat(r, q)
	}
	types := q.take("types[]")
	within := q.created()
	p, order := q.page(eventsPage, false)
	l := managed.Listing{After: q.number64("page", p.After), Limit: p.Limit, Newest: order == "desc",
		Keep: func(ev *managed.Event) bool {
			return (len(types) == 0 || slices.Contains(types, string(ev.Type))) && within(ev.ProcessedAt)
		}}
	if p.Before != "" {
		q.fail("page", "this list has no pages in front of another")
	}
	if err := q.done(); err != nil {
		return nil, err
	}
	list, next, err := s.cfg.Runtime.ListEvents(r.Context(), r.owner, r.PathValue("id"), l)
	if err != nil {
		return nil, err
	}
	return listed(list, number(next), order), nil
}

// number returns the number of the event that a cursor names, and 0 for a cursor without one.
func number(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

// streamEvents streams the events of a session from now on, or behind the one that Last-Event-ID names, or
// from the number from_seq on.
func (s *Server) streamEvents(r *request) (any, error) {
	q := r.query()
	if q.compat() {
		return s.streamCompat(r, q)
	}
	id := r.PathValue("id")
	one, err := s.cfg.Runtime.Session(r.Context(), r.owner, id)
	if err != nil {
		return nil, err
	}
	from := one.LastSeq + 1
	if text := q.one("from_seq"); text != "" {
		from = q.number64("from_seq", text)
	}
	if text := r.Header.Get("Last-Event-ID"); text != "" {
		from = q.number64("Last-Event-ID", text) + 1
	}
	var deltas bool
	for _, kind := range q.take("event_deltas[]") {
		if kind != string(managed.AgentMessage) && kind != string(managed.AgentThinking) {
			q.fail("event_deltas", "%q is neither %s nor %s", kind, managed.AgentMessage, managed.AgentThinking)
		}
		deltas = deltas || kind == string(managed.AgentMessage)
	}
	if err := q.done(); err != nil {
		return nil, err
	}
	st := &stream{r: r, control: http.NewResponseController(r.w), stored: make(chan told),
		parts: make(chan *managed.Event, deltasMax)}
	if st.begin() != nil {
		return nil, nil
	}
	st.run(s.cfg.Runtime, id, from, deltas, s.cfg.Heartbeat)
	return nil, nil
}

// told is an event, or the end of them.
type told struct {
	ev  *managed.Event
	err error
}

// stream writes events to a reader.
type stream struct {
	r       *request
	control *http.ResponseController
	stored  chan told
	parts   chan *managed.Event
}

// begin sends the head of the answer. The limits of the server are for requests that end.
func (st *stream) begin() error {
	h := st.r.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	st.r.w.WriteHeader(http.StatusOK)
	if err := st.control.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return st.control.Flush()
}

// hear passes parts of messages on. When a part finds no room, it drops the rest of that message, so that
// the parts sent are always a prefix of the message.
func hear(parts chan<- *managed.Event) func(*managed.Event) {
	lost := ""
	return func(ev *managed.Event) {
		id := ev.EventID
		if ev.Event != nil {
			id = ev.Event.ID
		}
		if id == lost {
			return
		}
		select {
		case parts <- ev:
		default:
			lost = id
		}
	}
}

// run writes until the reader is gone or the session is deleted. Events are read from the journal as the
// reader takes them, so a slow reader costs nothing and misses nothing.
func (st *stream) run(rt *managed.Runtime, id string, from uint64, deltas bool, silence time.Duration) {
	ctx := st.r.Context()
	go func() {
		defer close(st.stored)
		for ev, err := range rt.Events(ctx, st.r.owner, id, from, true) {
			select {
			case st.stored <- told{ev, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	if deltas {
		go func() { _ = rt.Deltas(ctx, st.r.owner, id, hear(st.parts)) }()
	}
	beat := time.NewTicker(silence)
	defer beat.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			err = st.write(": still here\n\n")
		case ev := <-st.parts:
			err = st.event(ev)
		case t, ok := <-st.stored:
			if !ok {
				return
			}
			beat.Reset(silence)
			err = st.tell(t)
		}
		if err != nil {
			return
		}
	}
}

// tell writes a stored event. Its parts come first.
func (st *stream) tell(t told) error {
	if t.err != nil {
		b, err := json.Marshal(map[string]any{"type": "error", "error": map[string]any{"type": "api_error",
			"message": "the journal cannot be read"}})
		if err != nil {
			return err
		}
		return errors.Join(st.write(fmt.Sprintf("event: error\ndata: %s\n\n", b)), t.err)
	}
	for more := true; more; {
		select {
		case ev := <-st.parts:
			if err := st.event(ev); err != nil {
				return err
			}
		default:
			more = false
		}
	}
	return st.event(t.ev)
}

// event writes an event. Clients drop an event without a name, and older ones drop names that they do not
// know, so all have the same.
func (st *stream) event(ev *managed.Event) error {
	b, err := json.Marshal(ev)
	if err != nil {
		return err
	}
	id := ""
	if ev.Seq > 0 {
		id = fmt.Sprintf("id: %d\n", ev.Seq)
	}
	return st.write(fmt.Sprintf("%sevent: message\ndata: %s\n\n", id, b))
}

func (st *stream) write(text string) error {
	if err := st.control.SetWriteDeadline(time.Now().Add(writeMax)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := st.r.w.Write([]byte(text)); err != nil {
		return err
	}
	return st.control.Flush()
}
