package api_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/voicegw/voicegw/journal/journaltest"
)

// TestListsByTime: lists keep what was created within the times asked for.
func TestListsByTime(t *testing.T) {
	srv := server(t, journaltest.NewMemory(), &atomic.Int32{})
	c := &client{t, srv.URL}
	path := c.begin()
	for query, want := range map[string]bool{"created_at[gte]=2000-01-01T00:00:00Z": true,
		"created_at[lte]=2000-01-01T00:00:00Z": false, "created_at[gt]=2000-01-01T00:00:00Z": true,
		"created_at[lt]=2000-01-01T00:00:00Z": false} {
		for _, list := range []string{"/v1/agents?", "/v1/sessions?"} {
			status, body := c.do("GET", list+query, "")
			if status != http.StatusOK || strings.Contains(body, `"id":`) != want {
				t.Errorf("%s%s: %d %s", list, query, status, body)
			}
		}
		if status, body := c.do("GET", path+"/events?"+query, ""); status != http.StatusOK {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
}

// TestArchivedEnvironment: no session begins in an archived environment.
func TestArchivedEnvironment(t *testing.T) {
	srv := server(t, journaltest.NewMemory(), &atomic.Int32{})
	c := &client{t, srv.URL}
	_, agent := c.do("POST", "/v1/agents", `{"name":"desk","model":"script"}`)
	_, env := c.do("POST", "/v1/environments", `{"name":"here"}`)
	body := `{"agent":"` + field(agent, "id") + `","environment_id":"` + field(env, "id") + `"}`
	for _, want := range []int{http.StatusOK, http.StatusBadRequest} {
		if status, answer := c.do("POST", "/v1/sessions", body); status != want {
			t.Errorf("%d %s, want %d", status, answer, want)
		}
		c.do("POST", "/v1/environments/"+field(env, "id")+"/archive", "")
	}
}
