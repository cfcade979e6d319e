package voicegw

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"go.uber.org/zap"
)

// WebhookConfig configures a Webhook. Only URL is required.
type WebhookConfig struct {
	// URL receives each record as JSON, by POST. It is https, or http on this machine.
	URL string
	// Secret, if not empty, signs the body: X-Voicegw-Signature is its hexadecimal HMAC-SHA256.
	Secret []byte `json:"-"`
	// Client makes the requests. nil means a client with a timeout of 10 s that follows no
	// redirects.
	Client *http.Client `json:"-"`
	// Queue is how many records may wait: 1,000 by default. One more displaces the oldest.
	Queue int
	// Tries is how often a record is sent before the webhook gives up: 8 by default. Backoff (1 s
	// by default) is the wait after the first try. It doubles with each try, up to 5 minutes.
	Tries   int
	Backoff time.Duration
	// Log gets an error for each record that was given up; nil disables it.
	Log *zap.Logger
}

// Webhook sends call records to a URL. Set Hooks.Ended to its Ended method, and close it at the
// end. All methods are safe for concurrent use.
type Webhook struct {
	cfg     WebhookConfig
	stop    context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	waiting []Record // oldest first
	news    chan struct{}
	idle    chan struct{} // closed while nothing waits and nothing is being sent
	lost    int
}

// backoffMax is the longest wait between two tries.
const backoffMax = 5 * time.Minute

// NewWebhook checks cfg and starts the webhook.
func NewWebhook(cfg WebhookConfig) (*Webhook, error) {
	u, err := url.Parse(cfg.URL)
	local := err == nil && (u.Hostname() == "127.0.0.1" || u.Hostname() == "::1" || u.Hostname() == "localhost")
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !local) {
		return nil, fmt.Errorf("voicegw: WebhookConfig.URL is not an https URL, nor an http one of this machine")
	}
	if cfg.Queue < 0 || cfg.Tries < 0 || cfg.Backoff < 0 {
		return nil, fmt.Errorf("voicegw: WebhookConfig: Queue is %d, Tries %d, Backoff %v; none may be negative", cfg.Queue,
			cfg.Tries, cfg.Backoff)
	}
	fallback := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	fallback(&cfg.Queue, 1000)
	fallback(&cfg.Tries, 8)
	if cfg.Backoff == 0 {
		cfg.Backoff = time.Second
	}
	if cfg.Client == nil {
		cfg.Client = &http.Client{Timeout: 10 * time.Second,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	if cfg.Log == nil {
		cfg.Log = zap.NewNop()
	}
	ctx, stop := context.WithCancel(context.Background())
	w := &Webhook{cfg: cfg, stop: stop, news: make(chan struct{}, 1), idle: closedChannel()}
	w.running.Go(func() { w.run(ctx) })
	return w, nil
}

func closedChannel() chan struct{} {
	ch := make(chan struct{})
	close(ch)
	return ch
}

// Ended queues a record. It never blocks.
func (w *Webhook) Ended(r Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.idle:
		w.idle = make(chan struct{})
	default:
	}
	if len(w.waiting) == w.cfg.Queue {
		w.waiting = append(w.waiting[:0], w.waiting[1:]...)
		w.gaveUp("the queue was full")
	}
	w.waiting = append(w.waiting, r)
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// gaveUp counts a record that was given up; mu is held.
func (w *Webhook) gaveUp(why string) {
	w.lost++
	w.cfg.Log.Error("the record of a call was not delivered", zap.String("why", why), zap.Int("lost", w.lost))
}

// Lost returns how many records were given up.
func (w *Webhook) Lost() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost
}

// Close waits until every record is delivered or given up, or ctx is done, and stops the webhook.
// It returns an error if records were not delivered.
func (w *Webhook) Close(ctx context.Context) error {
	w.mu.Lock()
	idle := w.idle
	w.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
	w.stop()
	w.running.Wait()
	if n := w.Lost() + len(w.waiting); n > 0 {
		return fmt.Errorf("voicegw: webhook: %d records were not delivered", n)
	}
	return nil
}

// run delivers until ctx is done.
func (w *Webhook) run(ctx context.Context) {
	for {
		r, ok := w.next()
		if !ok {
			select {
			case <-w.news:
				continue
			case <-ctx.Done():
				return
			}
		}
		if !w.deliver(ctx, r) && ctx.Err() != nil {
			return
		}
	}
}

// next takes the oldest record.
func (w *Webhook) next() (Record, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) == 0 {
		select {
		case <-w.idle:
		default:
			close(w.idle)
		}
		return Record{}, false
	}
	r := w.waiting[0]
	w.waiting = append(w.waiting[:0], w.waiting[1:]...)
	return r, true
}

// deliver sends a record until it is accepted or given up.
func (w *Webhook) deliver(ctx context.Context, r Record) bool {
	body, err := json.Marshal(r)
	wait := w.cfg.Backoff
	for try := 0; err == nil && try < w.cfg.Tries; try++ {
		if try > 0 {
			if !sleep(ctx, wait) {
				break
			}
			wait = min(2*wait, backoffMax)
		}
		if w.post(ctx, r.Call, body) {
			return true
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gaveUp("nobody took it")
	return false
}

// post sends a record once and reports whether it was accepted.
func (w *Webhook) post(ctx context.Context, call string, body []byte) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.cfg.URL, bytes.NewReader(body))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", call)
	if len(w.cfg.Secret) > 0 {
		mac := hmac.New(sha256.New, w.cfg.Secret)
		mac.Write(body)
		req.Header.Set("X-Voicegw-Signature", hex.EncodeToString(mac.Sum(nil)))
	}
	resp, err := w.cfg.Client.Do(req)
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	_ = resp.Body.Close()
	return resp.StatusCode/100 == 2
}
