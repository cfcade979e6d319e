package mediastream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/httpdoor"
	"github.com/voicegw/voicegw/transport/phone"
)

// Door takes calls from carriers. It is safe for concurrent use and must be closed.
type Door struct {
	cfg       Config
	transfers transfers
	passes    passes
	calls     phone.Calls
}

// New makes a Door, or says what is wrong with cfg.
func New(cfg Config) (*Door, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Door{cfg: cfg}, nil
}

// ServeHTTP serves the stream at the path it is mounted on, and the webhooks at /voice and /after below it.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/voice"):
		d.Voice().ServeHTTP(w, r)
	case strings.HasSuffix(r.URL.Path, "/after"):
		d.After().ServeHTTP(w, r)
	default:
		d.Stream().ServeHTTP(w, r)
	}
}

// Close takes no more streams, ends those that run as going away, and returns when they have ended.
func (d *Door) Close() error {
	d.calls.Close()
	return nil
}

// Stream is the WebSocket alone.
func (d *Door) Stream() http.Handler { return http.HandlerFunc(d.stream) }

func (d *Door) stream(w http.ResponseWriter, r *http.Request) {
	missing, status, why := d.admit(r)
	if status != 0 {
		d.cfg.Log.Warn("stream refused", zap.String("remote", r.RemoteAddr), zap.Int("status", status),
			zap.String("why", why))
		httpdoor.Refuse(w, status, why)
		return
	}
	proven := missing == nothing && !d.open(r)
	peer, err := d.calls.Serve(w, r, d.cfg.Lines, proven, func(ctx context.Context) (*phone.Peer, error) {
		return d.accept(ctx, w, r, missing)
	})
	if peer == nil {
		d.cfg.Log.Info("stream refused", zap.String("remote", r.RemoteAddr), zap.Error(err))
		return
	}
	d.report(peer, err)
}

// report logs the end of a stream.
func (d *Door) report(p *phone.Peer, err error) {
	n := p.Counters()
	d.cfg.Log.Debug("stream ended", zap.String("door", p.Hello().Door), zap.Uint64("audio_in", n.AudioIn),
		zap.Uint64("frames_out", n.AudioOut), zap.Uint64("marks_dropped", n.MarksDropped),
		zap.Uint64("marks_unknown", n.MarksUnknown), zap.Any("faults", n.Faults), zap.Error(err))
}

// proof is what a stream still has to show in its first message.
type proof uint8

const (
	nothing   proof = iota
	theSecret       // Config.Secret
	thePass         // of /voice, or Config.Secret
)

// admit says what a stream still has to show after its upgrade, or with which status it is refused.
func (d *Door) admit(r *http.Request) (missing proof, status int, why string) {
	status, why = phone.NoStream(r, d.cfg.Hosts)
	switch {
	case status != 0:
		return nothing, status, why
	case len(r.Header.Values(signatureHeader)) > 0 && d.cfg.AuthToken != "":
		if !signed(r, d.cfg.AuthToken, d.streamAddresses(r), nil) {
			return nothing, http.StatusForbidden, "the signature is wrong"
		}
		if d.cfg.OwnTwiML {
			return nothing, 0, ""
		}
		return thePass, 0, ""
	case secretGiven(r, d.cfg.Secret) || d.open(r):
		return nothing, 0, ""
	case d.cfg.Secret != "" && r.Header.Get("Authorization") == "":
		return theSecret, 0, ""
	}
	return nothing, http.StatusForbidden, "the signature or the secret is missing or wrong"
}

// shown reports whether the start of a stream shows what was missing.
func (d *Door) shown(missing proof, s *start) bool {
	return missing == nothing || phone.SameSecret(s.params[paramSecret], d.cfg.Secret) ||
		missing == thePass && d.passes.take(d.cfg.AuthToken, s.params[paramPass], s.call, time.Now())
}

// open reports that nothing is configured that a request could show, and that it came in over the loopback.
func (d *Door) open(r *http.Request) bool {
	return d.cfg.AuthToken == "" && d.cfg.Secret == "" && phone.OnLoopback(r)
}

// streamAddresses are the addresses under which Twilio may have signed the upgrade: it calls wss, some of its parts
// sign https, and a final slash is known to appear.
func (d *Door) streamAddresses(r *http.Request) (all []string) {
	for _, scheme := range []string{"ws", "http"} {
		address := d.address(r, scheme) + query(r)
		all = append(append(all, variants(address)...), variants(address+"/")...)
	}
	return all
}

// accept upgrades the request and reads up to the start of the stream. Unless it fails the peer must be closed.
func (d *Door) accept(ctx context.Context, w http.ResponseWriter, r *http.Request, missing proof) (*phone.Peer, error) {
	socket, err := phone.Upgrade(w, r, d.cfg.Limits)
	if err != nil {
		return nil, fmt.Errorf("mediastream: accept: %w", err)
	}
	s, ended := d.handshake(ctx, socket)
	if ended == nil && !d.shown(missing, &s) {
		ended = phone.Ended(transport.ReasonUnauthorized, "", nil)
	}
	if ended != nil {
		socket.Refuse(ended)
		return nil, fmt.Errorf("mediastream: accept: %w", ended)
	}
	st := newStream(&s)
	return phone.NewPeer(socket, phone.Line{Hello: s.hello(httpdoor.Remote(r)), Protocol: st,
		ChunkFrames: st.chunkFrames, Transfer: d.transfer(s.call)}), nil
}

// handshake reads the first messages: perhaps connected, then start. Media that comes before is dropped. There are at
// most FaultsMax of them, within HelloTimeout.
func (d *Door) handshake(ctx context.Context, socket *phone.Socket) (start, *transport.Ended) {
	deadline := time.Now().Add(d.cfg.Limits.HelloTimeout)
	for range d.cfg.Limits.FaultsMax {
		b, text, ended := socket.Read(ctx, time.Until(deadline))
		switch {
		case ended != nil && ended.Reason == transport.ReasonIdleTimeout:
			return start{}, phone.Ended(transport.ReasonHelloTimeout, "", nil)
		case ended != nil:
			return start{}, ended
		case !text:
			return start{}, phone.Ended(transport.ReasonBadHello, "A stream must begin with text messages.", nil)
		}
		m, err := readMessage(b)
		switch {
		case err != nil:
			return start{}, phone.Ended(transport.ReasonBadJSON, err.Error(), err)
		case m.event == "start":
			return begun(&m)
		case m.event == "stop":
			return start{}, phone.Ended(transport.ReasonCallerHungUp, "", nil)
		}
	}
	return start{}, phone.Ended(transport.ReasonEventBeforeHello, "The stream was not started.", nil)
}

// begun reads the start of a stream.
func begun(m *message) (start, *transport.Ended) {
	s, err := readStart(m)
	switch {
	case errors.Is(err, errCodec):
		return s, phone.Ended(transport.ReasonBadAudio, err.Error(), err)
	case err != nil:
		return s, phone.Ended(transport.ReasonBadHello, err.Error(), err)
	}
	return s, nil
}
