package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/internal/foreign"
)

// Limits of what an error keeps.
const (
	faultBytesMax = 64 << 10 // of the body of a refusal that is read
	messageMax    = 500      // bytes of Error.Message
)

// link is the way to one model of one provider. It never changes.
type link struct {
	provider string
	model    string
	base     string // without a slash at its end
	key      string
	retry    Retry
	limits   Limits
	clean    foreign.Cleaner
	client   *http.Client
}

// Name returns the name of the model, without its provider.
func (l *link) Name() string { return l.model }

// ask makes attempts until one succeeds, or none may follow: see Retry. Each attempt fills an answer of
// its own.
func (l *link) ask(ctx context.Context, p *prompt, partial, yield func(*model.LLMResponse, error) bool,
	once func(context.Context, *answer) error) {
	began := time.Now()
	for n := 1; ; n++ {
		a := &answer{names: p.names, partial: partial}
		resp, err := l.attempt(ctx, a, once)
		switch {
		case a.gone:
			return
		case err == nil:
			yield(resp, nil)
			return
		case ctx.Err() != nil:
			yield(nil, fmt.Errorf("provider: %s: %w", l.provider, ctx.Err()))
			return
		}
		e := l.signed(err, n)
		wait, again := l.retry.next(e, n, time.Since(began))
		if !again || a.begun {
			yield(nil, e)
			return
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			yield(nil, fmt.Errorf("provider: %s: %w", l.provider, ctx.Err()))
			return
		}
	}
}

// next says how long to wait after attempt n, and whether there is another.
func (r Retry) next(e *Error, n int, spent time.Duration) (time.Duration, bool) {
	if !e.Retryable || n >= r.Attempts {
		return 0, false
	}
	wait := r.First
	for i := 1; i < n && wait < r.Wait; i++ {
		wait *= 2
	}
	wait = min(wait, r.Wait)
	if r.Jitter != nil {
		wait -= time.Duration(float64(wait) / 2 * min(1, max(0, r.Jitter())))
	}
	wait = max(wait, e.RetryAfter)
	return wait, wait <= r.Wait && spent+wait <= r.Total
}

// signed completes an error: whose it is, and without keys.
func (l *link) signed(err error, attempts int) *Error {
	e := asError(err)
	e.Provider, e.Attempts = l.provider, attempts
	e.Message = l.clean.Text(e.Message, messageMax)
	e.Reason = l.clean.Text(e.Reason, messageMax)
	e.RequestID = l.clean.Text(e.RequestID, messageMax)
	return e
}

// trial is what one attempt knows: its timer and its first failure.
type trial struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer
	sent   bool // a request left
	err    error
}

type trialKey struct{}

// silentAfter lets the attempt fail if nothing comes for d. Whoever gets something stops the timer.
func (t *trial) silentAfter(d time.Duration) {
	t.timer = time.AfterFunc(d, func() {
		t.cancel(newError(TimedOut, "it sent nothing for %v", d))
	})
}

// fail keeps the first failure.
func (t *trial) fail(err error) error {
	if t.err == nil {
		t.err = err
	}
	return t.err
}

// attempt makes one attempt. Failures of the connection count more than what they make of the response.
func (l *link) attempt(ctx context.Context, a *answer, once func(context.Context, *answer) error,
) (*model.LLMResponse, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, stop := context.WithTimeoutCause(ctx, l.limits.Attempt,
		newError(TimedOut, "the response took longer than %v", l.limits.Attempt))
	defer stop()
	t := &trial{cancel: cancel}
	t.silentAfter(l.limits.FirstByte)
	defer func() { t.timer.Stop() }()
	err := once(context.WithValue(ctx, trialKey{}, t), a)
	switch {
	case t.err != nil:
		return nil, t.err
	case err != nil:
		return nil, err
	}
	return a.response()
}

// post sends a JSON body and returns the body of the response.
func (l *link) post(ctx context.Context, path string, body []byte, header func(http.Header, string),
) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, newError(Invalid, "the address is wrong: %v", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if l.key != "" {
		header(req.Header, l.key)
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// guard makes a client whose responses keep the limits, and whose refusals are errors. The time-out of c
// limits an attempt.
func (l *link) guard(c *http.Client) {
	with := http.Client{}
	if c != nil {
		with = *c
	}
	if with.Timeout > 0 {
		l.limits.Attempt, with.Timeout = min(l.limits.Attempt, with.Timeout), 0
	}
	if with.Transport == nil {
		with.Transport = http.DefaultTransport
	}
	with.Transport = &guard{base: with.Transport, limits: l.limits}
	l.client = &with
}

// guard is a transport that turns each status that is no success into an error, a redirect too, so that
// no key goes elsewhere.
type guard struct {
	base   http.RoundTripper
	limits Limits
}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	t, _ := req.Context().Value(trialKey{}).(*trial)
	if t == nil {
		return nil, errors.New("provider: a request outside an attempt")
	}
	t.sent = true
	resp, err := g.base.RoundTrip(req)
	t.timer.Stop()
	if err != nil {
		return nil, t.fail(broken(req.Context(), err))
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		defer resp.Body.Close()
		body, err := io.ReadAll(io.LimitReader(resp.Body, faultBytesMax))
		if err != nil && context.Cause(req.Context()) != nil {
			return nil, t.fail(broken(req.Context(), err))
		}
		return nil, t.fail(responseError(resp, body, time.Now()))
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	resp.Body = &guardedBody{body: resp.Body, trial: t, limits: g.limits, ctx: req.Context(), id: requestID(resp.Header),
		lines: kind == "text/event-stream" || kind == "application/x-ndjson"}
	return resp, nil
}

// broken is the error of a connection, or the reason for which the attempt was stopped.
func broken(ctx context.Context, err error) error {
	if e := (*Error)(nil); errors.As(context.Cause(ctx), &e) {
		return e
	}
	e := newError(Disconnected, "the connection failed: %v", err)
	e.Err = err
	return e
}

// guardedBody is the body of a response, within the limits. After a failure it is at its end, and the
// attempt knows the failure.
type guardedBody struct {
	body   io.ReadCloser
	trial  *trial
	limits Limits
	ctx    context.Context
	id     string
	lines  bool // it is a stream of lines
	total  int
	line   int // bytes of the last line
}

// Read implements io.Reader.
func (b *guardedBody) Read(p []byte) (int, error) {
	if b.trial.err != nil {
		return 0, io.EOF
	}
	b.trial.silentAfter(b.limits.Idle) // a reader may take its time
	n, err := b.body.Read(p)
	b.trial.timer.Stop()
	b.total += n
	switch {
	case err != nil && err != io.EOF:
		err = broken(b.ctx, err)
	case b.total > b.limits.Total:
		err = newError(TooLong, "the response has more than %d bytes", b.limits.Total)
	case b.lines && b.longLine(p[:n]):
		err = newError(TooLong, "a line of the response has more than %d bytes", b.limits.Line)
	default:
		return n, err
	}
	if e := (*Error)(nil); errors.As(err, &e) && e.RequestID == "" {
		with := *e
		with.RequestID = b.id
		err = &with
	}
	b.trial.fail(err)
	return n, io.EOF
}

// longLine counts the bytes of lines.
func (b *guardedBody) longLine(p []byte) bool {
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			b.line += len(p)
			return b.line > b.limits.Line
		}
		if b.line+i > b.limits.Line {
			return true
		}
		b.line, p = 0, p[i+1:]
	}
}

// Close implements io.Closer.
func (b *guardedBody) Close() error { return b.body.Close() }
