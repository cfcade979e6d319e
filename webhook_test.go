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
	"sync"
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

// TestWebhook delivers every record once it can, signed, in order, and gives up
// what nobody takes.
func TestWebhook(t *testing.T) {
	tests := map[string]struct {
		refuse, records, delivered, lost int
	}{
		"at once":     {0, 3, 3, 0},
		"after a try": {1, 2, 2, 0},
		"at last":     {7, 1, 1, 0},
		"never":       {100, 2, 0, 2},
		"too many":    {0, 12, 10, 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &receiver{refuse: test.refuse}
				w, err := voicegw.NewWebhook(voicegw.WebhookConfig{URL: "https://hooks.example.com/calls", Secret: []byte("s"),
					Client: &http.Client{Transport: r}, Queue: 10})
				if err != nil {
					t.Fatal(err)
				}
				for i := range test.records {
					w.Ended(voicegw.Record{Call: string(rune('a' + i))})
				}
				err = w.Close(context.Background())
				if lost := w.Lost(); len(r.calls) != test.delivered || lost != test.lost || (err != nil) != (lost > 0) {
					t.Errorf("%v were delivered, %d lost, %v; want %d and %d", r.calls, lost, err, test.delivered, test.lost)
				}
				mac := hmac.New(sha256.New, []byte("s"))
				mac.Write(r.body)
				if got := r.last.Header.Get("X-Voicegw-Signature"); got != hex.EncodeToString(mac.Sum(nil)) {
					t.Errorf("the signature is %q", got)
				}
			})
		})
	}
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
