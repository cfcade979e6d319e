package access

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// SecretLenMin is the least length of a shared secret in bytes: that of the hash (RFC 7518 section 3.2).
const SecretLenMin = 32

// Mint makes a token that is signed with a shared secret (HS256). ID and Expiry must be set.
func Mint(secret []byte, c Claims) (string, error) {
	switch {
	case len(secret) < SecretLenMin:
		return "", fmt.Errorf("access: mint token: the secret has %d bytes; at least %d are needed", len(secret),
			SecretLenMin)
	case c.ID == "":
		return "", errors.New("access: mint token: Claims.ID is empty; it must be unique")
	case c.Expiry.IsZero():
		return "", errors.New("access: mint token: Claims.Expiry is not set")
	}
	if err := c.check(); err != nil {
		return "", fmt.Errorf("access: mint token: %w", err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: secret},
		new(jose.SignerOptions).WithType("JWT"))
	if err != nil {
		return "", fmt.Errorf("access: mint token: %w", err)
	}
	s, err := jwt.Signed(signer).Claims(c.registered()).Claims(c.wire()).Serialize()
	if err != nil {
		return "", fmt.Errorf("access: mint token: %w", err)
	}
	return s, nil
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

// wire is the claim "voicegw".
func (c *Claims) wire() map[string]any {
	p := private{Tenant: c.Tenant, Model: c.Model, Instructions: c.Instructions, Language: c.Language,
		CallS: int(c.CallMax / time.Second), Limits: privateLimits(c.Limits)}
	if c.Tools != nil {
		p.Tools = &c.Tools
	}
	return map[string]any{"voicegw": p}
}
