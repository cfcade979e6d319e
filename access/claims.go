package access

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	josejson "github.com/go-jose/go-jose/v4/json"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/voicegw/voicegw/transport"
)

// Claims are what a call token says. The registered claims are those of RFC 7519; ours stand in one object, "voicegw".
type Claims struct {
	ID        string    // jti: unique for each token of an issuer; at most 128 bytes
	Issuer    string    // iss
	Audience  string    // aud; Mint puts AudienceDefault where it is empty
	Subject   string    // sub: who calls, within the tenant
	IssuedAt  time.Time // iat
	NotBefore time.Time // nbf
	Expiry    time.Time // exp: until when the call may begin

	Tenant       string        // whose quota the call counts against
	Model        string        // the model; "" leaves it to the gateway
	Instructions string        // the name of configured instructions; "" leaves it to the hello
	Language     string        // BCP 47; "" leaves it to the hello
	CallMax      time.Duration // the longest the call may last, whole seconds; 0 leaves it to the gateway
	Tools        []string      // the tools the call may use; nil: all, empty: none
	Limits       Limits        // of the subject; without a subject, of the tenant's calls with the same limits
}

// Limits of claims.
const (
	AudienceDefault = "voicegw"
	idLenMax        = 128
	nameLenMax      = 128
	toolsMax        = 128
	callSecondsMax  = 24 * 60 * 60
)

// private is the claim "voicegw".
type private struct {
	Tenant       string        `json:"tenant,omitempty"`
	Model        string        `json:"model,omitempty"`
	Instructions string        `json:"instructions,omitempty"`
	Language     string        `json:"language,omitempty"`
	CallS        int           `json:"call_s,omitempty"`
	Tools        *[]string     `json:"tools,omitempty"`
	Limits       privateLimits `json:"limits,omitzero"`
}

type privateLimits struct {
	Calls          int   `json:"calls,omitempty"`
	CallsPerMinute int   `json:"calls_per_minute,omitempty"`
	BytesPerMinute int64 `json:"bytes_per_minute,omitempty"`
}

// onTheWire holds the claims of a token besides the registered ones. What others put beside ours is ignored.
type onTheWire struct {
	Private json.RawMessage `json:"voicegw"`
}

// take reads the claims of a token whose signature is good.
func (c *Claims) take(std *jwt.Claims, wire *onTheWire) error {
	*c = Claims{ID: std.ID, Issuer: std.Issuer, Subject: std.Subject, IssuedAt: std.IssuedAt.Time(),
		NotBefore: std.NotBefore.Time(), Expiry: std.Expiry.Time()}
	var p private
	if len(wire.Private) > 0 {
		d := json.NewDecoder(bytes.NewReader(wire.Private))
		d.DisallowUnknownFields() // a misspelt limit must not be none
		if err := d.Decode(&p); err != nil {
			return fmt.Errorf("claim voicegw: %w", err)
		}
		if !exactNames(wire.Private) {
			return errors.New("claim voicegw: a name is written in another case, or stands twice")
		}
	}
	c.Tenant, c.Model, c.Instructions, c.Language = p.Tenant, p.Model, p.Instructions, p.Language
	c.Limits = Limits(p.Limits)
	if p.CallS < 0 || p.CallS > callSecondsMax {
		return fmt.Errorf("claim voicegw.call_s is %d; 0 to %d are possible", p.CallS, callSecondsMax)
	}
	c.CallMax = time.Duration(p.CallS) * time.Second
	if p.Tools != nil {
		c.Tools = append([]string{}, *p.Tools...)
	}
	return c.check()
}

// exactNames reports whether the names in the claim are written as they should be, each once. encoding/json takes names
// in any case, and the last of two: which tenant pays must not depend on that.
func exactNames(raw []byte) bool {
	var members, limits map[string]josejson.RawMessage
	if josejson.Unmarshal(raw, &members) != nil {
		return false
	}
	if l, ok := members["limits"]; ok && josejson.Unmarshal(l, &limits) != nil {
		return false
	}
	for name := range members {
		switch name {
		case "tenant", "model", "instructions", "language", "call_s", "tools", "limits":
		default:
			return false
		}
	}
	for name := range limits {
		switch name {
		case "calls", "calls_per_minute", "bytes_per_minute":
		default:
			return false
		}
	}
	return true
}

// check returns an error for a claim that no token may have.
func (c *Claims) check() error {
	switch {
	case len(c.ID) > idLenMax:
		return fmt.Errorf("claim jti has %d bytes; at most %d are possible", len(c.ID), idLenMax)
	case len(c.Issuer) > nameLenMax || len(c.Subject) > nameLenMax || len(c.Tenant) > nameLenMax ||
		len(c.Model) > nameLenMax:
		return fmt.Errorf("a name has more than %d bytes", nameLenMax)
	case len(c.Instructions) > transport.InstructionsLenMax:
		return errors.New("the name of the instructions is too long")
	case len(c.Language) > transport.LanguageLenMax:
		return errors.New("the language is too long")
	case c.CallMax%time.Second != 0 || c.CallMax < 0 || c.CallMax > callSecondsMax*time.Second:
		return fmt.Errorf("a call of at most %v is not possible; whole seconds up to a day are", c.CallMax)
	case len(c.Tools) > toolsMax:
		return fmt.Errorf("%d tools; at most %d are possible", len(c.Tools), toolsMax)
	}
	return c.Limits.check("the token")
}
