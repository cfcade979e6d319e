package ws

import (
	"context"
	"errors"
	"net/http"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
	"github.com/voicegw/voicegw/transport/resume"
)

// Endpoint is an http.Handler that takes calls over WebSockets for a gateway. Mount it on any path:
// it ignores the URL. All methods are safe for concurrent use. It must be closed.
type Endpoint struct {
	cfg      Config
	visits   admission.Visits
	calls    resume.Calls
	resuming *admission.Backlog // handshakes that go on with a call
}

// New makes an endpoint for cfg.Lines. It returns an error if Lines is nil, and the error of
// Config.Check.
func New(cfg Config) (*Endpoint, error) {
	if cfg.Lines == nil {
		return nil, errors.New("transport/ws: new: Config.Lines is missing: an endpoint needs a gateway")
	}
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	return &Endpoint{cfg: cfg.withDefaults(), resuming: admission.NewBacklog(resumingMax, resumingPerAddress)}, nil
}

// ServeHTTP takes a call and returns when the call has ended. Without a free line it answers with
// the HTTP status of the refusal before the upgrade. The line decides whether the hello is taken;
// ServeHTTP does not use Config.Offer.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if admission.HasToken(r.Header, "Sec-WebSocket-Protocol", resumeProtocol) {
		if err := e.resume(w, r); err != nil {
			transport.RefusalLog(e.cfg.Log).Info("call not resumed", zap.String("remote", r.RemoteAddr), zap.Error(err))
		}
		return
	}
	handshake, call, line, err := e.visits.Begin(r, e.cfg.Lines, false)
	if err != nil {
		transport.RefusalLog(e.cfg.Log).Info("call refused", zap.String("remote", r.RemoteAddr), zap.Error(err))
		admission.Refuse(w, err)
		return
	}
	defer line.Release()
	token := ""
	conn, err := accept(w, r.WithContext(handshake), e.cfg, func(ctx context.Context, h *transport.Hello) error {
		if h.Resume.Handle != "" {
			return &transport.FieldError{Event: "hello", Field: "resume.handle", Value: "present",
				Want: "absent, or the subprotocol " + resumeProtocol + " offered"}
		}
		token = h.Token
		return line.Check(ctx, h)
	})
	if err != nil {
		transport.RefusalLog(e.cfg.Log).Info("call refused", zap.String("remote", r.RemoteAddr), zap.Error(err))
		return
	}
	var peer transport.Peer = conn
	if conn.hello.Resume.Able && e.cfg.ResumeWithin > 0 {
		resumable := e.calls.New(conn, token, resume.Wait{Broken: e.cfg.ResumeWithin})
		defer func() { _ = resumable.Close(transport.ReasonInternal, "") }() // forgets the handle in every case
		peer = resumable
	}
	if err := line.Call(call, peer); err != nil {
		e.cfg.Log.Debug("call failed", zap.String("remote", r.RemoteAddr), zap.Error(err))
	}
}

// Close refuses new calls, ends the running ones as going away, and returns when all have ended. It
// may be called more than once; its error is always nil.
func (e *Endpoint) Close() error {
	e.visits.Close()
	return nil
}
