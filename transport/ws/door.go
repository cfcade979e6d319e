package ws

import (
	"context"
	"errors"
	"net/http"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/httpdoor"
)

// Door is an http.Handler that takes calls over WebSockets, for a gateway. Mount it on any path: it looks at nothing of
// the URL. All methods are safe for concurrent use. It must be closed.
type Door struct {
	cfg    Config
	visits httpdoor.Visits
}

// New makes a door for cfg.Lines. It returns an error without them, and for what Config.Check finds.
func New(cfg Config) (*Door, error) {
	if cfg.Lines == nil {
		return nil, errors.New("transport/ws: new: Config.Lines is missing: a door needs a gateway")
	}
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	return &Door{cfg: cfg.withDefaults()}, nil
}

// ServeHTTP takes a call and returns when it has ended. Without a free line it answers with the HTTP status of the
// refusal before anything is upgraded. The line says whether a hello is taken; Config.Offer is for Accept alone.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	leave, ok := d.visits.Enter(cancel)
	if !ok {
		httpdoor.Refuse(w, http.StatusServiceUnavailable, transport.ReasonGoingAway.Message())
		return
	}
	defer leave()
	handshake, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	stop := context.AfterFunc(r.Context(), func() { giveUp(nil) }) // net/http may go away while the hello is waited for
	defer stop()
	line, err := d.cfg.Lines.Take(transport.Handshake{Remote: httpdoor.Remote(r), GiveUp: giveUp})
	if err != nil {
		d.cfg.Log.Info("call refused", zap.String("remote", r.RemoteAddr), zap.Error(err))
		httpdoor.RefuseLine(w, err)
		return
	}
	defer line.Release()
	peer, err := accept(w, r.WithContext(handshake), d.cfg, line.Check)
	if err != nil {
		d.cfg.Log.Info("call refused", zap.String("remote", r.RemoteAddr), zap.Error(err))
		return
	}
	if err := line.Call(ctx, peer); err != nil {
		d.cfg.Log.Debug("call failed", zap.String("remote", r.RemoteAddr), zap.Error(err))
	}
}

// Close takes no more calls, ends the running ones as going away, and returns when all have ended. It may be called
// more than once; its error is always nil.
func (d *Door) Close() error {
	d.visits.Close()
	return nil
}
