package console

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
)

// finding is a Config.Search that finds two calls, one of them with an archive, and says that older ones follow.
func finding(_ context.Context, q Search) (Finding, error) {
	began := time.Date(2026, 11, 28, 14, 10, 0, 0, time.UTC)
	calls := []Found{{Call: "c-1", Endpoint: "twilio", From: "+4930123456", To: "+4930654321", Reason: "caller_hung_up",
		Began: began, DurationMS: 83_400}, {Call: "c-2", Endpoint: "webrtc", Client: "acme", Reason: "model_lost",
		Began: began, DurationMS: 5000}}
	f := Finding{More: Place{Ended: began.Add(-time.Hour)}}
	for _, c := range calls {
		if q.Takes(c.Began, c.Call, c.Endpoint, c.From, c.To, c.Client, c.Reason) && q.After == (Place{}) {
			f.Calls = append(f.Calls, c)
		}
	}
	if q.After != (Place{}) {
		f.More = Place{}
	}
	return f, nil
}

// searchDesk is a console with a directory of archives.
func searchDesk(t *testing.T, search func(context.Context, Search) (Finding, error)) http.Handler {
	t.Helper()
	gw, err := voicegw.New(voicegw.Config{Dialer: live.Wire{APIKey: "none"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = gw.Close() })
	h, err := New(Config{Gateway: gw, Archives: fstest.MapFS{"c-1.jsonl": {Mode: 0o600}}, Search: search})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestSearch asks for calls: what is found, where to go on, and which questions are refused.
func TestSearch(t *testing.T) {
	t.Parallel()
	h := searchDesk(t, finding)
	ask := func(query string) (status int, calls, says string) {
		t.Helper()
		status, body := asked(t.Context(), h, "/api/search?"+query)
		var list foundList
		if err := json.Unmarshal([]byte(body), &list); err != nil {
			t.Fatal(err)
		}
		for _, c := range list.Calls {
			if calls += c.Call; c.Archived {
				calls += " archived"
			}
			calls += ";"
		}
		return status, calls, body
	}
	const older = "1764335400000000000."
	for query, want := range map[string]struct {
		status      int
		calls, says string
	}{
		"":                           {200, "c-1 archived;c-2;", `"older":"`},
		"text=%2B49+TWILIO":          {200, "c-1 archived;", ""},
		"text=acme":                  {200, "c-2;", ""},
		"text=nobody":                {200, "", `"calls":[]`},
		"since=2026-11-28T14:11:00Z": {200, "", ""},
		"since=2026-11-28T14:00:00Z&until=2026-11-28T15:00:00%2B01:00":    {200, "", ""},
		"since=2026-11-28T14:00:00%2B01:00&until=2026-11-28T15:00:00.00Z": {200, "c-1 archived;c-2;", ""},
		"after=" + older:                    {200, "", `{"calls":[]}`},
		"after=yesterday":                   {400, "", "after="},
		"since=yesterday":                   {400, "", `since is \"yesterday\"; want a time such as 2026-11-28T09:00:00Z`},
		"until=14:00":                       {400, "", "until is"},
		"text=" + strings.Repeat("x", 10e2): {400, "", "1000 bytes; at most 200"},
	} {
		status, calls, says := ask(query)
		if status != want.status || calls != want.calls || !strings.Contains(says, want.says) {
			t.Errorf("%s: %d %q %s", query, status, calls, says)
		}
	}
}

// TestSearchTroubles: what keeps calls from being found is said, and no more searches run than may.
func TestSearchTroubles(t *testing.T) {
	t.Parallel()
	for says, search := range map[string]func(context.Context, Search) (Finding, error){
		"keeps no records": nil,
		"cannot be searched: no disk": func(context.Context, Search) (f Finding, err error) {
			return f, errors.New("no disk")
		},
		"3 lines of the records are d": func(context.Context, Search) (Finding, error) { return Finding{Unread: 3}, nil },
	} {
		if status, body := asked(t.Context(), searchDesk(t, search), "/api/search"); status != 200 ||
			!strings.Contains(body, says) {
			t.Errorf("%d %s, want %s", status, body, says)
		}
	}
	begun, end := make(chan struct{}), make(chan struct{})
	h := searchDesk(t, func(context.Context, Search) (f Finding, err error) { begun <- struct{}{}; <-end; return })
	done := make(chan int, searchesMax)
	for range searchesMax {
		go func() { status, _ := asked(t.Context(), h, "/api/search"); done <- status }()
		<-begun
	}
	if status, body := asked(t.Context(), h, "/api/search"); status != 503 || !strings.Contains(body, "2 searches run") {
		t.Errorf("one search more: %d %s", status, body)
	}
	close(end)
	for range searchesMax {
		if status := <-done; status != 200 {
			t.Errorf("a search among the first ends with %d", status)
		}
	}
}
