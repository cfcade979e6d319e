package mediastream

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
	"github.com/voicegw/voicegw/transport/phone"
	"github.com/voicegw/voicegw/transport/wsconn"
)

// Endpoint takes calls from carriers. It is safe for concurrent use and must be closed.
type Endpoint struct {
	cfg       Config
	secrets   atomic.Pointer[secrets]
	targets   atomic.Pointer[map[string]string] // Config.Targets, which can change
	transfers transfers
	passes    passes
	visits    admission.Visits
}

// New makes an Endpoint. It returns an error for an invalid cfg.
func New(cfg Config) (*Endpoint, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &Endpoint{cfg: cfg}
	e.secrets.Store(&secrets{authToken: cfg.AuthToken, secret: cfg.Secret})
	e.targets.Store(&cfg.Targets)
	return e, nil
}

// secrets are Config.AuthToken and Config.Secret, which can change.
type secrets struct {
	authToken, secret string

	before string    // the auth token before this one: calls are on the way with its passes
	until  time.Time // when the last of these ends
}

// pass reports whether a pass is valid for a call, and uses it up.
func (s *secrets) pass(p *passes, pass, call string, now time.Time) bool {
	return p.take(s.authToken, pass, call, now) || now.Before(s.until) && p.take(s.before, pass, call, now)
}

// SetSecrets replaces Config.AuthToken and Config.Secret for requests from now on. Streams that run go on. It cannot
// take the last secret away, nor give one to an endpoint that has none: who may call would change with it.
func (e *Endpoint) SetSecrets(authToken, secret string) error {
	commit, err := e.PrepareSecrets(authToken, secret)
	if err == nil {
		commit()
	}
	return err
}

// PrepareSecrets checks the secrets as SetSecrets does and changes nothing; commit then replaces them.
func (e *Endpoint) PrepareSecrets(authToken, secret string) (commit func(), err error) {
	if err := checkSecret(secret); err != nil {
		return nil, err
	}
	before := e.secrets.Load()
	if (authToken+secret == "") != (before.authToken+before.secret == "") {
		return nil, errors.New("mediastream: set secrets: an endpoint with secrets needs one, and one without takes none")
	}
	return func() {
		next := &secrets{authToken: authToken, secret: secret, before: before.authToken, until: time.Now().Add(passLife)}
		if authToken == before.authToken {
			next.before, next.until = before.before, before.until
		}
		e.secrets.Store(next)
	}, nil
}

// ServeHTTP serves the stream at the mount path, and the webhooks at /voice and /after below it.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/voice"):
		e.voice(w, r)
	case strings.HasSuffix(r.URL.Path, "/after"):
		e.after(w, r)
	default:
		e.stream(w, r)
	}
}

// Close refuses new streams, ends the running ones as going away, and returns when they have ended.
func (e *Endpoint) Close() error {
	e.visits.Close()
	return nil
}

// stream serves the WebSocket.
func (e *Endpoint) stream(w http.ResponseWriter, r *http.Request) {
	missing, err := e.admit(r)
	if err != nil {
		transport.RefusalLog(e.cfg.Log).Warn("stream refused", zap.String("remote", r.RemoteAddr), zap.Error(err))
		admission.Refuse(w, err)
		return
	}
	peer, err := phone.Serve(&e.visits, w, r, phone.Stream{Lines: e.cfg.Lines, Limits: e.cfg.Limits,
		Proven: missing == nothing && !e.open(r),
		Begin: func(m wsconn.Message) (*phone.Line, *transport.Ended) {
			return e.begin(m, missing, admission.Remote(r))
		}})
	if peer == nil {
		transport.RefusalLog(e.cfg.Log).Info("stream refused", zap.String("remote", r.RemoteAddr), zap.Error(err))
		return
	}
	e.report(peer, err)
}

// report logs the end of a stream.
func (e *Endpoint) report(p *phone.Peer, err error) {
	n := p.Counters()
	e.cfg.Log.Debug("stream ended", zap.String("endpoint", p.Hello().Endpoint), zap.Uint64("audio_in", n.AudioIn),
		zap.Uint64("frames_out", n.AudioOut), zap.Uint64("marks_dropped", n.MarksDropped),
		zap.Uint64("marks_unknown", n.MarksUnknown), zap.Any("faults", n.Faults), zap.Error(err))
}

// proof is what a stream still has to show in its first message.
type proof uint8

const (
	nothing   proof = iota
	theSecret       // Config.Secret
	thePass         // the pass from /voice, or Config.Secret
)

// admit returns what a stream still has to show after its upgrade, or why it is refused.
func (e *Endpoint) admit(r *http.Request) (missing proof, err error) {
	err = phone.Admit(r, e.cfg.Hosts)
	own := e.secrets.Load()
	switch {
	case err != nil:
		return nothing, err
	case len(r.Header.Values(signatureHeader)) > 0 && own.authToken != "":
		if !signed(r, own.authToken, e.streamAddresses(r), nil) {
			return nothing, admission.Refusal(http.StatusForbidden, "the signature is wrong")
		}
		if e.cfg.OwnTwiML {
			return nothing, nil
		}
		return thePass, nil
	case secretGiven(r, own.secret) || e.open(r):
		return nothing, nil
	case own.secret != "" && r.Header.Get("Authorization") == "":
		return theSecret, nil
	}
	return nothing, admission.Refusal(http.StatusForbidden, "the signature or the secret is missing or wrong")
}

// shown reports whether the start of a stream shows the missing proof.
func (e *Endpoint) shown(missing proof, s *start) bool {
	own := e.secrets.Load()
	return missing == nothing || phone.SameSecret(s.params[paramSecret], own.secret) ||
		missing == thePass && own.pass(&e.passes, s.params[paramPass], s.call, time.Now())
}

// open reports whether no credential is configured and the request came in over the loopback.
func (e *Endpoint) open(r *http.Request) bool {
	own := e.secrets.Load()
	return own.authToken+own.secret == "" && phone.OnLoopback(r)
}

// streamAddresses returns the addresses under which Twilio may have signed the upgrade: it calls
// wss, some of its parts sign https, and it sometimes adds a final slash.
func (e *Endpoint) streamAddresses(r *http.Request) (all []string) {
	for _, scheme := range []string{"ws", "http"} {
		address := e.address(r, scheme) + query(r)
		all = append(append(all, variants(address)...), variants(address+"/")...)
	}
	return all
}

// begin reads one of the first messages: optionally connected, then start. It drops media that
// comes before.
func (e *Endpoint) begin(in wsconn.Message, missing proof, remote string) (*phone.Line, *transport.Ended) {
	if in.Binary {
		return nil, transport.End(transport.ReasonBadHello, "A stream must begin with text messages.", nil)
	}
	m, err := readMessage(in.Data)
	switch {
	case err != nil:
		return nil, transport.End(transport.ReasonBadJSON, err.Error(), err)
	case m.event == "stop":
		return nil, transport.End(transport.ReasonCallerHungUp, "", nil)
	case m.event != "start":
		return nil, nil
	}
	s, ended := begun(&m)
	if ended != nil {
		return nil, ended
	}
	if !e.shown(missing, &s) {
		return nil, transport.End(transport.ReasonUnauthorized, "", nil)
	}
	st := newStream(&s)
	return &phone.Line{Hello: s.hello(remote), Protocol: st, ChunkFrames: st.chunkFrames, Transfer: e.transfer(s.call)},
		nil
}

// begun reads the start of a stream.
func begun(m *message) (start, *transport.Ended) {
	s, err := readStart(m)
	switch {
	case errors.Is(err, errCodec):
		return s, transport.End(transport.ReasonBadAudio, err.Error(), err)
	case err != nil:
		return s, transport.End(transport.ReasonBadHello, err.Error(), err)
	}
	return s, nil
}
