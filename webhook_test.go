package voicegw_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw"
)

// receiver is the other end of a webhook, without a network.
type receiver struct {
	refuse int // so many requests first

	mu    sync.Mutex
	calls []string
	tries int
	last  *http.Request
	body  []byte
}

// RoundTrip answers a request.
func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries++
	r.last = req
	r.body, _ = io.ReadAll(req.Body)
	answer := &http.Response{StatusCode: 200, Body: io.NopCloser(bytes.NewReader(nil))}
	if r.tries <= r.refuse {
		if r.tries%2 == 0 {
			return nil, errors.New("the line broke")
		}
		answer.StatusCode = 503
		return answer, nil
	}
	var rec voicegw.Record
	if err := json.Unmarshal(r.body, &rec); err != nil {
		return nil, err
	}
	r.calls = append(r.calls, rec.Call)
	return answer, nil
}

// TestWebhook delivers every record once it can, signed, in order, and gives up what nobody takes.
func TestWebhook(t *testing.T) {
	tests := map[string]struct {
		tries, refuse, records int
		delivered              string
		lost                   int
		took                   time.Duration
	}{
		"at once":        {0, 0, 3, "abc", 0, 0},
		"after a try":    {0, 1, 2, "ab", 0, time.Second},
		"at last":        {0, 7, 1, "a", 0, (1<<7 - 1) * time.Second},
		"one try late":   {0, 8, 1, "", 1, (1<<7 - 1) * time.Second},
		"never":          {0, 100, 2, "", 2, 2 * (1<<7 - 1) * time.Second},
		"too many":       {0, 0, 12, "cdefghijkl", 2, 0},
		"every 5 min":    {13, 12, 1, "a", 0, (1<<9-1)*time.Second + 3*5*time.Minute},
		"a try, and out": {1, 1, 2, "b", 1, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &receiver{refuse: test.refuse}
				w, err := voicegw.NewWebhook(voicegw.WebhookConfig{URL: "https://hooks.example.com/calls", Secret: []byte("s"),
					Client: &http.Client{Transport: r}, Queue: 10, Tries: test.tries})
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				for i := range test.records {
					w.Ended(voicegw.Record{Call: string(rune('a' + i))})
				}
				err = w.Close(context.Background())
				got, lost := strings.Join(r.calls, ""), w.Lost()
				if got != test.delivered || lost != test.lost || (err != nil) != (lost > 0) {
					t.Errorf("%q were delivered, %d lost, %v; want %q and %d", got, lost, err, test.delivered, test.lost)
				}
				if took := time.Since(began); took != test.took {
					t.Errorf("it took %v, want %v", took, test.took)
				}
				r.judge(t)
			})
		})
	}
}

// judge looks at the last request: it is signed, and says which call it is of, so that one that comes twice is known.
func (r *receiver) judge(t *testing.T) {
	t.Helper()
	mac := hmac.New(sha256.New, []byte("s"))
	mac.Write(r.body)
	if got := r.last.Header.Get("X-Voicegw-Signature"); got != hex.EncodeToString(mac.Sum(nil)) {
		t.Errorf("the signature is %q", got)
	}
	var rec voicegw.Record
	if err := json.Unmarshal(r.body, &rec); err != nil || r.last.Header.Get("Idempotency-Key") != rec.Call {
		t.Errorf("the record of %q has the key %q, %v", rec.Call, r.last.Header.Get("Idempotency-Key"), err)
	}
}

// TestWebhookIsNotRedirected: a record goes where it was configured to go, and nowhere else.
func TestWebhookIsNotRedirected(t *testing.T) {
	var elsewhere atomic.Int32
	mux := http.NewServeMux()
	mux.Handle("/calls", http.RedirectHandler("/elsewhere", http.StatusTemporaryRedirect))
	mux.HandleFunc("/elsewhere", func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) })
	server := httptest.NewServer(mux)
	defer server.Close()
	w, err := voicegw.NewWebhook(voicegw.WebhookConfig{URL: server.URL + "/calls", Tries: 1})
	if err != nil {
		t.Fatal(err)
	}
	w.Ended(voicegw.Record{Call: "a"})
	if err := w.Close(t.Context()); err == nil || elsewhere.Load() != 0 {
		t.Errorf("%v, and %d records went elsewhere", err, elsewhere.Load())
	}
	http.DefaultClient.CloseIdleConnections()
}

// TestWebhookCannotWait ends when it is told to, and says what it left.
func TestWebhookCannotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, err := voicegw.NewWebhook(voicegw.WebhookConfig{URL: "http://127.0.0.1:1/calls",
			Client: &http.Client{Transport: &receiver{refuse: 1000}}})
		if err != nil {
			t.Fatal(err)
		}
		w.Ended(voicegw.Record{Call: "a"})
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := w.Close(ctx); err == nil {
			t.Error("a record was left, and nobody was told")
		}
	})
}

func TestWebhookRefused(t *testing.T) {
	for _, cfg := range []voicegw.WebhookConfig{{}, {URL: "http://example.com/x"}, {URL: "ftp://127.0.0.1/"}, {URL: ":"},
		{URL: "https://example.com/", Tries: -1}} {
		if w, err := voicegw.NewWebhook(cfg); err == nil {
			t.Errorf("%+v was taken", cfg)
			_ = w.Close(context.Background())
		}
	}
}
