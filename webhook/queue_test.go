package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/agent/fetch"
	"github.com/voicegw/voicegw/webhook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secret is the secret of all tests.
var secret = []byte("a secret of a test")

// receiver is the other end of a queue, without a network.
type receiver struct {
	refuse map[string]int // so many requests of a call first
	gate   chan struct{}  // if not nil, requests wait until it is closed

	mu      sync.Mutex
	calls   []string
	tries   map[string]int
	last    fetch.Request
	at      time.Time
	current int // requests that wait at the gate
	most    int // of them at a time
}

// ended is what a receiver gets.
type ended struct {
	Type   string
	Record voicegw.Record
}

// Do answers a request, by no JSON.
func (r *receiver) Do(_ context.Context, req fetch.Request) (*fetch.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gate != nil {
		r.current++
		r.most = max(r.most, r.current)
		r.mu.Unlock()
		<-r.gate
		r.mu.Lock()
		r.current--
	}
	var e ended
	if err := json.Unmarshal(req.Body, &e); err != nil || e.Type != "end" {
		return nil, errors.New("no record")
	}
	if r.tries == nil {
		r.tries = map[string]int{}
	}
	call := e.Record.Call
	r.tries[call]++
	r.last, r.at = req, time.Now()
	if n := r.tries[call]; n <= r.refuse[call] {
		if n%2 == 0 {
			return nil, errors.New("the line broke")
		}
		return &fetch.Response{Status: 503}, nil
	}
	r.calls = append(r.calls, call)
	return &fetch.Response{Status: 200, Body: []byte("ok")}, nil
}

// newQueue makes a queue with a receiver.
func newQueue(t *testing.T, r webhook.Doer, tries int) *webhook.Queue {
	t.Helper()
	h, err := webhook.New(webhook.Config{URL: "https://hooks.example.com/calls", Secret: secret, Client: r, Tries: tries,
		Backoff: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	q, err := webhook.NewQueue(webhook.QueueConfig{Hook: h, Max: 10, InFlight: 1})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// TestWebhook delivers every record once it can, signed, and gives up what nobody takes. One that has to wait for its
// next try holds back no other.
func TestWebhook(t *testing.T) {
	tests := map[string]struct {
		tries     int
		refuse    map[string]int
		records   int
		delivered string
		lost      int
		took      time.Duration
	}{
		"at once":        {8, nil, 3, "abc", 0, 0},
		"after a try":    {8, map[string]int{"a": 1}, 2, "ba", 0, time.Second},
		"at last":        {8, map[string]int{"a": 7}, 3, "bca", 0, (1<<7 - 1) * time.Second},
		"one try late":   {8, map[string]int{"a": 8}, 1, "", 1, (1<<7 - 1) * time.Second},
		"never":          {8, map[string]int{"a": 100, "b": 100}, 3, "c", 2, (1<<7 - 1) * time.Second},
		"one of each":    {8, map[string]int{"a": 2, "b": 1}, 3, "cba", 0, 3 * time.Second},
		"too many":       {8, nil, 13, "adefghijklm", 2, 0}, // the first is under way, ten wait
		"and too late":   {8, map[string]int{"a": 1}, 11, "bcdefghijk", 1, 0},
		"every 5 min":    {13, map[string]int{"a": 12}, 1, "a", 0, (1<<9-1)*time.Second + 3*5*time.Minute},
		"a try, and out": {1, map[string]int{"a": 1}, 2, "b", 1, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &receiver{refuse: test.refuse, gate: make(chan struct{})}
				q, began := newQueue(t, r, test.tries), time.Now()
				for i := range test.records {
					q.Ended(voicegw.Record{Call: string(rune('a' + i))})
					synctest.Wait()
				}
				close(r.gate)
				time.Sleep(time.Hour) // Close hurries
				err := q.Close(context.Background())
				got, lost := strings.Join(r.calls, ""), q.Lost()
				if got != test.delivered || lost != test.lost || (err != nil) != (lost > 0) {
					t.Errorf("%q were delivered, %d lost, %v; want %q and %d", got, lost, err, test.delivered, test.lost)
				}
				if took := r.at.Sub(began); took != test.took {
					t.Errorf("it took %v, want %v", took, test.took)
				}
				r.judge(t)
			})
		})
	}
}

// judge looks at the last request: it is signed when it is sent, and says which call it is of, so that one that comes
// twice is known.
func (r *receiver) judge(t *testing.T) {
	t.Helper()
	h := r.last.Header
	if err := webhook.Verify(secret, h.Get("X-Voicegw-Signature"), r.last.Body, r.at, time.Second); err != nil {
		t.Error(err)
	}
	var e ended
	if err := json.Unmarshal(r.last.Body, &e); err != nil || h.Get("Idempotency-Key") != e.Record.Call {
		t.Errorf("the record of %q has the key %q, %v", e.Record.Call, h.Get("Idempotency-Key"), err)
	}
	if r.last.Method != http.MethodPost || !r.last.Stay {
		t.Errorf("the request is %+v", r.last)
	}
}

// TestWebhookCannotWait ends when it is told to, and says what it left.
func TestWebhookCannotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, &receiver{refuse: map[string]int{"a": 1000, "b": 1000}}, 8)
		q.Ended(voicegw.Record{Call: "a"})
		q.Ended(voicegw.Record{Call: "b"})
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := q.Close(ctx); err == nil || !strings.Contains(err.Error(), "did not get 2 requests") {
			t.Errorf("records were left: %v", err)
		}
	})
}

// TestQueueCloseHurries: a record that waits a minute for its next try has it when the queue closes, and others after 1
// and 2 seconds. What comes later is counted and named.
func TestQueueCloseHurries(t *testing.T) {
	for refuse, delivered := range map[int]string{7: "ba", 9: "ba", 10: "b"} {
		synctest.Test(t, func(t *testing.T) {
			core, log := observer.New(zapcore.ErrorLevel)
			r := &receiver{refuse: map[string]int{"a": refuse}}
			h, err := webhook.New(webhook.Config{URL: "https://hooks.example.com/", Secret: secret, Client: r, Tries: 20,
				Backoff: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			q, err := webhook.NewQueue(webhook.QueueConfig{Hook: h, Log: zap.New(core)})
			if err != nil {
				t.Fatal(err)
			}
			q.Ended(voicegw.Record{Call: "a"})
			synctest.Wait()
			q.Ended(voicegw.Record{Call: "b"})
			time.Sleep(70 * time.Second) // 7 tries, and the next in almost a minute
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			err = q.Close(ctx)
			got := strings.Join(r.calls, "")
			if got != delivered || (err == nil) != (q.Lost() == 0) || len(got)+q.Lost() != 2 {
				t.Errorf("after %d refusals %q were delivered, %d lost, %v", refuse, got, q.Lost(), err)
			}
			lost := q.Lost()
			q.Ended(voicegw.Record{Call: "late"})
			if lines := log.FilterField(zap.String("call", "late")).Len(); q.Lost() != lost+1 || lines != 1 {
				t.Errorf("%d are lost behind the end, and %d lines name it", q.Lost()-lost, lines)
			}
			if err := q.Close(ctx); err == nil {
				t.Error("a second Close forgets what was lost")
			}
		})
	}
}

// TestQueueCloseInFlight: a try that fails while the queue closes is followed by the next at once.
func TestQueueCloseInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{refuse: map[string]int{"a": 1}, gate: make(chan struct{})}
		q := newQueue(t, r, 8)
		q.Ended(voicegw.Record{Call: "a"})
		closed := make(chan error)
		began := time.Now()
		go func() { closed <- q.Close(t.Context()) }()
		synctest.Wait()
		close(r.gate)
		if err := <-closed; err != nil || len(r.calls) != 1 || time.Since(began) != 0 {
			t.Errorf("%v, %v are delivered after %v", err, r.calls, time.Since(began))
		}
	})
}

// TestQueueInFlight: as many requests as are allowed go at the same time. Those of one call go one after the other, in
// their order, and wait for one that has to be tried again.
func TestQueueInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{refuse: map[string]int{"a": 1}, gate: make(chan struct{})}
		h, err := webhook.New(webhook.Config{URL: "https://hooks.example.com/calls", Secret: secret, Client: r})
		if err != nil {
			t.Fatal(err)
		}
		q, err := webhook.NewQueue(webhook.QueueConfig{Hook: h, InFlight: 3})
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range strings.Split("aabbbcde", "") {
			q.Ended(voicegw.Record{Call: call})
		}
		judge := func(when string, waiting, current, delivered int) {
			t.Helper()
			synctest.Wait()
			r.mu.Lock()
			defer r.mu.Unlock()
			if q.Waiting() != waiting || r.current != current || len(r.calls) != delivered || r.most != 3 {
				t.Errorf("%s %d wait, %d are under way, %d at most, %v are delivered; want %d, %d, 3 and %d of them", when,
					q.Waiting(), r.current, r.most, r.calls, waiting, current, delivered)
			}
		}
		judge("at first", 5, 3, 0)
		close(r.gate)
		judge("when the server answers", 2, 0, 6)
		time.Sleep(time.Second)
		judge("in the end", 0, 0, 8)
		if err := q.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestQueueTakesAnyAnswer: a status 2xx is enough, however large the body behind it.
func TestQueueTakesAnyAnswer(t *testing.T) {
	t.Parallel()
	for status, lost := range map[int]int{200: 0, 400: 1} {
		var tries atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			tries.Add(1)
			w.WriteHeader(status)
			_, _ = w.Write(make([]byte, 2*fetch.BodyMax))
		}))
		client, err := fetch.New(fetch.Config{Allow: []string{"127.0.0.1"}})
		if err != nil {
			t.Fatal(err)
		}
		h, err := webhook.New(webhook.Config{URL: server.URL, Secret: secret, Allow: []string{"127.0.0.1"}, Client: client,
			Backoff: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		q, err := webhook.NewQueue(webhook.QueueConfig{Hook: h})
		if err != nil {
			t.Fatal(err)
		}
		q.Ended(voicegw.Record{Call: "a"})
		_ = q.Close(t.Context())
		if q.Lost() != lost || tries.Load() != 1 {
			t.Errorf("status %d: %d are lost after %d tries; want %d after 1", status, q.Lost(), tries.Load(), lost)
		}
		_, err = h.Post(t.Context(), "key", 7)
		if err == nil || tries.Load() != 2 || lost == 0 && !strings.Contains(err.Error(), "more than 1048576 bytes") {
			t.Errorf("status %d: a function gets %v after %d tries", status, err, tries.Load()-1)
		}
		client.Transport().CloseIdleConnections()
		server.Close()
	}
}

// TestQueueRefused: a record that is too large is lost at once, and a queue needs a hook.
func TestQueueRefused(t *testing.T) {
	t.Parallel()
	q := newQueue(t, &receiver{}, 1)
	q.Ended(voicegw.Record{Call: "a", Error: strings.Repeat("x", webhook.BodyMax)})
	if err := q.Close(t.Context()); err == nil || q.Lost() != 1 || q.Waiting() != 0 {
		t.Errorf("%v, %d lost", err, q.Lost())
	}
	for _, cfg := range []webhook.QueueConfig{{}, {Hook: &webhook.Hook{}, Max: -1}, {Hook: &webhook.Hook{}, InFlight: -1},
		{Hook: &webhook.Hook{}, InFlight: 101}} {
		if _, err := webhook.NewQueue(cfg); err == nil {
			t.Errorf("%+v was taken", cfg)
		}
	}
}

// TestCheckAllow: a list must name the host of an http URL, as New demands it.
func TestCheckAllow(t *testing.T) {
	h, err := webhook.New(webhook.Config{URL: "http://crm.internal/x", Allow: []string{"crm.internal"},
		Secret: []byte(strings.Repeat("s", webhook.SecretLenMin))})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		allow []string
		ok    bool
	}{{[]string{"other.internal", "CRM.internal"}, true}, {[]string{"10.0.0.0/8"}, false}, {nil, false}} {
		if err := h.CheckAllow(c.allow); (err == nil) != c.ok {
			t.Errorf("%q: %v", c.allow, err)
		}
	}
}

// TestSetSecret: another secret signs from now on. One that is too short is refused, and the old one stays.
func TestSetSecret(t *testing.T) {
	t.Parallel()
	r := &receiver{}
	var shared webhook.Stats
	h, err := webhook.New(webhook.Config{URL: "https://hooks.example.com/", Secret: secret, Client: r, Stats: &shared})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.SetSecret([]byte("short")); err == nil {
		t.Error("a short secret is taken")
	}
	other := []byte("another secret of a test")
	if _, err := h.PrepareSecret(other); err != nil { // and nothing changes yet
		t.Error(err)
	}
	for i, signs := range [][]byte{secret, other} {
		if i == 1 {
			if err := h.SetSecret(other); err != nil {
				t.Error(err)
			}
		}
		_, _ = h.Post(t.Context(), "a", ended{Type: "end"})
		header := r.last.Header.Get(webhook.SignatureHeader)
		for _, s := range [][]byte{secret, other} {
			err := webhook.Verify(s, header, r.last.Body, r.at, time.Minute)
			if (err == nil) != (string(s) == string(signs)) {
				t.Errorf("request %d: the secret %q: %v", i, s, err)
			}
		}
	}
	if shared.Count(webhook.Refused) != 2 || h.Count(webhook.Refused) != 2 {
		t.Errorf("%d and %d requests are counted", shared.Count(webhook.Refused), h.Count(webhook.Refused))
	}
}
