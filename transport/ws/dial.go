package ws

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
)

// DialConfig configures a client's connection. The zero value works. Zero and negative limits mean
// the defaults.
type DialConfig struct {
	Header       http.Header   // sent with the request, such as Origin; may be nil
	TLS          *tls.Config   // for wss; nil means the system's settings
	ReadyTimeout time.Duration // from the dial to ready; 30 s
	WriteTimeout time.Duration // of one message; 5 s
	CloseTimeout time.Duration // of Close as a whole; 1 s
	IdleTimeout  time.Duration // without a message or a ping from the gateway; none by default

	MessageBytesMax int // of a message from the gateway; 4 MiB, ten times the drawing of a net

	// DialContext opens the socket; nil means a plain net.Dialer.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)

	subprotocols []string // what is offered
}

// readyTimeoutDefault is long enough for a gateway that has to dial its model first.
const readyTimeoutDefault = 30 * time.Second

const (
	answerBytesMax = 4 << 20 // of a message from the gateway
	refusedLenMax  = 300     // of the message of a Refused
)

// never is the idle timeout of a client that has none.
const never = 100 * 365 * 24 * time.Hour

func (c DialConfig) withDefaults() DialConfig {
	limits := wsconn.Limits{HelloTimeout: c.ReadyTimeout, WriteTimeout: c.WriteTimeout, CloseTimeout: c.CloseTimeout,
		IdleTimeout: c.IdleTimeout, MessageBytesMax: c.MessageBytesMax}
	d := wsconn.Defaults()
	d.HelloTimeout, d.IdleTimeout, d.MessageBytesMax = readyTimeoutDefault, never, answerBytesMax
	limits = limits.WithDefaults(d)
	c.ReadyTimeout, c.WriteTimeout, c.CloseTimeout = limits.HelloTimeout, limits.WriteTimeout, limits.CloseTimeout
	c.IdleTimeout, c.MessageBytesMax = limits.IdleTimeout, limits.MessageBytesMax
	c.subprotocols = []string{Subprotocol}
	if c.DialContext == nil {
		c.DialContext = (&net.Dialer{}).DialContext
	}
	return c
}

// Refused is the error of Dial when the gateway refused the call.
type Refused struct {
	Status  int              // the HTTP status, when it refused before the upgrade
	Reason  transport.Reason // when it refused the hello or had no model
	Message string           // the gateway's own text, as one line of at most 300 bytes without control characters
}

// Error returns the gateway's text.
func (e *Refused) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("the gateway refused the connection: %s (HTTP %d)", e.Message, e.Status)
	}
	return fmt.Sprintf("the gateway refused the call: %s (%s)", e.Message, e.Reason)
}

// Dial connects to a gateway, sends the hello and waits for ready. url is ws://, wss://, http:// or
// https:// with the path of the endpoint, /v1/voice. The errors are for the person who typed the
// url; a refusal by the gateway is a *Refused. Version 0 of the hello means the version of this
// package.
func Dial(ctx context.Context, url string, hello transport.Hello, cfg DialConfig) (*Client, error) {
	cfg = cfg.withDefaults()
	if err := checkURL(url); err != nil {
		return nil, fmt.Errorf("transport/ws: dial %q: %w", url, err)
	}
	if hello.Version == 0 {
		hello.Version = transport.Version
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.ReadyTimeout)
	defer cancel()
	c := &Client{cfg: cfg}
	if hello.Resume.Handle != "" {
		c.cfg.subprotocols = append(c.cfg.subprotocols, resumeProtocol)
	}
	if err := c.connect(ctx, url); err != nil {
		return nil, fmt.Errorf("transport/ws: dial %q: %w", url, err)
	}
	if err := c.greet(ctx, hello); err != nil {
		_ = c.conn.Close(transport.End(transport.ReasonDone, "", nil), c.farewell)
		return nil, fmt.Errorf("transport/ws: dial %q: %w", url, err)
	}
	return c, nil
}

func checkURL(s string) error {
	u, err := url.Parse(s)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return fmt.Errorf("this is not a URL: %w", err)
	}
	switch u.Scheme {
	case "ws", "wss", "http", "https":
	case "":
		return errors.New(`the scheme is missing; a URL begins with ws:// or wss://`)
	default:
		return fmt.Errorf("the scheme is %q; it must be ws or wss", u.Scheme)
	}
	if u.Host == "" {
		return errors.New("the host is missing; a URL looks like ws://localhost:8080/v1/voice")
	}
	return nil
}

// connect opens the WebSocket.
func (c *Client) connect(ctx context.Context, url string) error {
	limits := wsconn.Limits{WriteTimeout: c.cfg.WriteTimeout, CloseTimeout: c.cfg.CloseTimeout,
		MessageBytesMax: c.cfg.MessageBytesMax}
	conn, resp, err := wsconn.Dial(ctx, url, limits, wsconn.Dialling{Header: c.cfg.Header, TLS: c.cfg.TLS,
		Subprotocols: c.cfg.subprotocols, DialContext: c.cfg.DialContext})
	if err != nil {
		return dialError(err, resp, c.cfg.ReadyTimeout)
	}
	c.conn = conn
	if conn.Subprotocol() == "" {
		_ = conn.Close(transport.End(transport.ReasonPeerLost, "", nil), nil)
		return fmt.Errorf("there is a WebSocket server, but it does not speak %s", Subprotocol)
	}
	return nil
}

// dialError explains what was wrong with the address, or what the server answered.
func dialError(err error, resp *http.Response, timeout time.Duration) error {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case resp != nil:
		return answerError(resp)
	case errors.As(err, &dns):
		return fmt.Errorf("the host %q was not found: %w", dns.Name, err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing is listening there; is the gateway running? %w", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer within %v: %w", timeout, err)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("the server hung up during the handshake; is this an http port? %w", err)
	case errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Errorf("the server does not speak TLS; use ws:// in place of wss://: %w", err)
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return fmt.Errorf("the server's certificate is not trusted: %w", err)
	case strings.Contains(err.Error(), "malformed HTTP"): // net/http has no type for it
		return fmt.Errorf("the server does not speak HTTP there; does it want wss://? %w", err)
	case errors.As(err, &op):
		return fmt.Errorf("cannot connect: %w", err)
	}
	return err
}

// answerError explains an HTTP answer that is not an upgrade.
func answerError(resp *http.Response) error {
	var body []byte
	if resp.Body != nil {
		body, _ = io.ReadAll(io.LimitReader(resp.Body, refusedLenMax))
	}
	words := transport.OneLine(string(body), refusedLenMax)
	switch resp.StatusCode {
	case http.StatusSwitchingProtocols:
		return errors.New("the server's WebSocket handshake is wrong")
	case http.StatusNotFound:
		return &Refused{Status: resp.StatusCode,
			Message: fmt.Sprintf("there is nothing at %q; the path of a gateway is /v1/voice",
				resp.Request.URL.Path)}
	}
	if resp.StatusCode < http.StatusBadRequest {
		return &Refused{Status: resp.StatusCode, Message: "this is not a WebSocket; the path of a gateway is /v1/voice"}
	}
	if words == "" {
		words = http.StatusText(resp.StatusCode)
	}
	return &Refused{Status: resp.StatusCode, Message: words}
}
