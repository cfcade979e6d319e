package web

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// fakeNet gives each of its updates and then ends.
type fakeNet struct {
	svg     string
	updates chan string
}

func (n *fakeNet) SVG() ([]byte, error) {
	if n.svg == "" {
		return nil, errors.New("no drawing")
	}
	return []byte(n.svg), nil
}

func (n *fakeNet) Next(ctx context.Context) ([]byte, error) {
	select {
	case u, ok := <-n.updates:
		if !ok {
			return nil, errors.New("it is over")
		}
		return []byte(u), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestNetPage loads the list, the page of a net and its events, and asks for what is not there.
func TestNetPage(t *testing.T) {
	n := &fakeNet{svg: "<svg>\n</svg>", updates: make(chan string, 2)}
	n.updates <- `{"fired":["ask"],"marking":{"quiet":1}}`
	close(n.updates)
	stopped := 0
	links := []NetLink{{Title: "<desk>", Query: url.Values{"session": {"a&b"}}}}
	page := NetPage(NetPageConfig{Title: "Agents", List: func() []NetLink { return links },
		Open: func(_ context.Context, q url.Values) (Net, func(), error) {
			switch q.Get("session") {
			case "a&b":
				return n, func() { stopped++ }, nil
			case "blank":
				return &fakeNet{}, func() { stopped++ }, nil
			}
			return nil, nil, errors.New("no net of that name runs")
		}})
	ask := func(method, path string) (int, string) {
		w := httptest.NewRecorder()
		page.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		return w.Code, w.Body.String()
	}
	for _, c := range []struct {
		method, path string
		status       int
		has          string
	}{
		{"GET", "/", 200, `<a href="./?session=a%26b">&lt;desk&gt;</a>`},
		{"GET", "/?session=a%26b", 200, "./net/net.js"},
		{"GET", "/net/net.js", 200, "EventSource"},
		{"GET", "/page/net-view.js", 200, "class NetView"},
		{"GET", "/viewer/viewer.css", 200, ".board"},
		{"GET", "/page/page.css", 200, ".net"},
		{"GET", "/events?session=other", 404, "no net of that name runs"},
		{"GET", "/events?session=blank", 500, "no drawing"},
		{"POST", "/events?session=a%26b", 404, ""},
		{"POST", "/", 405, ""},
		{"GET", "/page/index.html", 404, ""},
	} {
		if status, body := ask(c.method, c.path); status != c.status || !strings.Contains(body, c.has) {
			t.Errorf("%s %s: %d %.300q; want %d with %q", c.method, c.path, status, body, c.status, c.has)
		}
	}
	if stopped != 1 {
		t.Errorf("views were stopped %d times before one was seen", stopped)
	}
	want := "event: graph\ndata: \"\\u003csvg\\u003e\\n\\u003c/svg\\u003e\"\n\n" +
		"event: net\ndata: {\"fired\":[\"ask\"],\"marking\":{\"quiet\":1}}\n\n" +
		"event: over\ndata: \"The net has ended.\"\n\n"
	if status, body := ask("GET", "/events?session=a%26b"); status != 200 || body != want || stopped != 2 {
		t.Errorf("%d %q, %d stopped", status, body, stopped)
	}
	links = nil
	if _, body := ask("GET", "/"); !strings.Contains(body, "No net runs") {
		t.Errorf("without nets the page says %s", body)
	}
}

// TestNetPageLeaves stops the view when whoever watched is gone.
func TestNetPageLeaves(t *testing.T) {
	stopped := make(chan struct{})
	srv := httptest.NewServer(NetPage(NetPageConfig{List: func() []NetLink { return nil },
		Open: func(context.Context, url.Values) (Net, func(), error) {
			return &fakeNet{svg: "<svg/>"}, func() { close(stopped) }, nil
		}}))
	defer srv.Close()
	resp, err := http.Get(srv.URL + "/events?session=s")
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil || line != "event: graph\n" {
		t.Errorf("%q, %v", line, err)
	}
	_ = resp.Body.Close()
	<-stopped
}
