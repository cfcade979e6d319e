package settings

import (
	"slices"
	"time"

	"github.com/voicegw/voicegw/access"
)

func (s *Settings) accessRows() []Row {
	const secret = "a file with a secret of at least 32 bytes a line, the newest first"
	const bytesMin, bytesMax = 60, 1_000_000_000
	a := &s.access
	limits := func(who, name string, l *access.Limits) []Row {
		return []Row{
			numberRow("access."+name+"_calls", &l.Calls, 0, 0, 10_000, "calls of one "+who+" at one time; 0: no limit"),
			numberRow("access."+name+"_calls_per_minute", &l.CallsPerMinute, 0, 0, 6_000,
				"calls that one "+who+" may begin a minute; 0: no limit"),
			numberRow("access."+name+"_bytes_per_minute", &l.BytesPerMinute, 0, bytesMin, bytesMax,
				"bytes of audio of one "+who+" a minute, both ways; 0: no limit").orZero("0"),
		}
	}
	return slices.Concat([]Row{
		fileRow("access.secret_file", &a.secretFile, "none", secret,
			secret+", that signs call tokens (HS256), in place of "+SecretVariable).reloading(),
		textRow("access.jwks", &a.jwks, "none", "https://..., or http://... on this machine",
			"the URL of the public keys that sign call tokens (RS256, ES256, EdDSA)", isKeySet),
		textRow("access.audience", &a.Audience, access.AudienceDefault, "a text", "the aud that a call token must have", nil).
			literally(),
		listRow("access.issuers", &a.Issuers, "texts, none of them empty",
			"the values of iss that a call token may have; none allows every issuer with a valid key",
			func(list []string) bool { return !slices.Contains(list, "") }),
		onRow("access.optional", &a.Optional, "admit callers without a token"),
		onRow("access.reuse", &a.Reuse, "admit more than one call with the same token"),
	}, limits("network address", "address", &a.Address), limits("tenant", "tenant", &a.Tenant), []Row{
		numberRow("access.cpu_max", &a.cpuPercentMax, 85, 10, 200,
			"processor load in percent, above which the gateway asks new callers to come back later; over 100: never"),
		timeRow("access.late_max", &a.load.LateMax, 100*time.Millisecond, 5*time.Millisecond, time.Minute,
			"lateness of timers and outputs of nets, above which the gateway asks new callers to come back later"),
	})
}

func isKeySet(s string) bool {
	_, err := access.NewJWKS(access.JWKSConfig{URL: s})
	return s == "" || err == nil
}

// TokensRequired reports whether every caller must have a token.
func (s *Settings) TokensRequired() bool {
	return (len(s.access.Secrets) > 0 || s.access.jwks != "") && !s.access.Optional
}

// Access returns the configuration of the guard that admits callers. Its Load is not running.
func (s *Settings) Access() (access.Config, error) {
	load := s.access.load
	load.CPUMax = float64(s.access.cpuPercentMax) / 100
	cfg := s.access.Config
	var err error
	if cfg.Load, err = access.NewLoad(load); err != nil {
		return cfg, err
	}
	if s.access.jwks != "" {
		cfg.JWKS, err = access.NewJWKS(access.JWKSConfig{URL: s.access.jwks})
	}
	return cfg, err
}
