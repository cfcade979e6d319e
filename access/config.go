package access

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Config says who may call and how much. The zero value lets everybody call without a limit. New
// copies it.
type Config struct {
	// Secrets are the shared secrets that sign tokens (HS256): at most 8, each of at least
	// SecretLenMin bytes, the newest first.
	Secrets [][]byte
	// JWKS holds the public keys of token issuers; nil means none.
	JWKS *JWKS
	// Optional admits callers without a token even if Secrets or JWKS is set. A token that a
	// caller does show must still be valid.
	Optional bool
	// Audience must be among a token's aud. The default is AudienceDefault.
	Audience string
	// Issuers are the accepted values of iss. If there are none, any iss is accepted.
	Issuers []string
	// Skew is how far clocks may differ: default 30 s, at most 5 min.
	Skew time.Duration
	// LifeMax is how far in the future a token's exp may be: default 1 h, at most 24 h.
	LifeMax time.Duration
	// Reuse lets a token start more than one call until it expires.
	Reuse bool

	// Address limits one network address (of IPv6: one /64). A hello without Remote has no limit.
	Address Limits
	// Tenant limits each tenant that Tenants does not name. All callers without a token are one
	// tenant, named "".
	Tenant Limits
	// Tenants are the limits of single tenants, by name.
	Tenants map[string]Limits

	// SeenMax is how many used tokens the guard remembers until they expire: default 100,000. At
	// the limit it refuses further tokens.
	SeenMax int
	// QuotasMax is how many addresses, tenants and subjects the guard counts at one time: default
	// 10,000, at least 3. At the limit it refuses calls of new ones.
	QuotasMax int
	// Load makes Guard.Ready refuse calls while the machine is overloaded; nil means never.
	Load *Load
	// Now is the clock. The default is time.Now.
	Now func() time.Time
}

const (
	secretsMax   = 8
	skewMax      = 5 * time.Minute
	lifeMax      = 24 * time.Hour
	quotasMin    = 3 // those of one call
	sweepPause   = time.Second
	crowdedRetry = 10 * time.Second
)

func (c Config) withDefaults() Config {
	if c.Audience == "" {
		c.Audience = AudienceDefault
	}
	if c.Skew == 0 {
		c.Skew = 30 * time.Second
	}
	if c.LifeMax == 0 {
		c.LifeMax = time.Hour
	}
	if c.SeenMax == 0 {
		c.SeenMax = 100_000
	}
	if c.QuotasMax == 0 {
		c.QuotasMax = 10_000
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
		return fmt.Errorf("access: new guard: %d secrets, want at most %d", len(c.Secrets), secretsMax)
	case c.Skew < 0 || c.Skew > skewMax:
		return fmt.Errorf("access: new guard: Skew is %v, want 0 to %v", c.Skew, skewMax)
	case c.LifeMax < 0 || c.LifeMax > lifeMax:
		return fmt.Errorf("access: new guard: LifeMax is %v, want 0 to %v", c.LifeMax, lifeMax)
	case c.SeenMax < 0:
		return fmt.Errorf("access: new guard: SeenMax is %d, want a positive number", c.SeenMax)
	case c.QuotasMax < quotasMin:
		return fmt.Errorf("access: new guard: QuotasMax is %d, want at least %d", c.QuotasMax, quotasMin)
	case slices.Contains(c.Issuers, ""):
		return errors.New("access: new guard: Issuers has an empty name, which would accept tokens without iss")
	}
	for _, s := range c.Secrets {
		if len(s) < SecretLenMin {
			return fmt.Errorf("access: new guard: a secret has %d bytes, want at least %d", len(s), SecretLenMin)
		}
	}
	err := errors.Join(c.Address.check("an address"), c.Tenant.check("a tenant"))
	for _, name := range slices.Sorted(maps.Keys(c.Tenants)) {
		err = errors.Join(err, c.Tenants[name].check("tenant "+name))
	}
	if err != nil {
		return fmt.Errorf("access: new guard: %w", err)
	}
	return nil
}

// wantsTokens reports whether anybody can sign tokens.
func (c *Config) wantsTokens() bool { return len(c.Secrets) > 0 || c.JWKS != nil }
