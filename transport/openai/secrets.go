package openai

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
)

// Limits of client secrets.
const (
	SecretsMax      = 4096     // that are valid at one time
	SecretsBytesMax = 64 << 20 // of their session configurations
	SecretBytesMax  = 1 << 20  // of a request for one

	secretPrefix     = "ek_"
	secretLifeMin    = 10 * time.Second
	secretLifeMax    = 2 * time.Hour
	secretLife       = 10 * time.Minute
	secretsFullRetry = 10 * time.Second
	secretReadMax    = 10 * time.Second
)

// Secrets are client secrets: short-lived keys that a server makes with its call token, for one of its
// pages, and that stand for the token and a session configuration. As an http.Handler it makes them
// (POST /v1/realtime/client_secrets). They are kept in memory until they expire. Safe for concurrent
// use. It must be closed.
type Secrets struct {
	cfg    Config
	names  admission.Names
	visits admission.Visits

	mu    sync.Mutex
	byKey map[string]secret
	bytes int // of the sessions in byKey
}

type secret struct {
	token   string
	session []byte
	expires time.Time
}

var errSession = admission.Refusal(http.StatusBadRequest, "session is no object as a session.update has it")

// NewSecrets makes client secrets for calls of cfg.Lines. It uses its Lines, Log, Hosts and Origins.
func NewSecrets(cfg Config) (*Secrets, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if cfg.Log == nil {
		cfg.Log = zap.NewNop()
	}
	names := admission.Names{Hosts: cfg.Hosts, Origins: cfg.Origins}
	return &Secrets{cfg: cfg, names: names, byKey: map[string]secret{}}, nil
}

// Close refuses further requests.
func (s *Secrets) Close() error {
	s.visits.Close()
	return nil
}

// Call opens a call with a key: a client secret, or a call token. It returns the call token, and the
// dialect of a call that is configured by the secret and then by session, JSON or nil. The error is
// for admission.Refuse.
func (s *Secrets) Call(key string, session []byte) (token string, c *Channel, err error) {
	var own secret
	if token = key; strings.HasPrefix(key, secretPrefix) {
		s.mu.Lock()
		own = s.byKey[key]
		s.mu.Unlock()
		if !time.Now().Before(own.expires) { // or unknown
			return "", nil, &transport.Refused{Reason: transport.ReasonUnauthorized,
				Message: "The client secret is not known here, or it has expired. Get a new one."}
		}
		token = own.token
	}
	c, err = NewChannel(own.session, session)
	return token, c, err
}

// ServeHTTP makes a client secret for a request with a call token. The token stays unused.
func (s *Secrets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	answer, err := s.create(w, r)
	if err != nil {
		transport.RefusalLog(s.cfg.Log).Info("client secret refused", zap.String("remote", r.RemoteAddr), zap.Error(err))
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// refuse answers with an error in the form of the API.
func refuse(w http.ResponseWriter, err error) {
	status, why := admission.Status(err)
	kind := "invalid_request_error"
	if status >= http.StatusInternalServerError {
		kind = "server_error"
	}
	body, _ := json.Marshal(object{"error": object{"type": kind, "code": nil, "param": nil, "message": why}})
	w.Header().Set("Content-Type", "application/json")
	admission.RefuseWith(w, err, body)
}

// secretRequest is the body of a request.
type secretRequest struct {
	ExpiresAfter struct {
		Anchor  string   `json:"anchor"`
		Seconds *float64 `json:"seconds"`
	} `json:"expires_after"`
	Session json.RawMessage `json:"session"`
}

// create makes a client secret and returns the answer.
func (s *Secrets) create(w http.ResponseWriter, r *http.Request) (answer object, err error) {
	if err := s.names.Request(r); err != nil {
		return nil, err
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return nil, admission.Refusal(http.StatusMethodNotAllowed, "a client secret is made with POST")
	}
	body, err := readSecret(w, r)
	if err != nil {
		return nil, err
	}
	var q secretRequest
	if len(body) > 0 && json.Unmarshal(body, &q) != nil {
		return nil, admission.Refusal(http.StatusBadRequest, "the body is not JSON with a session and expires_after")
	}
	life, err := q.life()
	if err != nil {
		return nil, err
	}
	c, err := NewChannel(q.Session)
	if err != nil {
		return nil, err
	}
	own := secret{token: token(r), session: q.Session, expires: time.Now().Add(life)}
	until, err := s.admit(r, own.token)
	if err != nil {
		return nil, err
	}
	if !until.IsZero() && until.Before(own.expires) {
		own.expires = until
	}
	key := secretPrefix + rand.Text()
	if err := s.keep(key, own); err != nil {
		return nil, err
	}
	return object{"value": key, "expires_at": own.expires.Unix(), "session": c.codec.describe()}, nil
}

// life returns how long a secret shall be valid.
func (q *secretRequest) life() (time.Duration, error) {
	if q.ExpiresAfter.Seconds == nil {
		return secretLife, nil
	}
	seconds := *q.ExpiresAfter.Seconds
	if !(seconds >= secretLifeMin.Seconds() && seconds <= secretLifeMax.Seconds()) {
		return 0, admission.Refusal(http.StatusBadRequest, "expires_after.seconds must be %.0f to %.0f",
			secretLifeMin.Seconds(), secretLifeMax.Seconds())
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

// readSecret reads the body of a request in bounded time.
func readSecret(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Now().Add(secretReadMax))
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, SecretBytesMax))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, admission.Refusal(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", SecretBytesMax)
	case err != nil:
		return nil, admission.Refusal(http.StatusBadRequest, "the body could not be read in time")
	}
	_ = c.SetReadDeadline(time.Time{})
	return b, nil
}

// admit verifies a call token, without a call. It returns until when a call may begin with it, zero
// for no limit.
func (s *Secrets) admit(r *http.Request, token string) (until time.Time, err error) {
	ctx, _, line, err := s.visits.Begin(r, s.cfg.Lines, false)
	if err != nil {
		return until, err
	}
	defer line.Release()
	ctx, done := context.WithTimeout(ctx, secretReadMax)
	defer done()
	return transport.Admit(ctx, line, &transport.Hello{Version: transport.Version, Token: token, Endpoint: Name,
		Remote: admission.Remote(r)})
}

// keep keeps a secret until it expires, and forgets those that have.
func (s *Secrets) keep(key string, own secret) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for k, old := range s.byKey {
		if !now.Before(old.expires) {
			delete(s.byKey, k)
			s.bytes -= len(old.session)
		}
	}
	if len(s.byKey) >= SecretsMax || s.bytes+len(own.session) > SecretsBytesMax {
		return &transport.Refused{Reason: transport.ReasonBusy, RetryAfter: secretsFullRetry,
			Message: "Too many client secrets are valid. Try again when some have expired."}
	}
	s.byKey[key] = own
	s.bytes += len(own.session)
	return nil
}
