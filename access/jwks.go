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

// JWKSConfig says where to fetch the public keys of token issuers. A zero field takes its default.
type JWKSConfig struct {
	// URL is an https address, or an http address of this machine.
	URL string
	// Client fetches the set. The default follows no redirects and no proxy settings.
	Client *http.Client
	// Refresh is the age at which the set is fetched again: default 10 min. A token with an unknown
	// kid fetches it at once, but Pause still applies.
	Refresh time.Duration
	// Pause is the least time between two fetches, also after a failed one: default 15 s.
	Pause time.Duration
	// Timeout bounds one fetch: default 5 s.
	Timeout time.Duration
	// Stale is the age at which keys expire that could not be fetched again: default 6 h.
	Stale time.Duration
}

const (
	setBytesMax = 256 << 10
	setKeysMax  = 100
	keysPerTry  = 8 // how many keys a token without a kid is tried with
	rsaBitsMin  = 2048
	rsaBitsMax  = 8192
)

// JWKS is a set of public keys (RFC 7517). A token that needs the set fetches it, and the set keeps
// the keys. It uses RSA keys of 2,048 to 8,192 bits (RS256), P-256 keys (ES256) and Ed25519 keys
// (EdDSA), and ignores all others. It reads at most 256 KiB and 100 keys. It is safe for concurrent
// use and starts no goroutine.
type JWKS struct {
	cfg   JWKSConfig
	fetch chan struct{} // holds one value while nobody fetches

	mu      sync.Mutex
	known   []publicKey
	fetched time.Time // when known was fetched; zero: never
	tried   time.Time // when a fetch last began
	problem error     // of the last fetch
}

// publicKey is a key and the one algorithm that it verifies.
type publicKey struct {
	kid       string
	algorithm jose.SignatureAlgorithm
	key       any
}

func publicAlgorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.EdDSA}
}

// NewJWKS returns a key set, or an error if cfg.URL cannot be used. It fetches nothing yet.
func NewJWKS(cfg JWKSConfig) (*JWKS, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || !onThisMachine(u)) {
		return nil, errors.New("access: new key set: want a URL of the form https://..., or http://... on this machine")
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

// keys returns the keys that may have signed a token with this algorithm and kid, which may be "".
// It fetches the set if that is due. While another goroutine fetches, it uses the known keys, and
// waits only if none of them fits.
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
			return nil, fmt.Errorf("access: wait for key set: %w", ctx.Err())
		}
	}
	defer func() { s.fetch <- struct{}{} }()
	if found, due, err = s.look(a, kid, now); due { // nobody has fetched it meanwhile
		s.update(ctx, now)
		found, _, err = s.look(a, kid, now)
	}
	return found, err
}

// look returns the known keys that fit, and whether a fetch is due.
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
		return nil, !paused, errors.New("access: the kid of the token is not in the key set")
	}
	return found, due, nil
}

// errNoKeys reports that there are no keys to verify with, whatever the token is.
var errNoKeys = errors.New("access: there is no key set")

// update fetches the set. If that fails it keeps the known keys. The fetch goes on if ctx is
// cancelled: callers who leave early must not cause one fetch after another.
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

// parseSet reads a key set and skips keys that verify none of the algorithms, such as secrets.
func parseSet(b []byte) ([]publicKey, error) {
	if len(b) > setBytesMax {
		return nil, fmt.Errorf("access: read key set: more than %d bytes", setBytesMax)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(b, &set); err != nil {
		return nil, fmt.Errorf("access: read key set: %w", err)
	}
	if len(set.Keys) > setKeysMax {
		return nil, fmt.Errorf("access: read key set: %d keys, want at most %d", len(set.Keys), setKeysMax)
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
		return nil, errors.New("access: read key set: no public key for RS256, ES256 or EdDSA")
	}
	return keys, nil
}

// algorithmOf returns the algorithm that a public key verifies, "" for a key that is not used.
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
