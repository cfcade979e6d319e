package access

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport"
)

// Config is who may call, and how much. The zero value lets everybody call without a limit. New copies it.
type Config struct {
	// Secrets are shared secrets that sign tokens (HS256), at least 32 bytes each, at most 8; the newest first.
	Secrets [][]byte
	// JWKS holds public keys of those who sign tokens; nil: none.
	JWKS *JWKS
	// Optional lets callers without a token in although there are keys. A token that is shown must be good even so.
	Optional bool
	// Audience must be among a token's aud: "voicegw".
	Audience string
	// Issuers are the iss that may be; none means any that a key fits.
	Issuers []string
	Skew    time.Duration // by which clocks may differ: 30 s, at most 5 min
	LifeMax time.Duration // how far away a token's exp may be: 1 h, at most a day
	// Reuse lets a token be used for more than one call until it expires.
	Reuse bool

	Address Limits // of one network address, of IPv6 of one /64; a hello without Remote has none
	Tenant  Limits // of a tenant that Tenants does not name; all callers without a token are one tenant, ""
	Tenants map[string]Limits

	SeenMax   int // used tokens that are remembered until they expire: 100,000; when there are as many, none is taken
	QuotasMax int // addresses, tenants and subjects that are counted at one time: 10,000; then no new one is taken
	// Load, if not nil, says when the machine has too much to do for another call.
	Load *Load
	// Now is the clock: time.Now.
	Now func() time.Time
}

// Guard says who may call. All methods are safe for concurrent use; none starts a goroutine, none blocks but for a key
// set that must be fetched.
type Guard struct {
	cfg      Config
	verifier verifier
	attempt  *petri.Program

	mu       sync.Mutex
	programs map[programKey]*petri.Program
	meters   map[string]*meter // by kind and key
	swept    time.Time         // when idle meters were last looked for
	seen     seen
	stats    Stats
}

// Stats counts what a guard decided since it was made.
type Stats struct {
	Admitted uint64            // calls
	Running  int               // grants that were not released
	Denied   map[string]uint64 // by why: "overload", "token", "no token", "tenant calls", ...
	Quotas   int               // that are counted now
	Seen     int               // used tokens that are remembered now
}

const (
	secretsMax   = 8
	skewMax      = 5 * time.Minute
	lifeMax      = 24 * time.Hour
	sweepPause   = time.Second
	crowdedRetry = 10 * time.Second
)

// New checks cfg and makes a guard.
func New(cfg Config) (*Guard, error) {
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	attempt, err := petri.Compile(Attempt("attempt"))
	if err != nil {
		return nil, fmt.Errorf("access: new guard: %w", err)
	}
	g := &Guard{cfg: cfg, attempt: attempt, programs: map[programKey]*petri.Program{}, meters: map[string]*meter{},
		seen: seen{max: cfg.SeenMax, ids: map[tokenID]bool{}}, stats: Stats{Denied: map[string]uint64{}},
		verifier: verifier{secrets: cfg.Secrets, set: cfg.JWKS, audience: cfg.Audience, issuers: cfg.Issuers,
			skew: cfg.Skew, lifeMax: cfg.LifeMax}}
	return g, nil
}

func (c Config) withDefaults() Config {
	if c.Audience == "" {
		c.Audience = AudienceDefault
	}
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&c.Skew, 30 * time.Second}, {&c.LifeMax, time.Hour}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	for _, d := range []struct {
		field *int
		value int
	}{{&c.SeenMax, 100_000}, {&c.QuotasMax, 10_000}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Secrets = slices.Clone(c.Secrets)
	for i, s := range c.Secrets {
		c.Secrets[i] = slices.Clone(s)
	}
	c.Issuers, c.Tenants = slices.Clone(c.Issuers), maps.Clone(c.Tenants)
	return c
}

func (c *Config) check() error {
	switch {
	case len(c.Secrets) > secretsMax:
		return fmt.Errorf("access: new guard: %d secrets; at most %d are possible", len(c.Secrets), secretsMax)
	case c.Skew < 0 || c.Skew > skewMax:
		return fmt.Errorf("access: new guard: Skew is %v; up to %v are possible", c.Skew, skewMax)
	case c.LifeMax < 0 || c.LifeMax > lifeMax:
		return fmt.Errorf("access: new guard: LifeMax is %v; up to %v are possible", c.LifeMax, lifeMax)
	case c.SeenMax < 0 || c.QuotasMax < 3:
		return errors.New("access: new guard: SeenMax and QuotasMax must be positive")
	}
	if slices.Contains(c.Issuers, "") {
		return errors.New("access: new guard: Issuers has an empty name, which a token without iss would have")
	}
	for _, s := range c.Secrets {
		if len(s) < SecretLenMin {
			return fmt.Errorf("access: new guard: a secret has %d bytes; at least %d are needed", len(s), SecretLenMin)
		}
	}
	err := errors.Join(c.Address.check("an address"), c.Tenant.check("a tenant"))
	for _, name := range slices.Sorted(maps.Keys(c.Tenants)) {
		err = errors.Join(err, c.Tenants[name].check("tenant "+name))
	}
	return err
}

// wantsTokens reports whether there is anybody who signs tokens.
func (c *Config) wantsTokens() bool { return len(c.Secrets) > 0 || c.JWKS != nil }

// Ready is nil while another call can be carried. Else it is a *transport.Refused: the machine has too much to do. A
// door's line asks before a handshake costs anything.
func (g *Guard) Ready() error {
	if g.cfg.Load == nil || !g.cfg.Load.High() {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stats.Denied["overload"]++
	return &transport.Refused{Reason: transport.ReasonBusy,
		Message: "The server has too much to do. Try again in a moment.", RetryAfter: g.cfg.Load.RetryAfter(), Err: errLoad}
}

var errLoad = errors.New("access: the machine has too much to do for another call")

// Check says whether a call with this hello may be. It writes the instructions and the language that the token names
// into the hello and removes the token from it. The error is a *transport.Refused; a token that was refused for a
// limit is not used up. Unless there is an error, Release of the grant must follow.
func (g *Guard) Check(ctx context.Context, h *transport.Hello) (*Grant, error) {
	token := h.Token
	h.Token = ""
	a := &visit{g: g, m: g.attempt.Start(), born: g.cfg.Now()}
	a.m.Silent(true)
	if refused := a.enter(transport.Network(h.Remote)); refused != nil {
		return nil, refused
	}
	claims, err := (*Claims)(nil), errUnread
	defer func() {
		if errors.Is(err, errUnread) { // a panic: the address gets its permit back
			_ = a.show(nil, err)
		}
	}()
	claims, err = g.examine(ctx, token)
	if refused := a.show(claims, err); refused != nil {
		return nil, refused
	}
	if claims == nil {
		claims = &Claims{}
	}
	if claims.Instructions != "" {
		h.Instructions = claims.Instructions
	}
	if claims.Language != "" {
		h.Language = claims.Language
	}
	return newGrant(a, claims), nil
}

// examine returns what a token says, nil when there is none and none is needed.
func (g *Guard) examine(ctx context.Context, token string) (*Claims, error) {
	switch {
	case !g.cfg.wantsTokens(), token == "" && g.cfg.Optional:
		return nil, nil
	case token == "":
		return nil, errNoToken
	}
	return g.verifier.verify(ctx, token, g.cfg.Now())
}

var (
	errUnread  = errors.New("it was not read")
	errNoToken = errors.New("there is none")
	errUsed    = errors.New("it was used before")
	errCrowded = errors.New("access: too many tokens or quotas to remember another one")
)

// Stats returns the counters.
func (g *Guard) Stats() Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.stats
	s.Denied = maps.Clone(s.Denied)
	s.Quotas, s.Seen = len(g.meters), len(g.seen.ids)
	return s
}
