package access

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// JWKSConfig says where public keys of token issuers are.
type JWKSConfig struct {
	URL    string       // https, or http on this machine
	Client *http.Client // nil: one that goes to URL alone; it follows no redirects and no proxy settings
	// Refresh is after how long the set is fetched again: 10 min. A token with an unknown kid fetches it at once, at
	// most every Pause.
	Refresh time.Duration
	Pause   time.Duration // between two fetches, also after one that failed: 15 s
	Timeout time.Duration // of a fetch: 5 s
	// Stale is how long keys are used on that cannot be fetched anew: 6 h.
	Stale time.Duration
}

// Limits of a key set.
const (
	setBytesMax = 256 << 10
	setKeysMax  = 100
	keysPerTry  = 8 // that one token without a kid is tried with
	rsaBitsMin  = 2048
	rsaBitsMax  = 8192
)

// JWKS is a set of public keys (RFC 7517) that is fetched when it is needed, and kept. Keys that rotate are found by
// their kid. Safe for concurrent use; it starts no goroutine.
type JWKS struct {
	cfg   JWKSConfig
	fetch chan struct{} // holds a token while nobody fetches

	mu      sync.Mutex
	known   []publicKey
	fetched time.Time // when known was fetched; zero: never
	tried   time.Time // when a fetch last began
	problem error     // of the last fetch
}

// publicKey is a key with the only algorithm it is used for.
type publicKey struct {
	kid       string
	algorithm jose.SignatureAlgorithm
	key       any
}

func publicAlgorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.EdDSA}
}

// NewJWKS checks cfg. Nothing is fetched yet.
func NewJWKS(cfg JWKSConfig) (*JWKS, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || !onThisMachine(u)) {
		return nil, errors.New("access: new key set: the URL must be https://..., or http://... on this machine")
	}
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&cfg.Refresh, 10 * time.Minute}, {&cfg.Pause, 15 * time.Second}, {&cfg.Timeout, 5 * time.Second},
		{&cfg.Stale, 6 * time.Hour}} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if cfg.Client == nil {
		cfg.Client = &http.Client{
			Transport:     &http.Transport{DisableKeepAlives: true, MaxResponseHeaderBytes: 32 << 10},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	s := &JWKS{cfg: cfg, fetch: make(chan struct{}, 1)}
	s.fetch <- struct{}{}
	return s, nil
}

func onThisMachine(u *url.URL) bool {
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}

// keys are those of an algorithm that may have signed a token with this kid, which may be empty. Who finds keys that
// should be fetched anew while somebody does so already goes on with those.
func (s *JWKS) keys(ctx context.Context, a jose.SignatureAlgorithm, kid string, now time.Time) ([]any, error) {
	found, due, err := s.look(a, kid, now)
	if !due {
		return found, err
	}
	select {
	case <-s.fetch:
	default:
		if len(found) > 0 {
			return found, nil
		}
		select {
		case <-s.fetch:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the key set: %w", ctx.Err())
		}
	}
	defer func() { s.fetch <- struct{}{} }()
	if found, due, err = s.look(a, kid, now); due { // nobody fetched it meanwhile
		s.update(ctx, now)
		found, _, err = s.look(a, kid, now)
	}
	return found, err
}

// look returns what is known, and whether the set should be fetched first.
func (s *JWKS) look(a jose.SignatureAlgorithm, kid string, now time.Time) (found []any, due bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	paused := !s.tried.IsZero() && now.Sub(s.tried) < s.cfg.Pause
	switch age := now.Sub(s.fetched); {
	case s.fetched.IsZero() || age > s.cfg.Stale:
		return nil, !paused, errors.Join(errNoKeys, s.problem)
	case age > s.cfg.Refresh && !paused:
		due = true
	}
	for _, k := range s.known {
		if k.algorithm == a && (kid == "" || k.kid == kid) && len(found) < keysPerTry {
			found = append(found, k.key)
		}
	}
	if len(found) == 0 {
		return nil, !paused, errors.New("its kid is none of the key set")
	}
	return found, due, nil
}

// errNoKeys says that it is not the token's fault.
var errNoKeys = errors.New("the key set cannot be had")

// update fetches the set, even if whoever needs it leaves meanwhile: callers that come and go must not make it fetch
// over and over. When that fails the keys there are stay.
func (s *JWKS) update(ctx context.Context, now time.Time) {
	keys, err := s.get(context.WithoutCancel(ctx))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tried, s.problem = now, err
	if err == nil {
		s.known, s.fetched = keys, now
	}
}

func (s *JWKS) get(ctx context.Context) ([]publicKey, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.cfg.URL, nil)
	if err != nil {
		return nil, fmt.Errorf("access: fetch key set: %w", err)
	}
	r.Header.Set("Accept", "application/jwk-set+json, application/json")
	resp, err := s.cfg.Client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("access: fetch key set: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("access: fetch key set: %s", resp.Status)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, setBytesMax+1))
	if err != nil {
		return nil, fmt.Errorf("access: fetch key set: %w", err)
	}
	return parseSet(b)
}

// parseSet reads a key set. Keys that are of no use to us, secrets among them, are left out.
func parseSet(b []byte) ([]publicKey, error) {
	if len(b) > setBytesMax {
		return nil, fmt.Errorf("access: read key set: it has more than %d bytes", setBytesMax)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(b, &set); err != nil {
		return nil, fmt.Errorf("access: read key set: %w", err)
	}
	if len(set.Keys) > setKeysMax {
		return nil, fmt.Errorf("access: read key set: it has %d keys; at most %d are taken", len(set.Keys), setKeysMax)
	}
	var keys []publicKey
	for _, raw := range set.Keys {
		var k jose.JSONWebKey
		if k.UnmarshalJSON(raw) != nil || k.Use != "" && k.Use != "sig" {
			continue
		}
		a := algorithmOf(k.Key)
		if a != "" && (k.Algorithm == "" || k.Algorithm == string(a)) {
			keys = append(keys, publicKey{k.KeyID, a, k.Key})
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("access: read key set: it has no public key for RS256, ES256 or EdDSA")
	}
	return keys, nil
}

// algorithmOf is the only algorithm a public key is used for, "" for what is no public key of ours.
func algorithmOf(key any) jose.SignatureAlgorithm {
	switch k := key.(type) {
	case *rsa.PublicKey:
		if n := k.N.BitLen(); n >= rsaBitsMin && n <= rsaBitsMax {
			return jose.RS256
		}
	case *ecdsa.PublicKey:
		if k.Curve == elliptic.P256() {
			return jose.ES256
		}
	case ed25519.PublicKey:
		return jose.EdDSA
	}
	return ""
}
