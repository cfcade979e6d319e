package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/voicegw/voicegw/agent/fetch"
)

// Limits and defaults of a Hook.
const (
	SecretLenMin   = 16 // bytes
	BodyMax        = 256 << 10
	AnswerMax      = 64 << 10 // bytes of JSON
	timeoutDefault = 10 * time.Second
	triesDefault   = 3
	triesMax       = 20
	backoffDefault = 250 * time.Millisecond
	backoffMax     = 5 * time.Minute
)

// TraceHeader names the trace that a request belongs to, and StateHeader has its state (W3C Trace Context).
const (
	TraceHeader = "Traceparent"
	StateHeader = "Tracestate"
)

// traced are the values of these headers; "" for none.
type traced struct{ parent, state string }

// put adds the headers to those of a request.
func (t traced) put(h http.Header) {
	if t.parent != "" {
		h.Set(TraceHeader, t.parent)
	}
	if t.parent != "" && t.state != "" {
		h.Set(StateHeader, t.state)
	}
}

// Doer makes one request. A *fetch.Client is one.
type Doer interface {
	Do(context.Context, fetch.Request) (*fetch.Response, error)
}

// Config configures a Hook. URL and Secret are required.
type Config struct {
	// URL gets the requests, by POST. It is https, or http to a host in Allow.
	URL string
	// Secret signs the requests. It has at least 16 bytes.
	Secret []byte `json:"-"`
	// Allow are private addresses, prefixes and hosts that URL may lead to, as in fetch.Config.
	Allow []string
	// Timeout limits one try: 10 s by default, 1 s to 5 min.
	Timeout time.Duration
	// Tries is how often a request is made before it counts as failed: 3 by default, at most 20.
	// Backoff (250 ms by default) is the wait after the first try. It doubles with each try, up to 5 minutes.
	Tries   int
	Backoff time.Duration
	// Client makes the requests; nil means one that holds to Allow.
	Client Doer
	// Stats counts the requests; nil means Stats of the Hook's own. Hooks may share them.
	Stats *Stats
}

// Stats counts requests by how they ended. The zero value is ready. It is safe for concurrent use.
type Stats [resultCount]atomic.Uint64

// Count returns how many requests ended so.
func (s *Stats) Count(r Result) uint64 { return s[r].Load() }

// Hook posts JSON to one URL. It is safe for concurrent use.
type Hook struct {
	cfg    Config
	secret atomic.Pointer[[]byte]
}

// Result is how a request ended.
type Result int

// The results of requests.
const (
	OK        Result = iota // the server answered with JSON, or with nothing
	Refused                 // the server answered with a status that says no, or not with JSON
	Failed                  // no try got an answer that counts
	TimedOut                // nor did one in time
	Cancelled               // nobody waited for the answer any more
	resultCount
)

// String returns the name of a result, as metrics have it.
func (r Result) String() string {
	return []string{"ok", "refused", "failed", "timeout", "cancelled"}[r]
}

// Results lists all results.
func Results() []Result { return []Result{OK, Refused, Failed, TimedOut, Cancelled} }

// Count returns how many requests ended so.
func (h *Hook) Count(r Result) uint64 { return h.cfg.Stats.Count(r) }

// New checks a Config.
func New(cfg Config) (*Hook, error) {
	if err := checkURL(cfg.URL, cfg.Allow); err != nil {
		return nil, err
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = timeoutDefault
	}
	if cfg.Tries == 0 {
		cfg.Tries = triesDefault
	}
	if cfg.Backoff == 0 {
		cfg.Backoff = backoffDefault
	}
	switch {
	case cfg.Timeout < fetch.TimeoutMin || cfg.Timeout > fetch.TimeoutMax:
		return nil, fmt.Errorf("webhook: the timeout is %v; it must be 1 s to 5 min", cfg.Timeout)
	case cfg.Tries < 0 || cfg.Tries > triesMax:
		return nil, fmt.Errorf("webhook: there are %d tries; 1 to %d are possible", cfg.Tries, triesMax)
	case cfg.Backoff < 0 || cfg.Backoff > backoffMax:
		return nil, fmt.Errorf("webhook: the backoff is %v; it must be 0 to 5 min", cfg.Backoff)
	}
	if cfg.Client == nil {
		client, err := fetch.New(fetch.Config{Allow: cfg.Allow})
		if err != nil {
			return nil, fmt.Errorf("webhook: %w", err)
		}
		cfg.Client = client
	}
	if cfg.Stats == nil {
		cfg.Stats = &Stats{}
	}
	h := &Hook{cfg: cfg}
	if err := h.SetSecret(cfg.Secret); err != nil {
		return nil, err
	}
	return h, nil
}

// checkURL refuses a URL that is neither https nor of a host in allow.
func checkURL(address string, allow []string) error {
	u, err := fetch.CheckURL(address)
	if err != nil {
		return fmt.Errorf("webhook: URL: %w", err)
	}
	named := func(entry string) bool { return strings.EqualFold(strings.Trim(entry, "[]"), u.Hostname()) }
	if u.Scheme != "https" && !slices.ContainsFunc(allow, named) {
		return fmt.Errorf("webhook: the URL begins with %s://; it must be https, or its host %q must be allowed",
			u.Scheme, u.Hostname())
	}
	return nil
}

// CheckAllow reports whether New would take the URL with another list of Config.Allow.
func (h *Hook) CheckAllow(allow []string) error { return checkURL(h.cfg.URL, allow) }

// SetSecret replaces Config.Secret for tries from now on.
func (h *Hook) SetSecret(secret []byte) error {
	commit, err := h.PrepareSecret(secret)
	if err == nil {
		commit()
	}
	return err
}

// PrepareSecret checks the secret as SetSecret does and changes nothing; commit then replaces it.
func (h *Hook) PrepareSecret(secret []byte) (commit func(), err error) {
	if len(secret) < SecretLenMin {
		return nil, fmt.Errorf("webhook: the secret has %d bytes; it must have %d or more", len(secret), SecretLenMin)
	}
	secret = bytes.Clone(secret)
	return func() { h.secret.Store(&secret) }, nil
}

// Error is why a request has no answer. Its text names neither the URL nor an address, so that a model may read it.
type Error struct {
	Result Result
	Why    string
	Err    error // of the last try; nil if the server answered
}

// Error says why.
func (e *Error) Error() string { return e.Why }

// Unwrap returns the error of the last try.
func (e *Error) Unwrap() error { return e.Err }

// Post posts body as JSON and returns the JSON that the server answers, nil if it answers with nothing. It tries
// again when the server cannot be reached or answers with 408, 425, 429 or 5xx, until ctx ends. key is the same for
// all tries (Idempotency-Key), so that the server can tell a repetition. The error is an *Error.
func (h *Hook) Post(ctx context.Context, key string, body any) (json.RawMessage, error) {
	return h.post(ctx, key, traced{}, body)
}

// post is Post in a trace.
func (h *Hook) post(ctx context.Context, key string, trace traced, body any) (json.RawMessage, error) {
	data, err := json.Marshal(body)
	if err != nil || len(data) > BodyMax {
		return nil, h.ended(&Error{Failed, fmt.Sprintf("the request is too large: more than %d bytes", BodyMax), err})
	}
	resp, wrong := h.send(ctx, key, trace, data)
	var answer json.RawMessage
	if wrong == nil {
		answer, wrong = answerOf(resp)
	}
	return answer, h.ended(wrong)
}

// send posts JSON until a server takes it with 2xx or it is given up.
func (h *Hook) send(ctx context.Context, key string, trace traced, body []byte) (*fetch.Response, *Error) {
	wait := h.cfg.Backoff
	for try := 1; ; try++ {
		resp, after, err := h.once(ctx, key, trace, body)
		if err == nil || after < 0 || try == h.cfg.Tries {
			return resp, err
		}
		if !sleep(ctx, max(wait, after)) {
			if errors.Is(ctx.Err(), context.Canceled) {
				err = gone(err)
			}
			return resp, err
		}
		wait = min(2*wait, backoffMax)
	}
}

// ended counts a request.
func (h *Hook) ended(err *Error) error {
	if err == nil {
		h.cfg.Stats[OK].Add(1)
		return nil
	}
	h.cfg.Stats[err.Result].Add(1)
	return err
}

// final is the wait before a try that would not help.
const final = time.Duration(-1)

// once makes one try. after is how long the server wants to be left alone.
func (h *Hook) once(ctx context.Context, key string, trace traced, body []byte) (*fetch.Response, time.Duration,
	*Error) {
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}, "Idempotency-Key": {key},
		SignatureHeader: {Sign(*h.secret.Load(), time.Now(), body)}}
	trace.put(header)
	resp, err := h.cfg.Client.Do(ctx, fetch.Request{Method: http.MethodPost, URL: h.cfg.URL, Body: body, Stay: true,
		Timeout: h.cfg.Timeout, Header: header})
	var denied *fetch.DeniedError
	var size *fetch.SizeError
	if errors.As(err, &size) && size.Status/100 != 2 { // the status says it all
		resp, err = &fetch.Response{Status: size.Status}, nil
	}
	switch {
	case err != nil && errors.Is(ctx.Err(), context.Canceled):
		return nil, final, gone(err)
	case errors.As(err, &size):
		return nil, final, &Error{Refused, fmt.Sprintf("the service answered with more than %d bytes; %d are possible",
			fetch.BodyMax, AnswerMax), err}
	case errors.As(err, &denied):
		return nil, final, &Error{Failed, "the service has an address that the operator does not allow", err}
	case errors.Is(err, context.DeadlineExceeded), err != nil && ctx.Err() != nil:
		return nil, 0, &Error{TimedOut, "the service did not answer in time", err}
	case err != nil:
		return nil, 0, &Error{Failed, "the service cannot be reached", err}
	case resp.Status/100 == 2:
		return resp, 0, nil
	}
	wrong := &Error{Result: Refused, Why: fmt.Sprintf("the service answered with status %d", resp.Status)}
	switch resp.Status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
	default:
		if resp.Status < 500 {
			return nil, final, wrong
		}
	}
	wrong.Result = Failed
	return nil, retryAfter(resp.Header), wrong
}

// gone is the error of a request for which nobody waits any more.
func gone(err error) *Error { return &Error{Cancelled, "nobody waits for the answer any more", err} }

// answerOf is the JSON of a response.
func answerOf(r *fetch.Response) (json.RawMessage, *Error) {
	body := bytes.TrimSpace(r.Body)
	switch {
	case len(body) == 0:
		return nil, nil
	case len(body) > AnswerMax:
		return nil, &Error{Result: Refused, Why: fmt.Sprintf("the service answered with %d bytes; %d are possible", len(body),
			AnswerMax)}
	case !json.Valid(body):
		kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
		return nil, &Error{Result: Refused, Why: fmt.Sprintf("the service answered with %.40q, which is not JSON", kind)}
	}
	return body, nil
}

// retryAfter reads the header Retry-After in seconds, at most 5 minutes.
func retryAfter(h http.Header) time.Duration {
	s, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || s < 0 {
		return 0
	}
	return min(time.Duration(min(s, 3600))*time.Second, backoffMax)
}

// sleep waits. It returns false, at once if it can, when ctx leaves no time for another try.
func sleep(ctx context.Context, d time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < d {
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Host is the host of the URL, for logs.
func (h *Hook) Host() string {
	u, err := url.Parse(h.cfg.URL)
	if err != nil {
		return ""
	}
	return u.Host
}
