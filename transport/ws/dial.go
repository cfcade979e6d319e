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

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/transport"
)

// DialConfig is how a client connects. The zero value works. Zero and negative limits mean the defaults.
type DialConfig struct {
	Header       http.Header   // sent with the request, such as Origin; may be nil
	TLS          *tls.Config   // for wss; nil means the system's
	ReadyTimeout time.Duration // from the dial to ready; 30 s
	WriteTimeout time.Duration // of one message; 5 s
	CloseTimeout time.Duration // of Close as a whole; 1 s
	IdleTimeout  time.Duration // without a message or a ping from the gateway; none by default

	MessageBytesMax int // of a message from the gateway; 4 MiB, ten times the drawing of a net

	// DialContext opens the socket; nil means a plain net.Dialer.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)
}

// ReadyTimeoutDefault is long enough for a gateway that has to dial its model first.
const ReadyTimeoutDefault = 30 * time.Second

const (
	answerBytesMax = 4 << 20 // of a message from the gateway
	refusedLenMax  = 300     // of the words of a Refused
)

// never is the idle timeout of a client that has none.
const never = 100 * 365 * 24 * time.Hour

func (c DialConfig) withDefaults() DialConfig {
	for _, d := range [...]struct {
		field *time.Duration
		value time.Duration
	}{
		{&c.ReadyTimeout, ReadyTimeoutDefault},
		{&c.WriteTimeout, WriteTimeoutDefault},
		{&c.CloseTimeout, CloseTimeoutDefault},
		{&c.IdleTimeout, never},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if c.MessageBytesMax <= 0 {
		c.MessageBytesMax = answerBytesMax
	}
	if c.DialContext == nil {
		c.DialContext = (&net.Dialer{}).DialContext
	}
	return c
}

// Refused is the error of Dial when the gateway answered and said no.
type Refused struct {
	Status  int              // of HTTP, when it refused before the upgrade
	Reason  transport.Reason // when it refused the hello or had no model
	Message string           // the gateway's own words, as one line of at most 300 bytes without control characters
}

// Error gives the gateway's words.
func (e *Refused) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("the gateway refused the connection: %s (HTTP %d)", e.Message, e.Status)
	}
	return fmt.Sprintf("the gateway refused the call: %s (%s)", e.Message, e.Reason)
}

// Dial connects to a gateway, says hello and waits for ready. url is ws://, wss://, http:// or https:// with the path
// of the door, /v1/voice. The errors are for the person who typed the url; a gateway that said no gives a *Refused.
// Version 0 of the hello means the version of this package.
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
	c := &Client{cfg: cfg, closed: make(chan struct{})}
	if err := c.connect(ctx, url); err != nil {
		return nil, fmt.Errorf("transport/ws: dial %q: %w", url, err)
	}
	if err := c.greet(ctx, hello); err != nil {
		_ = c.finish(ended(transport.ReasonDone, "", nil))
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

// connect opens the WebSocket. A transport of its own keeps the socket at hand and nothing open behind.
func (c *Client) connect(ctx context.Context, url string) error {
	var l *link
	tr := &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := c.cfg.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			l = &link{Conn: conn, writeTimeout: c.cfg.WriteTimeout}
			return l, nil
		},
		TLSClientConfig:   c.cfg.TLS,
		DisableKeepAlives: true,
	}
	defer tr.CloseIdleConnections()
	conn, resp, err := websocket.Dial(ctx, url, &websocket.DialOptions{
		HTTPClient:      &http.Client{Transport: tr},
		HTTPHeader:      c.cfg.Header,
		Subprotocols:    []string{Subprotocol},
		CompressionMode: websocket.CompressionDisabled,
		OnPingReceived:  func(context.Context, []byte) bool { l.extendRead(); return true },
	})
	if err != nil {
		return dialError(err, resp, c.cfg.ReadyTimeout)
	}
	if conn.Subprotocol() == "" {
		_ = conn.CloseNow()
		return fmt.Errorf("there is a WebSocket server, but it does not speak %s", Subprotocol)
	}
	c.init(conn, l, c.cfg.MessageBytesMax)
	return nil
}

// dialError says in words what was wrong with the address, or what the server answered.
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
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return fmt.Errorf("the server does not speak TLS; use ws:// in place of wss://: %w", err)
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return fmt.Errorf("the server's certificate is not trusted: %w", err)
	case strings.Contains(err.Error(), "malformed HTTP"):
		return fmt.Errorf("the server does not speak HTTP there; does it want wss://? %w", err)
	case errors.As(err, &op):
		return fmt.Errorf("cannot connect: %w", err)
	}
	return err
}

// answerError says what an HTTP answer that is not an upgrade means.
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
