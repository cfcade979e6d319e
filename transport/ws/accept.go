package ws

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/transport"
)

// Accept upgrades the request and reads the hello. A request that may not be upgraded is answered with an HTTP error; a
// hello that cannot be taken with an `error` event and a close code, and the error is a *transport.Ended. In both cases
// there is nothing left to do but to log the error. Otherwise Ready or Close must follow. Accept waits at most
// HelloTimeout and gives up when the context of r is done.
func Accept(w http.ResponseWriter, r *http.Request, cfg Config) (*Peer, error) {
	cfg = cfg.withDefaults()
	if status, why := refusal(r, cfg); status != 0 {
		refuse(w, status, why)
		return nil, fmt.Errorf("transport/ws: accept from %s: %d: %s", r.RemoteAddr, status, why)
	}
	p := &Peer{cfg: cfg, closed: make(chan struct{})}
	hw := &hijackWriter{ResponseWriter: w, timeout: cfg.WriteTimeout}
	conn, err := websocket.Accept(hw, r, &websocket.AcceptOptions{
		Subprotocols:       []string{Subprotocol},
		InsecureSkipVerify: true, // refusal has looked at the Origin
		CompressionMode:    websocket.CompressionDisabled,
		OnPingReceived:     func(context.Context, []byte) bool { hw.link.extendRead(); return true },
	})
	if err != nil {
		return nil, fmt.Errorf("transport/ws: accept from %s: %w", r.RemoteAddr, err)
	}
	p.init(conn, hw.link, cfg.MessageBytesMax)
	p.pinger.start(cfg.PingInterval, p.ping)
	if e := p.readHello(r.Context()); e != nil {
		_ = p.finish(e)
		return nil, fmt.Errorf("transport/ws: accept from %s: %w", r.RemoteAddr, e)
	}
	return p, nil
}

// Busy answers a request for which there is no room, before its upgrade, with 503 and Retry-After.
func Busy(w http.ResponseWriter, retryAfter time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter/time.Second)))
	refuse(w, http.StatusServiceUnavailable, transport.ReasonBusy.Message())
}

// refuse answers with an error that a person can read.
func refuse(w http.ResponseWriter, status int, why string) {
	switch status {
	case http.StatusMethodNotAllowed:
		w.Header().Set("Allow", http.MethodGet)
	case http.StatusUpgradeRequired:
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Connection", "Upgrade")
	}
	http.Error(w, why, status)
}

// refusal is the HTTP status and the reason for which a request is not upgraded, 0 when it may be.
func refusal(r *http.Request, cfg Config) (status int, why string) {
	switch {
	case r.Method != http.MethodGet:
		return http.StatusMethodNotAllowed, fmt.Sprintf("method %s: a call begins with GET", cut(r.Method))
	case !hostAllowed(r, cfg.Hosts):
		return http.StatusMisdirectedRequest, fmt.Sprintf("host %q is not a name of this server", cut(r.Host))
	case !originAllowed(r, cfg.Origins):
		return http.StatusForbidden,
			fmt.Sprintf("pages of origin %q may not call this server", cut(strings.Join(r.Header.Values("Origin"), ", ")))
	case !hasToken(r.Header, "Upgrade", "websocket"):
		return http.StatusUpgradeRequired, "this is a WebSocket endpoint; connect with subprotocol " + Subprotocol
	case !hasToken(r.Header, "Sec-WebSocket-Protocol", Subprotocol):
		return http.StatusBadRequest, fmt.Sprintf("Sec-WebSocket-Protocol is %q; it must offer %q",
			cut(r.Header.Get("Sec-WebSocket-Protocol")), Subprotocol)
	}
	return 0, ""
}

// cut shortens what came from outside before it goes into a message.
func cut(s string) string { return trimUTF8(strings.ToValidUTF8(s, "?"), 100) }

// hasToken reports whether a header that is a list of tokens has this one.
func hasToken(h http.Header, key, token string) bool {
	for _, line := range h.Values(key) {
		for t := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(t), token) {
				return true
			}
		}
	}
	return false
}

// hijackWriter puts a link under the WebSocket when the connection is taken over.
type hijackWriter struct {
	http.ResponseWriter
	timeout time.Duration
	link    *link
}

// Hijack takes the connection over from net/http.
func (h *hijackWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.link = &link{Conn: c, writeTimeout: h.timeout}
	return h.link, bufio.NewReadWriter(rw.Reader, bufio.NewWriter(h.link)), nil
}

// readHello reads and checks the first message. Its error is why the call ends.
func (p *Peer) readHello(ctx context.Context) *transport.Ended {
	typ, b, err := p.read(ctx, p.cfg.HelloTimeout)
	switch {
	case err != nil && ctx.Err() != nil:
		return ended(transport.ReasonGoingAway, "", err)
	case err != nil:
		e := p.lost(ctx, err)
		if e.Reason == transport.ReasonIdleTimeout {
			return ended(transport.ReasonHelloTimeout, fmt.Sprintf("No hello came within %v.", p.cfg.HelloTimeout), nil)
		}
		return e
	case typ == websocket.MessageBinary:
		return ended(transport.ReasonAudioBeforeReady, "", nil)
	}
	p.counters.eventsIn.Add(1)
	return p.takeHello(b)
}

func (p *Peer) takeHello(b []byte) *transport.Ended {
	h, err := decodeHello(b)
	if err == nil {
		err = h.Check(p.cfg.Offer)
	}
	var fe *transport.FieldError
	switch {
	case err == nil:
		p.hello = h
		return nil
	case errors.As(err, &fe):
		return ended(transport.ReasonBadHello, fe.Error(), err)
	case errors.Is(err, errNotHello):
		return ended(transport.ReasonEventBeforeHello, "The first message must be a hello: "+err.Error()+".", err)
	}
	return ended(transport.ReasonBadJSON, err.Error(), err)
}
