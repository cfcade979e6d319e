package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// client talks to the server as a program would.
type client struct {
	t    *testing.T
	base string
}

// post returns the status and the body of an answer.
func (c client) post(path, body string) (int, string) {
	c.t.Helper()
	resp, err := http.Post(c.base+path, "application/json", strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// say runs a turn and returns its events, a line each.
func (c client) say(session, text string) string {
	c.t.Helper()
	message, err := json.Marshal(text)
	if err != nil {
		c.t.Fatal(err)
	}
	status, body := c.post("/run", fmt.Sprintf(`{"appName": "desk", "userId": "me", "sessionId": %q,
		"newMessage": {"role": "user", "parts": [{"text": %s}]}}`, session, message))
	if status != http.StatusOK {
		return fmt.Sprintf("%d %s", status, strings.TrimSpace(body))
	}
	var events []struct {
		Author  string
		Content struct {
			Parts []struct {
				Text         string
				FunctionCall *struct{ Name string }
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &events); err != nil {
		c.t.Fatalf("%v: %s", err, body)
	}
	var lines []string
	for _, e := range events {
		for _, p := range e.Content.Parts {
			switch {
			case p.FunctionCall != nil:
				lines = append(lines, e.Author+" calls "+p.FunctionCall.Name)
			case p.Text != "":
				lines = append(lines, e.Author+": "+p.Text)
			}
		}
	}
	return strings.Join(lines, "; ")
}

// TestStory plays two guests at one desk: tools, a transfer, a turn that spends its budget, bad input.
func TestStory(t *testing.T) {
	t.Parallel()
	a, line, err := newAgent()
	if err != nil || !strings.HasSuffix(line, " claims proved") {
		t.Fatal(line, err)
	}
	h, err := handlerOf(a)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	defer server.Close()
	c := client{t, server.URL}
	for _, s := range []string{"s1", "s2"} {
		if status, body := c.post("/apps/desk/users/me/sessions/"+s, ""); status != http.StatusOK {
			t.Fatalf("create %s: %d %s", s, status, body)
		}
	}
	for _, turn := range []struct{ session, text, want string }{
		{"s1", "the menu, please", "host calls menu; host: We have bread 3, cake 5, ragout 14, soup 6."},
		{"s1", "2 soup", "host calls order; host: 2 soup for 12 euros, noted."},
		{"s2", "cake", "host calls order; host: 1 cake for 5 euros, noted."},
		{"s1", "order pizza",
			"host calls order; host: Sorry, there is no \"pizza\"; the dishes are bread, cake, ragout, soup."},
		{"s1", "I want to pay", "host calls transfer_to_agent; cashier calls bill; cashier: That is 12 euros."},
		{"s2", "the bill", "host calls transfer_to_agent; cashier calls bill; cashier: That is 5 euros."},
		{"s1", "bread", "cashier calls transfer_to_agent; host calls order; host: 1 bread for 3 euros, noted."},
		{"s1", "I cannot decide",
			strings.Repeat("host calls menu; ", 5) + "host: I am going round in circles. What would you like?"},
		// ADK leaves an empty message out of what the model gets, so the one before is the last.
		{"s2", "", "cashier calls bill; cashier: That is 5 euros."},
		{"s2", strings.Repeat("é", 10_000), "cashier: You can ask for the menu, order a dish, or pay."},
	} {
		if got := c.say(turn.session, turn.text); got != turn.want {
			t.Errorf("%s: %.40q:\n%s\nwant\n%s", turn.session, turn.text, got, turn.want)
		}
	}
	if got := c.say("s3", "menu"); !strings.HasPrefix(got, "404 ") && !strings.HasPrefix(got, "500 ") {
		t.Errorf("a session that is not there: %s", got)
	}
	for _, body := range []string{"", "{", `{"appName": "desk", "more": 1}`} {
		if status, _ := c.post("/run", body); status < 400 {
			t.Errorf("%q: %d", body, status)
		}
	}
	if got := c.say("s2", "hello"); got != "cashier: You can ask for the menu, order a dish, or pay." {
		t.Errorf("after all this: %s", got)
	}
	if resp, err := http.Get(server.URL + "/nets/"); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("%v, %v", resp, err)
	} else if page, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(page), "desk, me, s1") {
		t.Errorf("%v: the page of nets is %s", err, page)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}
