package asterisk

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/httpdoor"
	"github.com/voicegw/voicegw/transport/phone"
)

// Subprotocol is what Asterisk offers in the handshake.
const Subprotocol = "media"

// Door takes calls from Asterisk. It is safe for concurrent use and must be closed.
type Door struct {
	cfg   Config
	calls phone.Calls
}

// New makes a Door, or says what is wrong with cfg.
func New(cfg Config) (*Door, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Door{cfg: cfg}, nil
}

// Close takes no more calls, ends those that run as going away, and returns when they have ended.
func (d *Door) Close() error {
	d.calls.Close()
	return nil
}

// ServeHTTP serves the WebSocket.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, why := phone.NoStream(r, d.cfg.Hosts)
	if status == 0 && !d.proven(r) {
		status, why = http.StatusUnauthorized, "the user or the password is missing or wrong"
		w.Header().Set("WWW-Authenticate", `Basic realm="voicegw"`)
	}
	if status != 0 {
		d.cfg.Log.Warn("call refused", zap.String("remote", r.RemoteAddr), zap.Int("status", status), zap.String("why", why))
		httpdoor.Refuse(w, status, why)
		return
	}
	peer, err := d.calls.Serve(w, r, d.cfg.Lines, d.cfg.Password != "", func(ctx context.Context) (*phone.Peer, error) {
		return d.accept(ctx, w, r)
	})
	if peer == nil {
		d.cfg.Log.Info("call refused", zap.String("remote", r.RemoteAddr), zap.Error(err))
		return
	}
	n := peer.Counters()
	d.cfg.Log.Debug("stream ended", zap.Uint64("audio_in", n.AudioIn), zap.Uint64("frames_out", n.AudioOut),
		zap.Uint64("marks_unknown", n.MarksUnknown), zap.Any("faults", n.Faults), zap.Error(err))
}

// proven reports whether a request comes from Asterisk: by user and password, or, where there is no password, over the
// loopback.
func (d *Door) proven(r *http.Request) bool {
	if d.cfg.Password == "" {
		return phone.OnLoopback(r)
	}
	user, password, ok := r.BasicAuth()
	given, want := sha256.Sum256([]byte(user)), sha256.Sum256([]byte(d.cfg.User))
	sameUser := subtle.ConstantTimeCompare(given[:], want[:]) == 1
	return phone.SameSecret(password, d.cfg.Password) && ok && sameUser
}

// accept upgrades the request and reads up to MEDIA_START. Unless it fails the peer must be closed.
func (d *Door) accept(ctx context.Context, w http.ResponseWriter, r *http.Request) (*phone.Peer, error) {
	socket, err := phone.Upgrade(w, r, d.cfg.Limits, Subprotocol)
	if err != nil {
		return nil, fmt.Errorf("asterisk: accept: %w", err)
	}
	line, ended := d.handshake(ctx, socket, r)
	if ended != nil {
		socket.Refuse(ended)
		return nil, fmt.Errorf("asterisk: accept: %w", ended)
	}
	return phone.NewPeer(socket, line), nil
}

// handshake reads the first messages up to MEDIA_START. Sound that comes before is dropped. There are at most
// FaultsMax of them, within HelloTimeout.
func (d *Door) handshake(ctx context.Context, socket *phone.Socket, r *http.Request) (phone.Line, *transport.Ended) {
	deadline := time.Now().Add(d.cfg.Limits.HelloTimeout)
	for range d.cfg.Limits.FaultsMax {
		b, text, ended := socket.Read(ctx, time.Until(deadline))
		switch {
		case ended != nil && ended.Reason == transport.ReasonIdleTimeout:
			return phone.Line{}, phone.Ended(transport.ReasonHelloTimeout, "", nil)
		case ended != nil:
			return phone.Line{}, ended
		case !text:
			continue
		}
		c, err := readControl(b)
		if err != nil {
			return phone.Line{}, phone.Ended(transport.ReasonBadJSON, err.Error(), err)
		}
		if c.Event == "MEDIA_START" {
			return d.begun(&c, isJSON(b), r)
		}
	}
	return phone.Line{}, phone.Ended(transport.ReasonEventBeforeHello, "No MEDIA_START came.", nil)
}

// begun makes a line of MEDIA_START.
func (d *Door) begun(start *control, json bool, r *http.Request) (phone.Line, *transport.Ended) {
	ch, err := newChannel(start, json)
	if err != nil {
		return phone.Line{}, phone.Ended(transport.ReasonBadAudio, err.Error(), err)
	}
	hello, caller := ch.hello(r.URL.Query(), start.Variables, httpdoor.Remote(r))
	return phone.Line{Hello: hello, Protocol: ch, BinaryAudio: true, ChunkFrames: ch.chunkFrames,
		Transfer: d.transfer(caller)}, nil
}

var errNoARI = errors.New("Config.ARI has no URL")

// transfer is told by a call's peer who takes the call over. The call is hung up next, and the caller's channel goes
// on where it was sent.
func (d *Door) transfer(caller string) func(ctx context.Context, to string) error {
	return func(ctx context.Context, to string) error {
		target := to
		if named, ok := d.cfg.Targets[to]; ok {
			target = named
		}
		switch {
		case d.cfg.ARI.URL == "":
			return fmt.Errorf("asterisk: transfer: %w", errNoARI)
		case !extension(target):
			return fmt.Errorf("asterisk: transfer: %q is neither an extension nor one of Targets", phone.Cut(to, 40))
		}
		return d.cfg.ARI.transfer(ctx, caller, target)
	}
}
