package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/voicegw/voicegw/transport"
)

// verifier reads and verifies tokens. Only its JWKS changes.
type verifier struct {
	secrets  [][]byte
	set      *JWKS // nil: none
	audience string
	issuers  []string // nil: any
	skew     time.Duration
	lifeMax  time.Duration
}

// The errors of a token that the caller learns. Of all others the caller learns only that the token
// is not valid.
var (
	errExpired = errors.New("access: the token has expired")
	errEarly   = errors.New("access: the token is not valid yet")
)

// verify returns the claims of a token that is valid at the time now. The error never contains the
// token.
func (v *verifier) verify(ctx context.Context, token string, now time.Time) (*Claims, error) {
	if len(token) > transport.TokenLenMax {
		return nil, fmt.Errorf("access: the token has %d bytes, want at most %d", len(token), transport.TokenLenMax)
	}
	t, err := jwt.ParseSigned(token, v.algorithms()) // compact form, one signature, no "none"
	if err != nil {
		return nil, errors.New("access: the token is malformed, or there is no key for its algorithm")
	}
	h := t.Headers[0]
	keys, err := v.keys(ctx, h.Algorithm, h.KeyID, now)
	if err != nil {
		return nil, err
	}
	var std jwt.Claims
	var wire onTheWire
	if !slices.ContainsFunc(keys, func(k any) bool { return t.Claims(k, &std, &wire) == nil }) {
		return nil, errors.New("access: no key verifies the signature of the token, or its claims are malformed")
	}
	var c Claims
	if err := c.take(&std, &wire); err != nil {
		return nil, fmt.Errorf("access: read token: %w", err)
	}
	return &c, v.holds(&std, now)
}

// algorithms returns the algorithms that there are keys for. Tokens of other algorithms are not
// parsed, so a public key can never serve as a shared secret (RFC 8725 section 2.1).
func (v *verifier) algorithms() []jose.SignatureAlgorithm {
	var list []jose.SignatureAlgorithm
	if len(v.secrets) > 0 {
		list = append(list, jose.HS256)
	}
	if v.set != nil {
		list = append(list, publicAlgorithms()...)
	}
	return list
}

// keys returns the keys that may have signed a token: the secrets for HS256, else the keys of the
// set that verify just this algorithm. It only compares the kid.
func (v *verifier) keys(ctx context.Context, algorithm, kid string, now time.Time) ([]any, error) {
	if algorithm == string(jose.HS256) {
		var keys []any
		for _, s := range v.secrets {
			keys = append(keys, s)
		}
		return keys, nil
	}
	if v.set == nil {
		return nil, errors.New("access: there is no key set for the algorithm of the token")
	}
	return v.set.keys(ctx, jose.SignatureAlgorithm(algorithm), kid, now)
}

// holds checks the registered claims at the time now.
func (v *verifier) holds(c *jwt.Claims, now time.Time) error {
	switch {
	case c.Expiry == nil:
		return errors.New("access: the token has no exp")
	case c.ID == "":
		return errors.New("access: the token has no jti")
	case !c.Audience.Contains(v.audience):
		return fmt.Errorf("access: the aud of the token is not %q", v.audience)
	case len(v.issuers) > 0 && !slices.Contains(v.issuers, c.Issuer):
		return errors.New("access: the iss of the token is not an accepted issuer")
	case !now.Before(c.Expiry.Time().Add(v.skew)):
		return errExpired
	case c.NotBefore != nil && now.Add(v.skew).Before(c.NotBefore.Time()):
		return errEarly
	case c.IssuedAt != nil && now.Add(v.skew).Before(c.IssuedAt.Time()):
		return errEarly
	case c.Expiry.Time().Sub(now) > v.lifeMax+v.skew:
		return fmt.Errorf("access: the token is valid for more than %v", v.lifeMax)
	}
	return nil
}
