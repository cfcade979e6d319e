package access

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// SecretLenMin is the least length of a shared secret in bytes (RFC 7518 section 3.2).
const SecretLenMin = 32

// Mint returns a token with the claims c, signed with a shared secret (HS256). It returns an error
// if the secret is shorter than SecretLenMin, if ID or Expiry is not set, or if a claim is out of
// range.
func Mint(secret []byte, c Claims) (string, error) {
	token, err := mint(secret, c)
	if err != nil {
		return "", fmt.Errorf("access: mint token: %w", err)
	}
	return token, nil
}

func mint(secret []byte, c Claims) (string, error) {
	switch {
	case len(secret) < SecretLenMin:
		return "", fmt.Errorf("the secret has %d bytes, want at least %d", len(secret), SecretLenMin)
	case c.ID == "":
		return "", errors.New("Claims.ID is empty, want a unique text")
	case c.Expiry.IsZero():
		return "", errors.New("Claims.Expiry is not set")
	}
	if err := c.check(); err != nil {
		return "", err
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: secret},
		new(jose.SignerOptions).WithType("JWT"))
	if err != nil {
		return "", err
	}
	return jwt.Signed(signer).Claims(c.registered()).Claims(c.wire()).Serialize()
}

func (c *Claims) registered() jwt.Claims {
	audience := c.Audience
	if audience == "" {
		audience = AudienceDefault
	}
	return jwt.Claims{ID: c.ID, Issuer: c.Issuer, Subject: c.Subject, Audience: jwt.Audience{audience},
		Expiry: numeric(c.Expiry), NotBefore: numeric(c.NotBefore), IssuedAt: numeric(c.IssuedAt)}
}

func numeric(t time.Time) *jwt.NumericDate {
	if t.IsZero() {
		return nil
	}
	return jwt.NewNumericDate(t)
}

// wire returns the private claims.
func (c *Claims) wire() map[string]any {
	p := private{Tenant: c.Tenant, Model: c.Model, Instructions: c.Instructions, Language: c.Language,
		CallS: int(c.CallMax / time.Second), Connections: c.Connections, Limits: privateLimits(c.Limits)}
	if c.Tools != nil {
		p.Tools = &c.Tools
	}
	if c.Session != nil {
		p.Session = &c.Session
	}
	if c.Scopes != nil {
		p.Scopes = &c.Scopes
	}
	return map[string]any{"voicegw": p}
}
