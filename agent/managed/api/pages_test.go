package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/voicegw/voicegw/journal/journaltest"
)

// page is a page of a list.
type page struct {
	Data []struct{ ID, Type, Title string } `json:"data"`
	Next *string                            `json:"next_page"`
	Prev *string                            `json:"prev_page"`
}

func (c *client) page(path string) (p page) {
	c.Helper()
	status, body := c.do("GET", path, "")
	if err := json.Unmarshal([]byte(body), &p); status != http.StatusOK || err != nil {
		c.Fatalf("%s: %d %s", path, status, body)
	}
	return p
}

func titles(p page) string {
	var list []string
	for _, one := range p.Data {
		list = append(list, one.Title)
	}
	return strings.Join(list, "")
}

// TestPagesBothWays: next_page leads through a list of sessions, and prev_page leads back through the same pages.
func TestPagesBothWays(t *testing.T) {
	srv := server(t, journaltest.NewMemory(), &atomic.Int32{})
	c := &client{t, srv.URL}
	_, agent := c.do("POST", "/v1/agents", `{"name":"desk","model":"script"}`)
	var paths []string
	for i := range 8 {
		_, session := c.do("POST", "/v1/sessions", fmt.Sprintf(`{"agent":%q,"title":"%d"}`, field(agent, "id"), i))
		paths = append(paths, "/v1/sessions/"+field(session, "id"))
	}
	c.do("POST", paths[4]+"/archive", "")
	for query, want := range map[string][]string{
		"limit=3":                                 {"765", "321", "0"},
		"limit=3&order=asc":                       {"012", "356", "7"},
		"limit=4&include_archived=true":           {"7654", "3210"},
		"limit=1000":                              {"7653210"},
		"limit=2&statuses[]=terminated":           {""},
		"limit=2&order=asc&include_archived=true": {"01", "23", "45", "67"},
		"limit=2&statuses[]=terminated&include_archived=true": {"4"},
	} {
		var there, back []string
		p := c.page("/v1/sessions?" + query)
		if p.Prev != nil {
			t.Errorf("%s: the first page has a page before it", query)
		}
		for there = append(there, titles(p)); p.Next != nil; there = append(there, titles(p)) {
			p = c.page("/v1/sessions?" + query + "&page=" + url.QueryEscape(*p.Next))
		}
		for back = append(back, titles(p)); p.Prev != nil; back = append(back, titles(p)) {
			p = c.page("/v1/sessions?" + query + "&page=" + url.QueryEscape(*p.Prev))
			if p.Next == nil {
				t.Errorf("%s: a page before another has no next one", query)
			}
		}
		slices.Reverse(back)
		if !slices.Equal(there, want) || !slices.Equal(back, want) {
			t.Errorf("%s: the pages are %q, and back %q; want %q", query, there, back, want)
		}
	}
}

// TestPagesOfWhatIsGone: a cursor of a session that was deleted still leads both ways.
func TestPagesOfWhatIsGone(t *testing.T) {
	srv := server(t, journaltest.NewMemory(), &atomic.Int32{})
	c := &client{t, srv.URL}
	_, agent := c.do("POST", "/v1/agents", `{"name":"desk","model":"script"}`)
	var paths []string
	for i := range 4 {
		_, session := c.do("POST", "/v1/sessions", fmt.Sprintf(`{"agent":%q,"title":"%d"}`, field(agent, "id"), i))
		paths = append(paths, "/v1/sessions/"+field(session, "id"))
	}
	first := c.page("/v1/sessions?limit=2&order=asc")
	next := "/v1/sessions?limit=2&order=asc&page=" + *first.Next
	for _, path := range paths[2:] {
		c.do("DELETE", path, "")
	}
	p := c.page(next)
	if titles(p) != "" || p.Next != nil || p.Prev == nil {
		t.Fatalf("the second page is %+v", p)
	}
	prev := "/v1/sessions?limit=2&order=asc&page=" + *p.Prev
	if p = c.page(prev); titles(p) != "01" || p.Prev != nil || p.Next == nil {
		t.Errorf("the page before an empty one is %+v", p)
	}
	for _, path := range paths[:2] {
		c.do("DELETE", path, "")
	}
	if p = c.page(prev); titles(p) != "" || p.Prev != nil || p.Next == nil {
		t.Errorf("an empty page before another is %+v", p)
	}
	_, _ = c.do("POST", "/v1/sessions", fmt.Sprintf(`{"agent":%q,"title":"x"}`, field(agent, "id")))
	if p = c.page("/v1/sessions?limit=2&order=asc&page=" + *p.Next); titles(p) != "x" {
		t.Errorf("behind it comes %+v", p)
	}
}

// TestOtherListsGoOneWay: only sessions have prev_page, and its cursors belong to no other list.
func TestOtherListsGoOneWay(t *testing.T) {
	srv := server(t, journaltest.NewMemory(), &atomic.Int32{})
	c := &client{t, srv.URL}
	path := c.begin()
	c.begin()
	p := c.page("/v1/sessions?limit=1")
	back := *c.page("/v1/sessions?limit=1&page=" + *p.Next).Prev
	for _, list := range []string{"/v1/agents", "/v1/environments", path + "/events"} {
		if _, body := c.do("GET", list, ""); strings.Contains(body, "prev_page") {
			t.Errorf("%s has a prev_page: %s", list, body)
		}
		order := "?order=desc&page="
		if status, body := c.do("GET", list+order+back, ""); status != 400 || !strings.Contains(body, "page: ") {
			t.Errorf("%s: %d %s", list, status, body)
		}
	}
	for _, cursor := range []string{"x", "ZGVzYz4", "ZGVzYz4v", "Pjw", back + "A", strings.Repeat("A", 200)} {
		if status, body := c.do("GET", "/v1/sessions?page="+cursor, ""); status != 400 {
			t.Errorf("cursor %q: %d %s", cursor, status, body)
		}
	}
	if status, body := c.do("GET", "/v1/sessions?order=asc&page="+back, ""); status != 400 ||
		!strings.Contains(body, `in the order \"desc\"`) {
		t.Errorf("another order: %d %s", status, body)
	}
}
