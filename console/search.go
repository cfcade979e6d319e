package console

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Limits of searches.
const (
	searchTextMax = 200 // bytes
	searchesMax   = 2   // at one time
)

// Search says which calls that have ended are wanted.
type Search struct {
	// Words are in lower case. Each must be part of what the record has as the id of the call, the
	// carrier's id, the endpoint, one of the numbers, the client, or the reason for the end.
	Words []string
	// Since and Until bound when a call began: not before Since, and before Until. A zero time is no bound.
	Since, Until time.Time
	// After is where the calls found before end; the zero Place is before all calls.
	After Place
	// Most is how many calls are wanted: those that ended last.
	Most int
}

// Takes reports whether the search wants a call, whose record has these texts.
func (q *Search) Takes(began time.Time, texts ...string) bool {
	if began.Before(q.Since) || !q.Until.IsZero() && !began.Before(q.Until) {
		return false
	}
	all := strings.ToLower(strings.Join(texts, "\n"))
	for _, word := range q.Words {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}

// Place is the place of a call among those that have ended, the one that ended last being the first.
type Place struct {
	Ended time.Time
	Call  string
}

// Compare returns a negative number if p is before another place, and 0 if it is the same.
func (p Place) Compare(other Place) int {
	return newestFirst(Archived{Name: p.Call, Written: p.Ended}, Archived{Name: other.Call, Written: other.Ended})
}

// Found is a call that has ended, as its record has it.
type Found struct {
	Call       string    `json:"call"`
	Endpoint   string    `json:"endpoint,omitempty"`
	From       string    `json:"from,omitempty"`
	To         string    `json:"to,omitempty"`
	Client     string    `json:"client,omitempty"`
	Reason     string    `json:"reason,omitempty"`
	Began      time.Time `json:"began"`
	DurationMS int64     `json:"duration_ms"`
	Archived   bool      `json:"archived"` // whether there is an archive to open; set by the console
}

// Place returns the place of the call.
func (f *Found) Place() Place {
	return Place{Ended: f.Began.Add(time.Duration(f.DurationMS) * time.Millisecond), Call: f.Call}
}

// Finding is the answer to a Search, in the order of Place.
type Finding struct {
	Calls []Found
	// More is where to go on: after the last of Calls, or where the search stopped because it had read
	// enough. It is zero if nothing is left.
	More Place
	// Unread is how many lines of records could not be read.
	Unread int
}

// foundList is the answer with a page of calls that were found.
type foundList struct {
	Calls   []Found    `json:"calls"`
	Older   string     `json:"older,omitempty"` // where the next page begins; "" if nothing is left
	Until   *time.Time `json:"until,omitempty"` // calls that ended before have not been looked at
	Trouble string     `json:"trouble,omitempty"`
}

// search finds calls that have ended.
func (s *server) search(r *http.Request) (any, error) {
	q, err := searchOf(r)
	if err != nil {
		return nil, err
	}
	if s.cfg.Search == nil {
		return foundList{Calls: []Found{}, Trouble: "This program keeps no records of calls for the console."}, nil
	}
	select {
	case s.searches <- struct{}{}:
		defer func() { <-s.searches }()
	default:
		return nil, &problem{http.StatusServiceUnavailable, fmt.Sprintf("%d searches run; try again in %s seconds",
			searchesMax, retryAfter)}
	}
	return s.found(r.Context(), q), nil
}

// found searches the records.
func (s *server) found(ctx context.Context, q Search) foundList {
	f, err := s.cfg.Search(ctx, q)
	list := foundList{Calls: append([]Found{}, f.Calls...)}
	for i := range list.Calls {
		_, err := s.fileOf(list.Calls[i].Call)
		list.Calls[i].Archived = err == nil
	}
	if !f.More.Ended.IsZero() {
		list.Older, list.Until = fmt.Sprintf("%d.%s", f.More.Ended.UnixNano(), f.More.Call), &f.More.Ended
	}
	switch {
	case err != nil:
		list.Trouble = "The records cannot be searched: " + err.Error()
	case f.Unread > 0:
		list.Trouble = fmt.Sprintf("%d lines of the records are damaged, and are not shown.", f.Unread)
	}
	return list
}

// searchOf reads a search from the query of a request.
func searchOf(r *http.Request) (q Search, err error) {
	query := r.URL.Query()
	text := query.Get("text")
	if len(text) > searchTextMax {
		return q, &problem{http.StatusBadRequest, fmt.Sprintf("the text to search for has %d bytes; at most %d are "+
			"possible", len(text), searchTextMax)}
	}
	q.Words, q.Most = strings.Fields(strings.ToLower(text)), archivesPage
	for name, at := range map[string]*time.Time{"since": &q.Since, "until": &q.Until} {
		if query.Get(name) == "" {
			continue
		}
		if *at, err = time.Parse(time.RFC3339, query.Get(name)); err != nil {
			return q, &problem{http.StatusBadRequest, fmt.Sprintf("%s is %s; want a time such as 2026-11-28T09:00:00Z", name,
				strconv.Quote(query.Get(name)))}
		}
	}
	after, err := cursorOf(query.Get("after"))
	if err != nil {
		return q, err
	}
	if query.Get("after") != "" {
		q.After = Place{Ended: after.Written, Call: after.Name}
	}
	return q, nil
}
