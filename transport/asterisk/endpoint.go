package asterisk

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
	"github.com/voicegw/voicegw/transport/phone"
	"github.com/voicegw/voicegw/transport/wsconn"
)

// Subprotocol is the subprotocol that Asterisk offers in the handshake.
const Subprotocol = "media"

// Endpoint takes calls from Asterisk. It is safe for concurrent use and must be closed.
type Endpoint struct {
	cfg         Config
	credentials atomic.Pointer[credentials]
	targets     atomic.Pointer[map[string]string] // Config.Targets, which can change
	visits      admission.Visits
}

// New makes an Endpoint. It returns an error for an invalid cfg.
func New(cfg Config) (*Endpoint, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &Endpoint{cfg: cfg}
	e.credentials.Store(&credentials{user: cfg.User, password: cfg.Password, ari: cfg.ARI})
	e.targets.Store(&cfg.Targets)
	return e, nil
}

// credentials are Config.User, Password and ARI, which can change.
type credentials struct {
	user, password string
	ari            ARI
}

// PrepareCredentials checks other values of Config.User, Password and ARI's User, Password and Context, and changes
// nothing; commit then replaces them for requests and transfers from now on. Calls that run go on. It cannot take the
// password away, nor give one to an endpoint that has none: who may call would change with it. ARI.URL must stay.
func (e *Endpoint) PrepareCredentials(user, password string, ari ARI) (commit func(), err error) {
	before := e.credentials.Load()
	if (password == "") != (before.password == "") {
		return nil, errors.New("asterisk: set credentials: an endpoint with a password needs one, and one without takes none")
	}
	if strings.TrimRight(ari.URL, "/") != before.ari.URL {
		return nil, errors.New("asterisk: set credentials: ARI.URL cannot change: a password must not go to another server")
	}
	next := &credentials{user: user, password: password, ari: before.ari}
	next.ari.User, next.ari.Password, next.ari.Context = ari.User, ari.Password, ari.Context
	return func() { e.credentials.Store(next) }, nil
}

// PrepareTargets checks other Config.Targets and changes nothing; commit then replaces them for transfers from now on,
// those of running calls too.
func (e *Endpoint) PrepareTargets(targets map[string]string) (commit func(), err error) {
	if err := checkTargets(targets); err != nil {
		return nil, fmt.Errorf("asterisk: prepare targets: %w", err)
	}
	next := maps.Clone(targets)
	return func() { e.targets.Store(&next) }, nil
}

// Close refuses new calls, ends the running ones as going away, and returns when they have ended.
func (e *Endpoint) Close() error {
	e.visits.Close()
	return nil
}

// ServeHTTP serves the WebSocket.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := phone.Admit(r, e.cfg.Hosts)
	own := e.credentials.Load()
	if err == nil && !own.proven(r) {
		err = admission.Refusal(http.StatusUnauthorized, "the user or the password is missing or wrong")
		w.Header().Set("WWW-Authenticate", `Basic realm="voicegw"`)
	}
	if err != nil {
		transport.RefusalLog(e.cfg.Log).Warn("call refused", zap.String("remote", r.RemoteAddr), zap.Error(err))
		admission.Refuse(w, err)
		return
	}
	peer, err := phone.Serve(&e.visits, w, r, phone.Stream{Lines: e.cfg.Lines, Limits: e.cfg.Limits,
		Subprotocols: []string{Subprotocol}, Proven: own.password != "",
		Begin: func(m wsconn.Message) (*phone.Line, *transport.Ended) { return e.begin(m, r) }})
	if peer == nil {
		transport.RefusalLog(e.cfg.Log).Info("call refused", zap.String("remote", r.RemoteAddr), zap.Error(err))
		return
	}
	n := peer.Counters()
	e.cfg.Log.Debug("stream ended", zap.Uint64("audio_in", n.AudioIn), zap.Uint64("frames_out", n.AudioOut),
		zap.Uint64("marks_unknown", n.MarksUnknown), zap.Any("faults", n.Faults), zap.Error(err))
}

// proven reports whether a request comes from Asterisk: by user and password, or, without a
// configured password, over the loopback.
func (c *credentials) proven(r *http.Request) bool {
	if c.password == "" {
		return phone.OnLoopback(r)
	}
	user, password, ok := r.BasicAuth()
	given, want := sha256.Sum256([]byte(user)), sha256.Sum256([]byte(c.user))
	sameUser := subtle.ConstantTimeCompare(given[:], want[:]) == 1
	return phone.SameSecret(password, c.password) && ok && sameUser
}

// begin reads one of the first messages, up to MEDIA_START. It drops audio that comes before.
func (e *Endpoint) begin(m wsconn.Message, r *http.Request) (*phone.Line, *transport.Ended) {
	if m.Binary {
		return nil, nil
	}
	c, err := readControl(m.Data)
	switch {
	case err != nil:
		return nil, transport.End(transport.ReasonBadJSON, err.Error(), err)
	case c.Event != "MEDIA_START":
		return nil, nil
	}
	return e.begun(&c, isJSON(m.Data), r)
}

// begun makes a line from MEDIA_START.
func (e *Endpoint) begun(start *control, json bool, r *http.Request) (*phone.Line, *transport.Ended) {
	ch, err := newChannel(start, json)
	if err != nil {
		return nil, transport.End(transport.ReasonBadAudio, err.Error(), err)
	}
	hello, caller := ch.hello(r.URL.Query(), start.Variables, admission.Remote(r))
	return &phone.Line{Hello: hello, Protocol: ch, BinaryAudio: true, ChunkFrames: ch.chunkFrames,
		Transfer: e.transfer(caller)}, nil
}

var errNoARI = errors.New("Config.ARI has no URL")

// transfer sends the caller's channel to the target of a transfer. The call's peer calls it before
// the hang-up; after it the channel continues at the target.
func (e *Endpoint) transfer(caller string) func(ctx context.Context, to string) error {
	return func(ctx context.Context, to string) error {
		ari, target := e.credentials.Load().ari, to
		if named, ok := (*e.targets.Load())[to]; ok {
			target = named
		}
		switch {
		case ari.URL == "":
			return fmt.Errorf("asterisk: transfer: %w", errNoARI)
		case !extension(target):
			return fmt.Errorf("asterisk: transfer: %q is neither an extension nor one of Targets", transport.Cut(to, 40))
		}
		return ari.transfer(ctx, caller, target)
	}
}
