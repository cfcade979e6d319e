package wsdoor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/coder/websocket"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/httpdoor"
)

// Rates that a hello has until the far end says otherwise.
const (
	InputRateHz  = 16000
	OutputRateHz = 24000
)

// Door is an http.Handler that takes calls over WebSockets, for a gateway. Mount it on any path. All methods are safe
// for concurrent use. It must be closed.
type Door struct {
	cfg    Config
	proto  Protocol
	visits httpdoor.Visits
}

// New makes a door. It returns an error for what Config.Check finds.
func New(cfg Config, proto Protocol) (*Door, error) {
	if err := cfg.Check(); err != nil {
		return nil, fmt.Errorf("transport/%s: new: %w", proto.Name, err)
	}
	return &Door{cfg: cfg.withDefaults(), proto: proto}, nil
}

// ServeHTTP takes a call and returns when it has ended. Without a free line it answers with the HTTP status of the
// refusal before anything is upgraded.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if status, why := d.cfg.names().NoUpgrade(r); status != 0 {
		httpdoor.Refuse(w, status, why)
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	leave, ok := d.visits.Enter(cancel)
	if !ok {
		httpdoor.Refuse(w, http.StatusServiceUnavailable, transport.ReasonGoingAway.Message())
		return
	}
	defer leave()
	ours, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	handshake, done := context.WithTimeout(ours, d.cfg.HandshakeTimeout)
	defer done()
	stop := context.AfterFunc(r.Context(), func() { giveUp(nil) }) // net/http may go away while it waits for the greeting
	defer stop()
	line, err := d.cfg.Lines.Take(transport.Handshake{Remote: httpdoor.Remote(r), GiveUp: giveUp})
	if err != nil {
		d.log(r, zap.InfoLevel, "call refused", err)
		httpdoor.RefuseLine(w, err)
		return
	}
	defer line.Release()
	if err := d.answer(ctx, handshake, w, r, line); err != nil {
		d.log(r, zap.InfoLevel, "call refused", err)
	}
}

// log speaks of a request, not of its URL, which may hold a key.
func (d *Door) log(r *http.Request, level zapcore.Level, what string, err error) {
	d.cfg.Log.Log(level, what, zap.String("door", d.proto.Name), zap.String("remote", r.RemoteAddr), zap.Error(err))
}

// answer upgrades the request, and carries the call to its end. Its error is why no call came about. It starts the
// goroutines of the peer and waits for them.
func (d *Door) answer(ctx, handshake context.Context, w http.ResponseWriter, r *http.Request,
	line transport.Line) error {
	l := &link{idleTimeout: d.cfg.IdleTimeout}
	l.WriteTimeout = d.cfg.WriteTimeout
	conn, err := websocket.Accept(&httpdoor.Hijacker{ResponseWriter: w, Put: l.under}, r, &websocket.AcceptOptions{
		Subprotocols:       d.proto.Subprotocols,
		InsecureSkipVerify: true, // refusal has looked at the Origin
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		return fmt.Errorf("accept: %w", err)
	}
	p := newPeer(d.cfg, &d.proto, d.proto.Codec(r), conn, l)
	var running sync.WaitGroup
	defer running.Wait()
	defer func() { _ = p.Close(transport.ReasonInternal, "") }() // whatever happened: the goroutines end
	running.Go(p.socket.pump)
	if d.proto.Lead > 0 {
		running.Go(p.pace)
	}
	p.pinger.Start(d.cfg.PingInterval, p.ping)
	hello := transport.Hello{Version: transport.Version, InputRateHz: InputRateHz, OutputRateHz: OutputRateHz,
		Door: d.proto.Name, Remote: httpdoor.Remote(r), Client: Label(r.UserAgent())}
	if d.proto.Token != nil {
		hello.Token = d.proto.Token(r)
	}
	if err := p.greet(handshake, hello); err != nil {
		return err
	}
	if err := line.Check(handshake, &p.hello); err != nil {
		_ = p.finish(refusedAs(handshake, err))
		return err
	}
	if err := line.Call(ctx, p); err != nil {
		d.log(r, zap.DebugLevel, "call failed", err)
	}
	return nil
}

// refusedAs puts a refusal into a reason.
func refusedAs(ctx context.Context, err error) *transport.Ended {
	var refused *transport.Refused
	var field *transport.FieldError
	switch {
	case errors.As(err, &refused):
		return End(refused.Reason, refused.Text(), err)
	case errors.As(err, &field):
		return End(transport.ReasonBadHello, field.Error(), err)
	case ctx.Err() != nil:
		return transport.GivenUp(ctx)
	}
	return End(transport.ReasonInternal, "", err)
}

// Close takes no more calls, ends the running ones as going away, and returns when all have ended. It may be called
// more than once; its error is always nil.
func (d *Door) Close() error {
	d.visits.Close()
	return nil
}
