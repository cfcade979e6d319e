package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/transport/ws/wstest"
)

// gate is a model that answers once it is open.
type gate chan struct{}

// Name is part of model.LLM.
func (gate) Name() string { return "gate" }

// GenerateContent is part of model.LLM.
func (g gate) GenerateContent(ctx context.Context, _ *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		select {
		case <-g:
			yield(&model.LLMResponse{Content: genai.NewContentFromText("yes", genai.RoleModel),
				FinishReason: genai.FinishReasonStop, TurnComplete: true}, nil)
		case <-ctx.Done():
			yield(nil, ctx.Err())
		}
	}
}

// behind is a parlour with another session, whose model waits for the gate.
func behind(t *testing.T, g gate, limits managed.Limits) (p *parlour, events string) {
	t.Helper()
	p = newParlour(t, func(c *managed.Config) {
		c.Models.Add("gate", func(provider.Ref) (model.LLM, error) { return g, nil })
		c.Limits = limits
	})
	_, agent := p.ask(t, "acme", "POST", "/v1/agents", `{"name":"slow","model":"gate"}`)
	_, session := p.ask(t, "acme", "POST", "/v1/sessions", fmt.Sprintf(`{"agent":%q}`, field(agent, "id")))
	return p, "/v1/sessions/" + field(session, "id") + "/events"
}

// said is a message of the user, as a request has it.
func said(text string) string {
	return fmt.Sprintf(`{"events":[{"type":"user.message","content":[{"type":"text","text":%q}]}]}`, text)
}

// TestTenThousandSendsAtOnce: of very many messages at once, as many are accepted as the queue takes, and none of
// those is lost. The others get 429 at once. Another session does not notice.
func TestTenThousandSendsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := make(gate)
		p, events := behind(t, g, managed.Limits{})
		var mu sync.Mutex
		accepted, refused := map[string]string{}, 0
		var wg sync.WaitGroup
		for i := range 10_000 {
			wg.Go(func() {
				text := fmt.Sprint("message ", i)
				status, body := p.ask(t, "acme", "POST", events, said(text))
				mu.Lock()
				defer mu.Unlock()
				switch {
				case status == 200:
					accepted[field(body, "id")] = text
				case status == 429 && wellFormed(status, body) && strings.Contains(body, "too many messages wait"):
					refused++
				default:
					t.Errorf("%d %s", status, body)
				}
			})
		}
		if status, body := p.ask(t, "acme", "POST", "/v1/sessions/"+p.session+"/events", hello); status != 200 {
			t.Errorf("another session: %d %s", status, body)
		}
		wg.Wait()
		if n := len(accepted); n < 64 || n > 65 || n+refused != 10_000 {
			t.Errorf("%d are accepted, %d refused", n, refused)
		}
		close(g)
		synctest.Wait()
		_, list := p.ask(t, "acme", "GET", events+"?types[]=user.message", "")
		var page struct{ Data []managed.Event }
		if err := json.Unmarshal([]byte(list), &page); err != nil || len(page.Data) != len(accepted) {
			t.Fatalf("the session has %d messages of %d, %v", len(page.Data), len(accepted), err)
		}
		for _, ev := range page.Data {
			if accepted[ev.ID] != ev.Content[0].Text || ev.ProcessedAt == nil {
				t.Errorf("%s has %q, and was accepted as %q", ev.ID, ev.Content[0].Text, accepted[ev.ID])
			}
		}
	})
}

// TestSendingTooFast: a tenant above its rate gets 429 with the time to wait, and whoever waits is served.
func TestSendingTooFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := make(gate)
		close(g)
		p, events := behind(t, g, managed.Limits{TenantEvents: 2, TenantSessions: 2})
		interrupt := `{"events":[{"type":"user.interrupt"}]}`
		limited := 0
		for i := range 110 {
			status, body := p.ask(t, "acme", "POST", events, interrupt)
			synctest.Wait()
			if status != 429 {
				continue
			}
			limited++
			if i < 100 || !strings.Contains(body, "you send more than 2 events a second; try again in 500ms") {
				t.Errorf("event %d: %s", i, body)
			}
		}
		if limited != 10 {
			t.Errorf("%d of 110 are refused", limited)
		}
		if h := p.heads(t, events, interrupt); h.Get("Retry-After") != "1" || h.Get("Retry-After-Ms") != "500" ||
			h.Get("X-Should-Retry") != "" {
			t.Errorf("the refusal has %v", h)
		}
		time.Sleep(500 * time.Millisecond)
		if status, body := p.ask(t, "acme", "POST", events, interrupt); status != 200 {
			t.Errorf("after the wait: %d %s", status, body)
		}
		if h := p.heads(t, "/v1/sessions", p.names.Replace(`{"agent":"AGENT"}`)); h.Get("X-Should-Retry") != "false" {
			t.Errorf("the refusal of a session has %v", h)
		}
	})
}

// heads are those of the answer to a POST that is refused with 429.
func (p *parlour) heads(t *testing.T, path, body string) http.Header {
	t.Helper()
	n := p.network(t)
	resp := n.do(t.Context(), "POST", path, body)
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); resp.StatusCode != 429 || !wellFormed(429, string(b)) {
		t.Errorf("%s: %d %s, %v", path, resp.StatusCode, b, err)
	}
	return resp.Header
}

// network serves a parlour in a network without sockets.
type network struct {
	*testing.T
	net    *wstest.Network
	client *http.Client
}

func (p *parlour) network(t *testing.T) *network { return p.on(t, wstest.New()) }

func (p *parlour) on(t *testing.T, net *wstest.Network) *network {
	t.Helper()
	srv := &http.Server{Handler: p.server}
	var wg sync.WaitGroup
	wg.Go(func() { _ = srv.Serve(net) })
	transport := &http.Transport{DialContext: net.Dial, DisableKeepAlives: true}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = srv.Close()
		wg.Wait()
	})
	return &network{T: t, net: net, client: &http.Client{Transport: transport}}
}

func (n *network) do(ctx context.Context, method, path, body string, headers ...string) *http.Response {
	n.Helper()
	r, err := http.NewRequestWithContext(ctx, method, "http://gateway"+path, strings.NewReader(body))
	if err != nil {
		n.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer key of acme")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := n.client.Do(r)
	if err != nil {
		n.Fatal(err)
	}
	return resp
}

// TestReaderThatStops: a reader that reads no more delays nobody, and is let go after half a minute.
func TestReaderThatStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParlour(t)
		narrow := p.on(t, wstest.NewNarrow())
		events := "/v1/sessions/" + p.session + "/events"
		resp := narrow.do(t.Context(), "GET", events+"/stream?event_deltas[]=agent.message", "")
		defer resp.Body.Close()
		began := time.Now()
		for range 20 {
			if status, body := p.ask(t, "acme", "POST", events, hello); status != 200 {
				t.Fatalf("%d %s", status, body)
			}
			synctest.Wait()
		}
		if d := time.Since(began); d > 0 {
			t.Errorf("the messages took %v", d)
		}
		_, last := p.ask(t, "acme", "GET", events+"?order=desc&limit=1", "")
		if !strings.Contains(last, "session.status_idle") {
			t.Errorf("the last event is %s", last)
		}
		time.Sleep(time.Minute)
		b, err := io.ReadAll(resp.Body)
		if err == nil {
			t.Errorf("the stream goes on, or has ended properly, behind %d bytes", len(b))
		}
	})
}

// TestSlowReader: a reader that takes ten seconds for an event gets all of them, in order.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParlour(t)
		narrow := p.on(t, wstest.NewNarrow())
		events := "/v1/sessions/" + p.session + "/events"
		resp := narrow.do(t.Context(), "GET", events+"/stream", "")
		defer resp.Body.Close()
		const turns, each = 5, 8 // a turn of the parrot has so many events
		for range turns {
			p.ask(t, "acme", "POST", events, hello)
			synctest.Wait()
		}
		s := bufio.NewScanner(resp.Body)
		next := 1
		for next <= turns*each && s.Scan() {
			if id, ok := strings.CutPrefix(s.Text(), "id: "); ok {
				if id != fmt.Sprint(next) {
					t.Fatalf("event %s comes, not %d", id, next)
				}
				next++
				time.Sleep(10 * time.Second)
			}
		}
		if next != turns*each+1 {
			t.Errorf("the stream ends before event %d: %v", next, s.Err())
		}
	})
}

// TestSilentStream: a stream without events sends something every 15 seconds, for as long as it takes, and an event
// then still arrives (clients give up after minutes of silence).
func TestSilentStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParlour(t)
		n := p.network(t)
		events := "/v1/sessions/" + p.session + "/events"
		resp := n.do(t.Context(), "GET", events+"/stream", "")
		defer resp.Body.Close()
		s, began, beats := bufio.NewScanner(resp.Body), time.Now(), 0
		for time.Since(began) < 6*time.Minute && s.Scan() {
			if strings.HasPrefix(s.Text(), ":") {
				beats++
			}
		}
		if beats != 24 {
			t.Errorf("in 6 minutes the stream has %d signs of life", beats)
		}
		p.ask(t, "acme", "POST", events, hello)
		for s.Scan() {
			if strings.Contains(s.Text(), "session.status_idle") {
				return
			}
		}
		t.Errorf("the stream ends: %v", s.Err())
	})
}

// TestClientsThatGo: a client that closes the connection anywhere in a request, or before the answer, breaks nothing,
// and a repetition of its request has the effect once.
func TestClientsThatGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParlour(t)
		n := p.network(t)
		events := "/v1/sessions/" + p.session + "/events"
		for path, body := range map[string]string{events: said("leaves"), "/v1/agents": `{"name":"leaves","model":"parrot"}`,
			"/v1/environments": `{"name":"leaves"}`, "/v1/sessions": p.names.Replace(`{"agent":"AGENT","title":"leaves"}`)} {
			header, first, again := "X-Stainless-Retry-Count", "0", "1"
			if path == "/v1/sessions" { // without a key, a repetition makes another
				header, first, again = "Idempotency-Key", "leaves", "leaves"
			}
			text := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer key of acme\r\n"+
				"%s: %s\r\nContent-Length: %d\r\n\r\n%s", path, header, first, len(body), body)
			before := p.things(t)
			for cut := 0; cut < len(text); cut += 7 {
				n.hangUp(text[:cut])
			}
			if after := p.things(t); after != before {
				t.Errorf("%s: requests that were cut change %d things", path, after-before)
			}
			n.hangUp(text)
			ids := map[string]bool{}
			for range 3 {
				resp := n.do(t.Context(), "POST", path, body, header, again)
				b, _ := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				ids[field(string(b), "id")] = resp.StatusCode == 200
				synctest.Wait()
			}
			if len(ids) != 1 || ids[""] {
				t.Errorf("%s: the repetitions have the ids %v", path, ids)
			}
			list := path
			if path == events {
				list += "?types[]=user.message"
			}
			_, all := p.ask(t, "acme", "GET", list, "")
			if c := strings.Count(all, `"leaves"`); c != 1 {
				t.Errorf("%s: there are %d: %s", path, c, all)
			}
		}
		for _, path := range []string{events, events + "/stream", events + "/stream?event_deltas[]=agent.message&from_seq=1",
			events + "/stream?profile=adk-managed&from_seq=-1", "/v1/sessions"} {
			n.hangUp(fmt.Sprintf("GET %s HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer key of acme\r\n\r\n", path))
		}
		if status, body := p.ask(t, "acme", "GET", events, ""); status != 200 {
			t.Errorf("%d %s", status, body)
		}
	})
}

// hangUp sends text over a new connection and closes it without reading.
func (n *network) hangUp(text string) {
	n.Helper()
	c, err := n.net.Dial(n.Context(), "", "")
	if err == nil {
		_, err = io.WriteString(c, text)
	}
	if err != nil {
		n.Fatal(err)
	}
	_ = c.Close()
	synctest.Wait()
}
