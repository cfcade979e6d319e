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

// verifier reads tokens and says whether they are good. It holds nothing that changes but the JWKS.
type verifier struct {
	secrets  [][]byte
	set      *JWKS // nil: none
	audience string
	issuers  []string // nil: any
	skew     time.Duration
	lifeMax  time.Duration
}

// Errors of a token. What a caller is told of the others is only that the token is not good.
var (
	errExpired = errors.New("it has expired")
	errEarly   = errors.New("it is not valid yet")
)

// verify returns what a good token says at an instant. Nobody can learn from the error what a good signature would be.
func (v *verifier) verify(ctx context.Context, token string, now time.Time) (*Claims, error) {
	if len(token) > transport.TokenLenMax {
		return nil, fmt.Errorf("it has %d bytes; at most %d are possible", len(token), transport.TokenLenMax)
	}
	t, err := jwt.ParseSigned(token, v.algorithms()) // compact form, one signature, no "none"
	if err != nil {
		return nil, errors.New("it cannot be read, or no key of ours is for its algorithm")
	}
	h := t.Headers[0]
	keys, err := v.keys(ctx, h.Algorithm, h.KeyID, now)
	if err != nil {
		return nil, err
	}
	var std jwt.Claims
	var wire onTheWire
	if !slices.ContainsFunc(keys, func(k any) bool { return t.Claims(k, &std, &wire) == nil }) {
		return nil, errors.New("no key of ours fits its signature, or its claims cannot be read")
	}
	var c Claims
	if err := c.take(&std, &wire); err != nil {
		return nil, err
	}
	return &c, v.holds(&std, now)
}

// algorithms are those for which there are keys. A token of another one is not looked at, so that nobody can pass a
// public key off as a secret.
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

// keys are those that may have signed: for HS256 the secrets alone, for the others keys of the set alone, of just this
// algorithm. The kid is compared and used for nothing else.
func (v *verifier) keys(ctx context.Context, algorithm, kid string, now time.Time) ([]any, error) {
	if algorithm == string(jose.HS256) {
		var keys []any
		for _, s := range v.secrets {
			keys = append(keys, s)
		}
		return keys, nil
	}
	if v.set == nil {
		return nil, errors.New("there is no key set")
	}
	return v.set.keys(ctx, jose.SignatureAlgorithm(algorithm), kid, now)
}

// holds checks the registered claims.
func (v *verifier) holds(c *jwt.Claims, now time.Time) error {
	switch {
	case c.Expiry == nil:
		return errors.New("it has no exp")
	case c.ID == "":
		return errors.New("it has no jti")
	case !c.Audience.Contains(v.audience):
		return fmt.Errorf("its aud is not %q", v.audience)
	case len(v.issuers) > 0 && !slices.Contains(v.issuers, c.Issuer):
		return errors.New("its iss is none of ours")
	case !now.Before(c.Expiry.Time().Add(v.skew)):
		return errExpired
	case c.NotBefore != nil && now.Add(v.skew).Before(c.NotBefore.Time()):
		return errEarly
	case c.IssuedAt != nil && now.Add(v.skew).Before(c.IssuedAt.Time()):
		return errEarly
	case c.Expiry.Time().Sub(now) > v.lifeMax+v.skew:
		return fmt.Errorf("it is valid for more than %v; a call token is short-lived", v.lifeMax)
	}
	return nil
}
