package main

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/access"
)

// accessOptions are who may call.
type accessOptions struct {
	secretFile, jwks, audience string
	issuers                    []string
	optional, reuse            bool
	address, tenant            access.Limits
	cpuMax                     int // percent
	lateMax                    time.Duration
	secrets                    [][]byte // of VOICEGW_ACCESS_SECRET or the file
}

// secretVariable holds a shared secret in the environment.
const secretVariable = envPrefix + "ACCESS_SECRET"

// wanted reports whether every caller must show a token.
func (a *accessOptions) wanted() bool { return (len(a.secrets) > 0 || a.jwks != "") && !a.optional }

func accessSettings() []setting {
	const secret = "a file with a secret of at least 32 bytes a line, the newest first"
	return []setting{
		textSetting("access.secret_file", "none", "the path of "+secret,
			secret+", that signs call tokens (HS256), in place of "+secretVariable,
			func(o *options) *string { return &o.access.secretFile }, nil),
		textSetting("access.jwks", "none", "https://..., or http://... on this machine",
			"where the public keys are of those who sign call tokens (RS256, ES256, EdDSA)",
			func(o *options) *string { return &o.access.jwks }, isKeySet),
		textSetting("access.audience", access.AudienceDefault, "a text", "what must be among the aud of a call token",
			func(o *options) *string { return &o.access.audience }, nil),
		listSetting("access.issuers", "texts, none of them empty",
			"the iss that a call token may have; none allows all that a key fits",
			func(o *options) *[]string { return &o.access.issuers },
			func(list []string) bool { return !slices.Contains(list, "") }),
		boolSetting("access.optional", "false", "let callers in who show no token",
			func(o *options, b bool) { o.access.optional = b }),
		boolSetting("access.reuse", "false", "let a call token be used for more than one call",
			func(o *options, b bool) { o.access.reuse = b }),
		numberSetting("access.address_calls", 0, 0, 10_000, "calls of one network address at one time; 0: no limit",
			func(o *options) *int { return &o.access.address.Calls }),
		numberSetting("access.address_calls_per_minute", 0, 0, 6_000, "calls of one address that begin; 0: no limit",
			func(o *options) *int { return &o.access.address.CallsPerMinute }),
		bytesSetting("access.address_bytes_per_minute", "bytes of audio of one address, both ways; 0: no limit",
			func(o *options) *int64 { return &o.access.address.BytesPerMinute }),
		numberSetting("access.tenant_calls", 0, 0, 10_000, "calls of one tenant at one time; 0: no limit",
			func(o *options) *int { return &o.access.tenant.Calls }),
		numberSetting("access.tenant_calls_per_minute", 0, 0, 6_000, "calls of one tenant that begin; 0: no limit",
			func(o *options) *int { return &o.access.tenant.CallsPerMinute }),
		bytesSetting("access.tenant_bytes_per_minute", "bytes of audio of one tenant, both ways; 0: no limit",
			func(o *options) *int64 { return &o.access.tenant.BytesPerMinute }),
		numberSetting("access.cpu_max", 85, 10, 200, "percent of the processors; above it new calls are told to come "+
			"back later; over 100: never", func(o *options) *int { return &o.access.cpuMax }),
		timeSetting("access.late_max", 100*time.Millisecond, 5*time.Millisecond, time.Minute,
			"how late timers, and what nets hand over, may be; above it new calls are told to come back later",
			func(o *options) *time.Duration { return &o.access.lateMax }),
	}
}

// bytesSetting is a number of bytes per minute, 0 for no limit.
func bytesSetting(key, doc string, field func(*options) *int64) setting {
	const least, most = 60, 1_000_000_000
	var n int
	s := numberSetting(key, 0, 0, most, doc, func(*options) *int { return &n })
	s.want = fmt.Sprintf("0, or a whole number from %d to %d", least, most)
	s.store = func(o *options, v value) bool {
		var n int
		ok := numberSetting(key, 0, 0, most, doc, func(*options) *int { return &n }).store(o, v)
		*field(o) = int64(n)
		return ok && (n == 0 || n >= least)
	}
	return s
}

func isKeySet(s string) bool {
	_, err := access.NewJWKS(access.JWKSConfig{URL: s})
	return s == "" || err == nil
}

// readSecrets finds the secrets that sign tokens. A flag or variable that names a file goes before the variable that
// holds a secret, the file's own goes behind: as with the API key.
func (c *configuration) readSecrets(env map[string]string, o *options) {
	a := &o.access
	text := env[secretVariable]
	fromFileOnly := c.given["access.secret_file"].from.rank == fromFile
	from := secretVariable
	if a.secretFile != "" && (text == "" || !fromFileOnly) {
		var err error
		if text, err = readSmall(a.secretFile); err != nil {
			c.refuse("access.secret_file", fmt.Sprintf("a file that can be read: %v", err))
			return
		}
		from = "access.secret_file"
		o.warnReadable(from, a.secretFile)
	}
	if text == "" && a.secretFile == "" {
		return
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			a.secrets = append(a.secrets, []byte(line))
		}
	}
	if _, err := access.New(access.Config{Secrets: a.secrets}); err == nil && len(a.secrets) > 0 {
		return
	}
	want := fmt.Sprintf("one to eight secrets of at least %d bytes, one a line; `openssl rand -hex 32` makes one",
		access.SecretLenMin)
	if from == secretVariable {
		c.wrong = append(c.wrong, errors.New(secretVariable+" is a value not shown here; want "+want))
		return
	}
	c.refuse("access.secret_file", want)
}

// guard is who decides who may call, and the load it looks at.
func (o *options) guard() (*access.Guard, *access.Load, error) {
	a := &o.access
	load, err := access.NewLoad(access.LoadConfig{CPUMax: float64(a.cpuMax) / 100, LateMax: a.lateMax})
	if err != nil {
		return nil, nil, err
	}
	cfg := access.Config{Secrets: a.secrets, Audience: a.audience, Issuers: a.issuers, Optional: a.optional,
		Reuse: a.reuse, Address: a.address, Tenant: a.tenant, Load: load}
	if a.jwks != "" {
		if cfg.JWKS, err = access.NewJWKS(access.JWKSConfig{URL: a.jwks}); err != nil {
			return nil, nil, err
		}
	}
	g, err := access.New(cfg)
	return g, load, err
}

// onLoopback reports whether a host is this machine as it names itself: a page of a foreign name that was made to lead
// here is not.
func onLoopback(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = hostPort
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
