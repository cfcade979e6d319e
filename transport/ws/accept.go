package ws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/httpdoor"
)

// Accept upgrades the request and reads the hello. A request that may not be upgraded is answered with an HTTP error; a
// hello that cannot be taken with an `error` event and a close code, and the error is a *transport.Ended. In both cases
// there is nothing left to do but to log the error. Otherwise Ready or Close must follow. Accept waits at most
// HelloTimeout and gives up when the context of r is done.
func Accept(w http.ResponseWriter, r *http.Request, cfg Config) (*Peer, error) {
	check := func(_ context.Context, h *transport.Hello) error { return h.Check(cfg.Offer) }
	return accept(w, r, cfg.withDefaults(), check)
}

// accept is Accept with who says whether a hello is taken: nil, a *transport.FieldError or a *transport.Refused.
func accept(w http.ResponseWriter, r *http.Request, cfg Config, check helloCheck) (*Peer, error) {
	if status, why := refusal(r, cfg); status != 0 {
		httpdoor.Refuse(w, status, why)
		return nil, fmt.Errorf("transport/ws: accept from %s: %d: %s", r.RemoteAddr, status, why)
	}
	p := &Peer{cfg: cfg, closed: make(chan struct{})}
	p.hello = transport.Hello{Door: "ws", Remote: httpdoor.Remote(r)}
	l := &link{writeTimeout: cfg.WriteTimeout}
	conn, err := websocket.Accept(&httpdoor.Hijacker{ResponseWriter: w, Put: l.under}, r, &websocket.AcceptOptions{
		Subprotocols:       []string{Subprotocol},
		InsecureSkipVerify: true, // refusal has looked at the Origin
		CompressionMode:    websocket.CompressionDisabled,
		OnPingReceived:     func(context.Context, []byte) bool { l.extendRead(); return true },
	})
	if err != nil {
		return nil, fmt.Errorf("transport/ws: accept from %s: %w", r.RemoteAddr, err)
	}
	p.init(conn, l, cfg.MessageBytesMax)
	p.pinger.Start(cfg.PingInterval, p.ping)
	if e := p.readHello(r.Context(), withToken(r.Header, check)); e != nil {
		_ = p.finish(e)
		return nil, fmt.Errorf("transport/ws: accept from %s: %w", r.RemoteAddr, e)
	}
	return p, nil
}

// helloCheck says whether a hello is taken.
type helloCheck func(context.Context, *transport.Hello) error

// withToken lets check see the token of a call wherever it came: the bearer token of the request goes before that of
// the hello, and a subprotocol comes last.
func withToken(header http.Header, check helloCheck) helloCheck {
	bearer, _ := httpdoor.Bearer(header)
	offered := offeredToken(header)
	return func(ctx context.Context, h *transport.Hello) error {
		h.Token = cmp.Or(bearer, h.Token, offered)
		return check(ctx, h)
	}
}

// Busy answers a request for which there is no room, before its upgrade, with 503 and Retry-After.
func Busy(w http.ResponseWriter, retryAfter time.Duration) {
	httpdoor.RefuseLine(w, &transport.Refused{Reason: transport.ReasonBusy, RetryAfter: retryAfter})
}

// refusal is the HTTP status and the reason for which a request is not upgraded, 0 when it may be.
func refusal(r *http.Request, cfg Config) (status int, why string) {
	if status, why = cfg.names().NoUpgrade(r); status == http.StatusUpgradeRequired {
		why += "; connect with subprotocol " + Subprotocol
	}
	_, ok := httpdoor.Bearer(r.Header)
	switch {
	case status != 0:
		return status, why
	case !httpdoor.HasToken(r.Header, "Sec-WebSocket-Protocol", Subprotocol):
		return http.StatusBadRequest, "Sec-WebSocket-Protocol must offer " + Subprotocol
	case !ok:
		return http.StatusUnauthorized, "Authorization must be, once: Bearer TOKEN"
	}
	return 0, ""
}

// offered are the subprotocols that a request offers, in its order.
func offered(h http.Header) []string {
	var list []string
	for _, line := range h.Values("Sec-WebSocket-Protocol") {
		for t := range strings.SplitSeq(line, ",") {
			list = append(list, strings.TrimSpace(t))
		}
	}
	return list
}

// offeredToken is the token of a request, "" for none: browsers can send a WebSocket no header of their own.
func offeredToken(h http.Header) string {
	for _, name := range offered(h) {
		if token, ok := strings.CutPrefix(name, TokenPrefix); ok {
			return token
		}
	}
	return ""
}

// readHello reads and checks the first message. Its error is why the call ends.
func (p *Peer) readHello(ctx context.Context, check helloCheck) *transport.Ended {
	typ, b, err := p.read(ctx, p.cfg.HelloTimeout)
	switch {
	case err != nil && ctx.Err() != nil:
		return transport.GivenUp(ctx)
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
	ctx, cancel := context.WithTimeout(ctx, p.cfg.HelloTimeout)
	defer cancel()
	return p.takeHello(ctx, b, check)
}

func (p *Peer) takeHello(ctx context.Context, b []byte, check helloCheck) *transport.Ended {
	h, err := decodeHello(b)
	h.Door, h.Remote = p.hello.Door, p.hello.Remote
	if err == nil {
		err = check(ctx, &h)
	}
	if err == nil {
		p.hello = h
		return nil
	}
	if errors.Is(err, context.Canceled) { // the handshake was given up while it was asked
		return transport.GivenUp(ctx)
	}
	return noHello(err)
}

// noHello says why a call with this hello is not taken.
func noHello(err error) *transport.Ended {
	var fe *transport.FieldError
	var refused *transport.Refused
	switch {
	case errors.As(err, &fe):
		return ended(transport.ReasonBadHello, fe.Error(), err)
	case errors.As(err, &refused):
		return ended(refused.Reason, refused.Text(), err)
	case errors.Is(err, errNotHello):
		return ended(transport.ReasonEventBeforeHello, "The first message must be a hello: "+err.Error()+".", err)
	case errors.Is(err, errNotEvent), errors.Is(err, errNotUTF8):
		return ended(transport.ReasonBadJSON, err.Error(), err)
	}
	return ended(transport.ReasonInternal, "", err)
}
