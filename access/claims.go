package access

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	josejson "github.com/go-jose/go-jose/v4/json"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/voicegw/voicegw/transport"
)

// Claims are the contents of a call token: the registered claims of RFC 7519, and the members of
// the private claim "voicegw". Issuer, Subject, Tenant and Model have at most 128 bytes each.
type Claims struct {
	ID        string    // jti: unique among the tokens of an issuer; at most 128 bytes
	Issuer    string    // iss
	Audience  string    // aud; Mint writes AudienceDefault if it is empty
	Subject   string    // sub: the caller, within the tenant
	IssuedAt  time.Time // iat
	NotBefore time.Time // nbf
	Expiry    time.Time // exp: until when the call may begin

	// Tenant is the customer whose limits apply.
	Tenant string
	// Model is the model of the call; "" leaves it to the gateway.
	Model string
	// Instructions names configured instructions; "" leaves them to the hello.
	Instructions string
	// Language is a BCP 47 tag; "" leaves it to the hello.
	Language string
	// CallMax is the longest duration of the call, in whole seconds up to 24 h; 0 leaves it to the
	// gateway.
	CallMax time.Duration
	// Connections is how many connections the token is good for, one after the other or at once, at
	// most 100: for a client that connects again by itself with the same token. 0 means 1.
	Connections int
	// Tools are the names of the tools that the call may use, at most 128. Nil allows all, an empty
	// slice none.
	Tools []string
	// Session are the settings of its own session that the client may choose, out of SessionSettings.
	// Nil leaves it to the gateway's rules, an empty slice allows none.
	Session []string
	// Scopes are what the token is good for, out of Scopes. Nil means calls alone.
	Scopes []string
	// Limits are the limits of the subject. Tokens of a tenant without a subject share them if their
	// Limits are equal.
	Limits Limits
}

// prescribe writes the instructions and the language of the token into a hello.
func (c *Claims) prescribe(h *transport.Hello) {
	if c.Instructions != "" {
		h.Instructions = c.Instructions
	}
	if c.Language != "" {
		h.Language = c.Language
	}
}

// AudienceDefault is the aud of a token if nothing else is configured.
const AudienceDefault = "voicegw"

// SessionSettings are the possible entries of Claims.Session.
var SessionSettings = []string{"activity", "generation", "instructions", "model", "tools", "voice"}

// The scopes of tokens.
const (
	ScopeCalls    = "calls"    // calls, within the limits of the token
	ScopeControl  = "control"  // control of the calls of the tenant; without a tenant, of all calls
	ScopeSessions = "sessions" // agents and sessions of the tenant; with a subject, sessions of the subject alone
)

// Scopes are the possible entries of Claims.Scopes.
var Scopes = []string{ScopeCalls, ScopeControl, ScopeSessions}

// may reports whether the token is good for something.
func (c *Claims) may(scope string) bool {
	if c.Scopes == nil {
		return scope == ScopeCalls
	}
	return slices.Contains(c.Scopes, scope)
}

const (
	idLenMax       = 128
	nameLenMax     = 128
	toolsMax       = 128
	connectionsMax = 100
	callSecondsMax = 24 * 60 * 60
)

// private is the claim "voicegw".
type private struct {
	Tenant       string        `json:"tenant,omitempty"`
	Model        string        `json:"model,omitempty"`
	Instructions string        `json:"instructions,omitempty"`
	Language     string        `json:"language,omitempty"`
	CallS        int           `json:"call_s,omitempty"`
	Connections  int           `json:"connections,omitempty"`
	Tools        *[]string     `json:"tools,omitempty"`
	Session      *[]string     `json:"session,omitempty"`
	Scopes       *[]string     `json:"scopes,omitempty"`
	Limits       privateLimits `json:"limits,omitzero"`
}

type privateLimits struct {
	Calls          int   `json:"calls,omitempty"`
	CallsPerMinute int   `json:"calls_per_minute,omitempty"`
	BytesPerMinute int64 `json:"bytes_per_minute,omitempty"`
}

// onTheWire holds the private claim of a token. Private claims of others are ignored.
type onTheWire struct {
	Private json.RawMessage `json:"voicegw"`
}

// take copies the claims of a token whose signature was verified.
func (c *Claims) take(std *jwt.Claims, wire *onTheWire) error {
	*c = Claims{ID: std.ID, Issuer: std.Issuer, Subject: std.Subject, IssuedAt: std.IssuedAt.Time(),
		NotBefore: std.NotBefore.Time(), Expiry: std.Expiry.Time()}
	var p private
	if len(wire.Private) > 0 {
		d := json.NewDecoder(bytes.NewReader(wire.Private))
		d.DisallowUnknownFields() // a misspelt limit must not mean no limit
		if err := d.Decode(&p); err != nil {
			return fmt.Errorf("claim voicegw: %w", err)
		}
		if !exactNames(wire.Private) {
			return errors.New("claim voicegw: a member is written in another case, or twice")
		}
	}
	c.Tenant, c.Model, c.Instructions, c.Language = p.Tenant, p.Model, p.Instructions, p.Language
	c.Limits = Limits(p.Limits)
	if p.CallS < 0 || p.CallS > callSecondsMax {
		return fmt.Errorf("claim voicegw.call_s is %d, want 0 to %d", p.CallS, callSecondsMax)
	}
	c.CallMax = time.Duration(p.CallS) * time.Second
	c.Connections = p.Connections
	if p.Tools != nil {
		c.Tools = append([]string{}, *p.Tools...)
	}
	if p.Session != nil {
		c.Session = append([]string{}, *p.Session...)
	}
	if p.Scopes != nil {
		c.Scopes = append([]string{}, *p.Scopes...)
	}
	return c.check()
}

// exactNames reports whether each member of the claim has its exact name, and no member comes
// twice. encoding/json ignores the case of names and takes the last of two equal ones; which tenant
// pays must not depend on that.
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
		case "tenant", "model", "instructions", "language", "call_s", "connections", "tools", "session", "scopes",
			"limits":
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

// check returns an error for a claim that is out of range.
func (c *Claims) check() error {
	switch {
	case len(c.ID) > idLenMax:
		return fmt.Errorf("claim jti has %d bytes, want at most %d", len(c.ID), idLenMax)
	case len(c.Issuer) > nameLenMax || len(c.Subject) > nameLenMax || len(c.Tenant) > nameLenMax ||
		len(c.Model) > nameLenMax:
		return fmt.Errorf("claim iss, sub, voicegw.tenant or voicegw.model has more than %d bytes", nameLenMax)
	case len(c.Instructions) > transport.InstructionsLenMax:
		return fmt.Errorf("claim voicegw.instructions has more than %d bytes", transport.InstructionsLenMax)
	case len(c.Language) > transport.LanguageLenMax:
		return fmt.Errorf("claim voicegw.language has more than %d bytes", transport.LanguageLenMax)
	case c.CallMax%time.Second != 0 || c.CallMax < 0 || c.CallMax > callSecondsMax*time.Second:
		return fmt.Errorf("CallMax is %v, want whole seconds up to 24h", c.CallMax)
	case c.Connections < 0 || c.Connections > connectionsMax:
		return fmt.Errorf("claim voicegw.connections is %d, want 0 to %d", c.Connections, connectionsMax)
	case len(c.Tools) > toolsMax:
		return fmt.Errorf("claim voicegw.tools has %d names, want at most %d", len(c.Tools), toolsMax)
	}
	for _, name := range c.Session {
		if !slices.Contains(SessionSettings, name) {
			return fmt.Errorf("claim voicegw.session names %.40q, want some of %s", name, strings.Join(SessionSettings, ", "))
		}
	}
	for _, name := range c.Scopes {
		if !slices.Contains(Scopes, name) {
			return fmt.Errorf("claim voicegw.scopes names %.40q, want some of %s", name, strings.Join(Scopes, ", "))
		}
	}
	return c.Limits.check("the token")
}

// uses is how many connections the token is good for.
func (c *Claims) uses() int { return max(1, c.Connections) }

// subjectKey names the quota of the subject. Tokens with other limits have another one.
func (c *Claims) subjectKey() string {
	return fmt.Sprintf("%s\x00%s\x00%d %d %d", c.Tenant, c.Subject, c.Limits.Calls, c.Limits.CallsPerMinute,
		c.Limits.BytesPerMinute)
}
