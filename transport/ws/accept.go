package ws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
	"github.com/voicegw/voicegw/transport/wsconn"
)

// Accept upgrades the request and reads the hello. It answers a request that may not be upgraded
// with an HTTP error, and a hello that it refuses with an `error` event and a close code. In both
// cases the error is a *transport.Ended and the caller only has to log it. Otherwise Ready or Close
// must follow. Accept waits at most HelloTimeout and gives up when the context of r is done.
func Accept(w http.ResponseWriter, r *http.Request, cfg Config) (*Peer, error) {
	check := func(_ context.Context, h *transport.Hello) error { return h.Check(cfg.Offer) }
	return accept(w, r, cfg.withDefaults(), check)
}

// accept is Accept with a function that decides whether a hello is taken. The function returns nil,
// a *transport.FieldError or a *transport.Refused.
func accept(w http.ResponseWriter, r *http.Request, cfg Config, check helloCheck) (*Peer, error) {
	if err := admit(r, cfg); err != nil {
		admission.Refuse(w, err)
		return nil, fmt.Errorf("transport/ws: accept from %s: %w", r.RemoteAddr, err)
	}
	conn, err := wsconn.Accept(w, r, cfg.Limits, wsconn.Options{Subprotocols: []string{Subprotocol}})
	if err != nil {
		return nil, fmt.Errorf("transport/ws: accept from %s: %w", r.RemoteAddr, err)
	}
	p := &Peer{cfg: cfg, wire: wire{conn: conn}}
	p.hello = transport.Hello{Endpoint: "ws", Remote: admission.Remote(r), Messages: true}
	if e := p.readHello(r.Context(), withToken(r.Header, check)); e != nil {
		_ = conn.Close(e, p.farewell)
		return nil, fmt.Errorf("transport/ws: accept from %s: %w", r.RemoteAddr, e)
	}
	return p, nil
}

// helloCheck decides whether a hello is taken.
type helloCheck func(context.Context, *transport.Hello) error

// withToken gives check the token of a call, wherever it came from: the bearer token of the request
// counts before the token of the hello, and the token of a subprotocol counts last.
func withToken(header http.Header, check helloCheck) helloCheck {
	bearer, _ := admission.Bearer(header)
	offered := offeredToken(header)
	return func(ctx context.Context, h *transport.Hello) error {
		h.Token = cmp.Or(bearer, h.Token, offered)
		return check(ctx, h)
	}
}

// admit returns the refusal of a request that may not be upgraded.
func admit(r *http.Request, cfg Config) error {
	if err := cfg.names().Upgrade(r, "; connect with subprotocol "+Subprotocol); err != nil {
		return err
	}
	if !admission.HasToken(r.Header, "Sec-WebSocket-Protocol", Subprotocol) {
		return admission.Refusal(http.StatusBadRequest, "Sec-WebSocket-Protocol must offer "+Subprotocol)
	}
	if _, ok := admission.Bearer(r.Header); !ok {
		return admission.Refusal(http.StatusUnauthorized, "Authorization must be, once: Bearer TOKEN")
	}
	return nil
}

// offered returns the subprotocols that a request offers, in its order.
func offered(h http.Header) []string {
	var list []string
	for _, line := range h.Values("Sec-WebSocket-Protocol") {
		for t := range strings.SplitSeq(line, ",") {
			list = append(list, strings.TrimSpace(t))
		}
	}
	return list
}

// offeredToken returns the token in a subprotocol of the request, "" for none. Browsers cannot add
// a header to a WebSocket request.
func offeredToken(h http.Header) string {
	for _, name := range offered(h) {
		if token, ok := strings.CutPrefix(name, tokenPrefix); ok {
			return token
		}
	}
	return ""
}

// readHello reads and checks the first message. Its error says why the call ends.
func (p *Peer) readHello(ctx context.Context, check helloCheck) *transport.Ended {
	m, e := p.conn.ReadHello(ctx, time.Now().Add(p.cfg.HelloTimeout))
	switch {
	case e != nil && e.Reason == transport.ReasonHelloTimeout:
		return transport.End(e.Reason, fmt.Sprintf("No hello came within %v.", p.cfg.HelloTimeout), nil)
	case e != nil:
		return e
	case m.Binary:
		return transport.End(transport.ReasonAudioBeforeReady, "", nil)
	}
	p.counters.eventsIn.Add(1)
	ctx, cancel := context.WithTimeout(ctx, p.cfg.HelloTimeout)
	defer cancel()
	return p.takeHello(ctx, m.Data, check)
}

func (p *Peer) takeHello(ctx context.Context, b []byte, check helloCheck) *transport.Ended {
	h, err := decodeHello(b)
	h.Endpoint, h.Remote, h.Messages = p.hello.Endpoint, p.hello.Remote, p.hello.Messages
	if err == nil {
		err = check(ctx, &h)
	}
	if err == nil {
		p.hello = h
		return nil
	}
	return noHello(ctx, err)
}

// noHello ends a handshake whose hello cannot be read or was refused.
func noHello(ctx context.Context, err error) *transport.Ended {
	switch {
	case errors.Is(err, errNotHello):
		return transport.End(transport.ReasonEventBeforeHello, "The first message must be a hello: "+err.Error()+".", err)
	case errors.Is(err, errNotEvent), errors.Is(err, errNotUTF8):
		return transport.End(transport.ReasonBadJSON, err.Error(), err)
	}
	return transport.Refusal(ctx, err)
}
