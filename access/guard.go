package access

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/voicegw/voicegw/transport"
)

// Guard decides who may call. Its methods are safe for concurrent use and start no goroutine. Only
// Check can block, while it fetches a key set.
type Guard struct {
	cfg      Config
	verifier atomic.Pointer[verifier]

	mu     sync.Mutex
	quotas quotas
	seen   seen
	stats  Stats
}

// Stats counts the decisions of a guard since New.
type Stats struct {
	Admitted uint64            // calls
	Running  int               // grants that are not released yet
	Denied   map[string]uint64 // by reason: "overload", "token", "no token", "tenant calls", ...
	Quotas   int               // addresses, tenants and subjects that are counted now
	Seen     int               // used tokens that are remembered now
}

// New returns a guard, or an error if a field of cfg is out of range.
func New(cfg Config) (*Guard, error) {
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	g := &Guard{cfg: cfg, stats: Stats{Denied: map[string]uint64{}},
		quotas: quotas{max: cfg.QuotasMax, byKey: map[string]*quota{}},
		seen:   seen{max: cfg.SeenMax, ids: map[tokenID]int{}}}
	g.verifier.Store(&verifier{secrets: cfg.Secrets, set: cfg.JWKS, audience: cfg.Audience, issuers: cfg.Issuers,
		skew: cfg.Skew, lifeMax: cfg.LifeMax})
	return g, nil
}

// SetSecrets replaces Config.Secrets. Tokens of the old ones that are not among the new ones are refused
// from now on; calls that began with them go on. A guard cannot change between having secrets and having
// none. After an error it keeps the old ones.
func (g *Guard) SetSecrets(secrets [][]byte) error {
	commit, err := g.PrepareSecrets(secrets)
	if err == nil {
		commit()
	}
	return err
}

// PrepareSecrets checks the secrets as SetSecrets does and changes nothing; commit then replaces them.
func (g *Guard) PrepareSecrets(secrets [][]byte) (commit func(), err error) {
	next := *g.verifier.Load()
	if len(secrets) == 0 || len(next.secrets) == 0 {
		return nil, errors.New("access: set secrets: want one or more, for a guard that has some")
	}
	cfg := g.cfg
	cfg.Secrets = secrets
	if err := cfg.check(); err != nil {
		return nil, err
	}
	next.secrets = make([][]byte, len(secrets))
	for i, s := range secrets {
		next.secrets[i] = slices.Clone(s)
	}
	return func() { g.verifier.Store(&next) }, nil
}

// Ready returns nil if the machine can take another call, or a *transport.Refused while
// Config.Load is high. Lines.Take calls it before a handshake costs anything.
func (g *Guard) Ready() error {
	if g.cfg.Load == nil || !g.cfg.Load.high.Load() {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stats.Denied["overload"]++
	return &transport.Refused{Reason: transport.ReasonBusy, Message: "The server is overloaded. Try again in a moment.",
		RetryAfter: g.cfg.Load.retryAfter(), Err: errLoad}
}

// Check decides about the call of a hello. It checks the quota of the address, then the token, then
// the quotas of the tenant and the subject. It removes the token from the hello and writes the
// instructions and the language of the token into it.
//
// The error is always a *transport.Refused. A refused call gives back its permits, and its token
// stays unused. An admitted call must be ended with Grant.Release.
func (g *Guard) Check(ctx context.Context, h *transport.Hello) (*Grant, error) {
	grant, claims, err := g.check(ctx, h)
	if err == nil {
		claims.prescribe(h)
	}
	return grant, err
}

// check is Check, without what the token writes into the hello.
func (g *Guard) check(ctx context.Context, h *transport.Hello) (*Grant, *Claims, error) {
	token := h.Token
	h.Token = ""
	grant, err := g.enter(transport.Network(h.Remote))
	if err != nil {
		return nil, nil, err
	}
	defer grant.abandon() // a panic of the verifier must not keep the permit
	claims, err := g.examine(ctx, token)
	if err := g.admit(grant, claims, err); err != nil {
		return nil, nil, err
	}
	return grant, claims, nil
}

// enter takes a permit of the address for an attempt to call.
func (g *Guard) enter(address string) (*Grant, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	limits := g.cfg.Address
	if address == "" {
		limits = Limits{}
	}
	grant := &Grant{guard: g}
	if err := g.take(grant, "address", address, limits); err != nil {
		return nil, err
	}
	return grant, nil
}

// examine returns the claims of a token. They are empty if there is no token and none is needed.
func (g *Guard) examine(ctx context.Context, token string) (*Claims, error) {
	switch {
	case !g.cfg.wantsTokens(), token == "" && g.cfg.Optional:
		return &Claims{}, nil
	case token == "":
		return nil, errNoToken
	}
	return g.verify(ctx, token, ScopeCalls)
}

func (g *Guard) verify(ctx context.Context, token, scope string) (*Claims, error) {
	c, err := g.verifier.Load().verify(ctx, token, g.cfg.Now())
	if err == nil && !c.may(scope) {
		return nil, fmt.Errorf("access: the token is not good for %s; its scopes are %q", scope, c.Scopes)
	}
	return c, err
}

// Verify returns the claims of a token that is valid now and good for a scope. It does not use the token
// up and counts nothing, so it is for requests, not for calls. The error never contains the token.
func (g *Guard) Verify(ctx context.Context, token, scope string) (*Claims, error) {
	if token == "" {
		return nil, errNoToken
	}
	return g.verify(ctx, token, scope)
}

// WantsTokens reports whether there are keys to verify tokens with.
func (g *Guard) WantsTokens() bool { return g.cfg.wantsTokens() }

// admit turns an attempt into a call: it uses the token and takes a permit of the tenant and of
// the subject. problem is the error of the token.
func (g *Guard) admit(grant *Grant, c *Claims, problem error) (err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	defer func() {
		if err != nil {
			grant.giveBack()
		}
	}()
	once := problem == nil && c.ID != "" && !g.cfg.Reuse
	if once {
		problem = g.unused(c)
	}
	if problem != nil {
		return g.unauthorized(problem)
	}
	limits, own := g.cfg.Tenants[c.Tenant]
	if !own {
		limits = g.cfg.Tenant
	}
	if err := g.take(grant, "tenant", c.Tenant, limits); err != nil {
		return err
	}
	if err := g.take(grant, "subject", c.subjectKey(), c.Limits); err != nil {
		return err
	}
	if once {
		grant.token = idOf(c)
		g.seen.add(grant.token, c.Expiry.Add(g.cfg.Skew))
	}
	grant.admit(c)
	g.stats.Admitted++
	g.stats.Running++
	return nil
}

// unused returns an error if the token was used up before, or cannot be remembered.
func (g *Guard) unused(c *Claims) error {
	switch {
	case g.seen.uses(idOf(c), g.cfg.Now()) >= c.uses():
		return errUsed
	case g.seen.full(idOf(c)):
		return errCrowded
	}
	return nil
}

// take takes a permit of a quota for the grant.
func (g *Guard) take(grant *Grant, of, key string, l Limits) error {
	now := g.cfg.Now()
	q, err := g.quotas.get(of, key, l, now)
	if err != nil {
		return g.crowded()
	}
	if d := q.take(now); d != nil {
		g.quotas.forget(q, now)
		return g.limited(d)
	}
	grant.quotas[grant.held] = q
	grant.held++
	return nil
}

// Stats returns a copy of the counters.
func (g *Guard) Stats() Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.stats
	s.Denied = maps.Clone(s.Denied)
	s.Quotas, s.Seen = len(g.quotas.byKey), len(g.seen.ids)
	return s
}

var (
	errLoad    = errors.New("access: the machine is overloaded")
	errCrowded = errors.New("access: too many used tokens or quotas to remember another one")
	errNoToken = errors.New("access: there is no token")
	errUsed    = errors.New("access: the token was used before")
)
