package wsendpoint

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
	"github.com/voicegw/voicegw/transport/resume"
	"github.com/voicegw/voicegw/transport/wsconn"
)

// Rates of a hello until the far end sets others.
const (
	InputRateHz  = 16000
	OutputRateHz = 24000
)

// Endpoint is an http.Handler that takes calls over WebSockets for a gateway. Mount it on any path.
// All methods are safe for concurrent use. It must be closed.
type Endpoint struct {
	cfg      Config
	proto    Protocol
	visits   admission.Visits
	calls    resume.Calls
	resuming *admission.Backlog // handshakes that find no line, and may go on with a call
}

// New makes an endpoint. It returns the error of Config.Check.
func New(cfg Config, proto Protocol) (*Endpoint, error) {
	if err := cfg.Check(); err != nil {
		return nil, fmt.Errorf("transport/%s: new: %w", proto.Name, err)
	}
	return &Endpoint{cfg: cfg.withDefaults(), proto: proto,
		resuming: admission.NewBacklog(resumingMax, resumingPerAddress)}, nil
}

// ServeHTTP takes a call and returns when the call has ended. Without a free line it answers with
// the HTTP status of the refusal before the upgrade.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := e.cfg.names().Upgrade(r, ""); err != nil {
		admission.Refuse(w, err)
		return
	}
	handshake, call, line, err := e.begin(r)
	if err != nil {
		e.log(transport.RefusalLog(e.cfg.Log), r, zap.InfoLevel, "call refused", err)
		admission.Refuse(w, err)
		return
	}
	defer line.Release()
	handshake, done := context.WithTimeout(handshake, e.cfg.HelloTimeout)
	defer done()
	if err := e.answer(call, handshake, w, r, line); err != nil {
		e.log(transport.RefusalLog(e.cfg.Log), r, zap.InfoLevel, "call refused", err)
	}
}

// log logs a request, without its URL, which may hold a key.
func (e *Endpoint) log(log *zap.Logger, r *http.Request, level zapcore.Level, what string, err error) {
	log.Log(level, what, zap.String("endpoint", e.proto.Name), zap.String("remote", r.RemoteAddr), zap.Error(err))
}

// answer upgrades the request and runs the call to its end. Its error says why no call began. It
// starts the goroutines of the peer and waits for them.
func (e *Endpoint) answer(ctx, handshake context.Context, w http.ResponseWriter, r *http.Request,
	line transport.Line) error {
	conn, err := wsconn.Accept(w, r, e.cfg.Limits, wsconn.Options{Subprotocols: e.proto.Subprotocols, AnyByte: true})
	if err != nil {
		return fmt.Errorf("accept: %w", err)
	}
	p := newPeer(e.cfg, &e.proto, e.proto.Codec(r), conn)
	var running sync.WaitGroup
	defer running.Wait()
	defer func() { _ = p.Close(transport.ReasonInternal, "") }() // in every case: this ends the goroutines
	running.Go(func() { p.reader.pump(e.cfg.IdleTimeout) })
	if e.proto.Lead > 0 {
		running.Go(p.pace)
	}
	hello := transport.Hello{Version: transport.Version, InputRateHz: InputRateHz, OutputRateHz: OutputRateHz,
		Endpoint: e.proto.Name, Remote: admission.Remote(r), Client: Label(r.UserAgent()), Token: e.token(r)}
	if err := p.greet(handshake, hello); err != nil {
		return err
	}
	if p.hello.Resume.Handle != "" {
		return e.resume(handshake, p, line)
	}
	token := p.hello.Token // the line takes it out
	if err := line.Check(handshake, &p.hello); err != nil {
		_ = conn.Close(transport.Refusal(handshake, err), p.sayBye)
		return err
	}
	peer := e.resumable(p, token)
	defer func() { _ = peer.Close(transport.ReasonInternal, "") }() // in every case: this forgets the handle
	if err := line.Call(ctx, peer); err != nil {
		e.log(e.cfg.Log, r, zap.DebugLevel, "call failed", err)
	}
	return nil
}

// Close refuses new calls, ends the running ones as going away, and returns when all have ended. It
// may be called more than once; its error is always nil.
func (e *Endpoint) Close() error {
	e.visits.Close()
	return nil
}
