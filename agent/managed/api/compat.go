package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/voicegw/voicegw/agent/managed"
)

// compatProfile is the value of the parameter profile that asks for the format of adk-managed.
const compatProfile = "adk-managed"

// compat reads the parameter profile. It reports whether it asks for the format of adk-managed.
func (q *query) compat() bool {
	switch name := q.one("profile"); name {
	case compatProfile:
		return true
	case "", "native":
	default:
		q.fail("profile", "%q is neither native nor %s", name, compatProfile)
	}
	return false
}

// after reads the number behind which events are asked for: Last-Event-ID, from_seq, or what is usual.
func (q *query) after(r *request, usual int64) int64 {
	for _, one := range []struct{ name, text string }{
		{"from_seq", q.one("from_seq")}, {"Last-Event-ID", r.Header.Get("Last-Event-ID")},
	} {
		if one.text == "" {
			continue
		}
		n, err := strconv.ParseInt(one.text, 10, 64)
		if err != nil || n < managed.CompatAll || n == managed.CompatTail {
			q.fail(one.name, "%q is no number of an event; give -1 for all events", one.text)
		}
		usual = n
	}
	return usual
}

// listCompat lists the events of a session in the format of adk-managed.
func (s *Server) listCompat(r *request, q *query) (any, error) {
	after := q.after(r, managed.CompatAll)
	types := q.take("types[]")
	p, order := q.page(eventsPage, false)
	page := int64(-1)
	if p.After != "" {
		n, err := strconv.ParseInt(p.After, 10, 64)
		if err != nil || n < 0 {
			q.fail("page", "it is no next_page of this list")
		}
		page = n
	}
	if p.Before != "" {
		q.fail("page", "this list has no pages in front of another")
	}
	if err := q.done(); err != nil {
		return nil, err
	}
	var list []*managed.CompatEvent
	for ev, err := range s.cfg.Runtime.CompatEvents(r.Context(), r.owner, r.PathValue("id"), after, false) {
		if err != nil {
			return nil, err
		}
		seq := int64(ev.Seq)
		if (len(types) == 0 || slices.Contains(types, string(ev.Type))) &&
			(page < 0 || order == "asc" && seq > page || order == "desc" && seq < page) {
			list = append(list, ev)
		}
		if order == "asc" && len(list) > p.Limit {
			break
		}
	}
	if order == "desc" {
		slices.Reverse(list)
	}
	next := ""
	if len(list) > p.Limit {
		list = list[:p.Limit]
		next = strconv.FormatUint(list[p.Limit-1].Seq, 10)
	}
	return listed(list, next, order), nil
}

// streamCompat streams the events of a session in the format of adk-managed.
func (s *Server) streamCompat(r *request, q *query) (any, error) {
	after := q.after(r, managed.CompatTail)
	if err := q.done(); err != nil {
		return nil, err
	}
	if _, err := s.cfg.Runtime.Session(r.Context(), r.owner, r.PathValue("id")); err != nil {
		return nil, err
	}
	events := s.cfg.Runtime.CompatEvents(r.Context(), r.owner, r.PathValue("id"), after, true)
	st := &stream{r: r, control: http.NewResponseController(r.w)}
	if st.begin() != nil {
		return nil, nil
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		for ev, err := range events {
			select {
			case lines <- compatLine(ev, err):
			case <-r.Context().Done():
				return
			}
		}
	}()
	beat := time.NewTicker(s.cfg.Heartbeat)
	defer beat.Stop()
	for {
		line, ok := ": still here\n\n", true
		select {
		case <-r.Context().Done():
			return nil, nil
		case <-beat.C:
		case line, ok = <-lines:
		}
		if !ok || st.write(line) != nil {
			return nil, nil
		}
	}
}

// compatLine is an event, or the end of them, as a stream has it.
func compatLine(ev *managed.CompatEvent, err error) string {
	var b []byte
	if err == nil {
		b, err = json.Marshal(ev)
	}
	if err != nil {
		return `event: error` + "\n" +
			`data: {"type":"error","error":{"type":"api_error","message":"the journal cannot be read"}}` + "\n\n"
	}
	return fmt.Sprintf("id: %d\nevent: message\ndata: %s\n\n", ev.Seq, b)
}
