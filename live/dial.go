package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"time"

	"github.com/coder/websocket"
)

const (
	// earlyMessagesMax is the most messages that a model may send before it answers the setup.
	earlyMessagesMax = 16
	// reasonBytesMax is how much of a text of the model an error keeps.
	reasonBytesMax = 400
	// bodyBytesMax is how much of the body of a refusal is read.
	bodyBytesMax = 8 << 10
)

// Dial implements Dialer. The error is a *SetupError if a field of w or s is wrong, otherwise a
// *CloseError.
func (w Wire) Dial(ctx context.Context, s Setup) (Conn, error) {
	w = w.withDefaults()
	setDefault(&s.Model, w.Model)
	if err := w.check(); err != nil {
		return nil, err
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	setup, err := s.message(w.fullModel(s.Model))
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, w.HandshakeTimeout)
	defer cancel()
	c, err := w.connect(limited, &s)
	if err == nil {
		err = c.setup(limited, setup)
	}
	if err != nil {
		return nil, blame(err, ctx, w.HandshakeTimeout)
	}
	c.start()
	if len(s.History) > 0 {
		history := s.history()
		if err := c.put(limited, &history); err != nil {
			_ = c.Close(1000, "")
			return nil, blame(err, ctx, w.HandshakeTimeout)
		}
	}
	return c, nil
}

// blame corrects the error of a dial that its context or its time limit ended.
func blame(err error, ctx context.Context, limit time.Duration) error {
	var ce *CloseError
	if !errors.As(err, &ce) || ce.Class != ClassTimeout && ce.Class != ClassEnded {
		return err
	}
	switch {
	case ctx.Err() == nil && ce.Class == ClassTimeout:
		ce.limit, ce.Err = limit, nil
	case errors.Is(ctx.Err(), context.Canceled):
		ce.Class, ce.Err = ClassEnded, context.Canceled
	}
	return ce
}

// connect opens the WebSocket.
func (w Wire) connect(ctx context.Context, s *Setup) (*wireConn, error) {
	u, err := w.address()
	if err != nil {
		return nil, err
	}
	token, err := w.token(ctx)
	c := newWireConn(w, s, u.Host, w.APIKey+token)
	if err != nil {
		return nil, c.noToken(ctx, err)
	}
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { c.raw = info.Conn }}
	ws, resp, err := websocket.Dial(httptrace.WithClientTrace(ctx, trace), u.String(), &websocket.DialOptions{
		HTTPClient:      w.httpClient(),
		HTTPHeader:      w.header(token),
		CompressionMode: websocket.CompressionDisabled,
		OnPingReceived:  func(context.Context, []byte) bool { c.heard(); return true },
		OnPongReceived:  func(context.Context, []byte) { c.heard() },
	})
	if err != nil {
		return nil, c.dialError(ctx, resp, err)
	}
	ws.SetReadLimit(w.ReadLimit)
	c.ws = ws
	return c, nil
}

// httpClient returns a client that follows no redirect, because a redirect would take the key
// along.
func (w Wire) httpClient() *http.Client {
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}}
	if w.HTTPClient != nil {
		client = *w.HTTPClient
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

// noToken is the error of a dial that got no access token.
func (o *outcome) noToken(ctx context.Context, err error) *CloseError {
	o.phase = phaseDial
	e := &CloseError{Class: ClassKey, Err: err}
	if ctx.Err() != nil {
		e.Class, e.Err = ctxClass(ctx.Err()), ctx.Err()
	}
	return o.fail(e)
}

// dialError explains a failed upgrade. It does not use texts of net/http that repeat the URL.
func (c *wireConn) dialError(ctx context.Context, resp *http.Response, err error) *CloseError {
	c.phase = phaseDial
	e := &CloseError{Class: ClassNetwork}
	var opErr *net.OpError
	switch {
	case ctx.Err() != nil:
		e.Class, e.Err, e.limit = ctxClass(ctx.Err()), ctx.Err(), c.age()
	case resp != nil && resp.StatusCode != http.StatusSwitchingProtocols:
		e.Code, e.Class = resp.StatusCode, classifyHTTP(resp.StatusCode)
		e.Reason = bodyText(resp)
		if location := resp.Header.Get("Location"); location != "" {
			e.Reason = "redirected to " + location
		}
	case resp != nil:
		e.Class, e.Err = ClassPayload, errors.New("the answer is not a WebSocket upgrade")
	case errors.As(err, &opErr):
		e.Err = opErr
	default:
		e.Err = innermost(err)
	}
	return c.fail(e)
}

func ctxClass(err error) Class {
	if errors.Is(err, context.DeadlineExceeded) {
		return ClassTimeout
	}
	return ClassEnded
}

// innermost returns the error inside all wrappers, which name the method and the URL.
func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

func bodyText(resp *http.Response) string {
	if resp.Body == nil {
		return ""
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, bodyBytesMax))
	return string(body)
}

// setup sends the setup and waits for the answer. If it fails it closes the connection.
func (c *wireConn) setup(ctx context.Context, setup []byte) error {
	err := c.ws.Write(ctx, websocket.MessageText, setup)
	// If the write failed, the model may have sent the reason.
	for range earlyMessagesMax {
		data, readErr := c.read(ctx)
		if readErr != nil {
			c.drop()
			return readErr
		}
		accepted, refusal := setupAnswer(data)
		if accepted && err == nil {
			c.phase = phaseCall
			return nil
		}
		if refusal != "" {
			c.drop()
			return c.fail(&CloseError{Code: 1007, Reason: refusal, Class: classify(1007, refusal, phaseSetup)})
		}
	}
	c.drop()
	return c.fail(&CloseError{Class: ClassPayload, Err: fmt.Errorf("%d messages without setupComplete", earlyMessagesMax)})
}
