package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/settings"
)

// tokenOptions are the flags of `voicegw token`.
type tokenOptions struct {
	claims  access.Claims
	life    time.Duration
	tools   []string
	noTools bool
	session []string
	json    bool
}

func tokenCommand() *cobra.Command {
	var o tokenOptions
	cmd := &cobra.Command{
		Use:   "token",
		Short: "make a call token",
		Long: "token prints a token for one call at a gateway with the same secret. The secret comes from\n" +
			"access.secret_file or " + settings.SecretVariable + ", never from a flag. The token is valid for\n" +
			"one call, or for as many connections as --connections says. It says until when a call may begin, and\n" +
			"what it may do. docs/access.md explains the claims.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := configure(cmd.Flags(), os.Environ())
			if err != nil {
				return err
			}
			return mintToken(s, o, time.Now(), cmd.OutOrStdout())
		},
	}
	outputFlag(cmd, &o.json, "token, id and expires")
	f := cmd.Flags()
	f.DurationVar(&o.life, "life", time.Minute, "the call must begin within this time, at most 24h; a gateway accepts 1h")
	f.StringVar(&o.claims.Tenant, "tenant", "", "the tenant whose limits apply to the call")
	f.StringVar(&o.claims.Subject, "subject", "", "the caller, within the tenant")
	f.StringVar(&o.claims.Issuer, "issuer", "", "the issuer of the token")
	f.StringVar(&o.claims.Model, "model", "", "the model (default the gateway's)")
	f.StringVar(&o.claims.Instructions, "instructions", "",
		"the name of instructions of the gateway (default what the call asks for)")
	f.StringVar(&o.claims.Language, "language", "", "a BCP 47 tag (default what the call asks for)")
	f.DurationVar(&o.claims.CallMax, "call-max", 0,
		"the longest the call may last, in whole seconds (default the gateway's)")
	f.IntVar(&o.claims.Connections, "connections", 1,
		"how many connections the token is good for, at most 100: for a client that connects again by itself")
	f.StringSliceVar(&o.tools, "tools", nil, "the tools the call may use (default all)")
	f.BoolVar(&o.noTools, "no-tools", false, "the call may use no tools")
	f.StringSliceVar(&o.session, "session", nil,
		"the settings of its session that the client may choose, of "+strings.Join(access.SessionSettings, ", ")+
			", or none (default what the gateway allows)")
	f.StringSliceVar(&o.claims.Scopes, "scope", nil,
		"what the token is good for, of "+strings.Join(access.Scopes, ", ")+" (default calls)")
	f.IntVar(&o.claims.Limits.Calls, "calls", 0, "calls of the subject at one time (default no limit)")
	f.IntVar(&o.claims.Limits.CallsPerMinute, "calls-per-minute", 0,
		"calls that the subject may begin a minute (default no limit)")
	f.Int64Var(&o.claims.Limits.BytesPerMinute, "bytes-per-minute", 0,
		"bytes of the subject's audio a minute (default no limit)")
	addSettingFlags(cmd, slices.DeleteFunc(settings.Rows(), func(r settings.Row) bool {
		return r.Key != "access.secret_file" && r.Key != "access.audience"
	}))
	return cmd
}

// mintToken prints a token.
func mintToken(s *settings.Settings, o tokenOptions, now time.Time, stdout io.Writer) error {
	const lifeMax = 24 * time.Hour
	signing, err := s.Access()
	if err != nil {
		return err
	}
	switch {
	case len(signing.Secrets) == 0:
		return usagef("there is no secret to sign with; give --access-secret-file, or %s in the environment",
			settings.SecretVariable)
	case o.life < time.Second || o.life > lifeMax:
		return usagef("--life is %v; want 1s to %v", o.life, lifeMax)
	case o.noTools && len(o.tools) > 0:
		return usagef("--no-tools and --tools contradict each other")
	}
	claims := o.claims
	claims.ID, claims.IssuedAt, claims.Expiry, claims.Audience = rand.Text(), now, now.Add(o.life), signing.Audience
	if claims.Tools = o.tools; o.noTools {
		claims.Tools = []string{}
	}
	if claims.Session = o.session; len(o.session) == 1 && o.session[0] == "none" {
		claims.Session = []string{}
	}
	token, err := access.Mint(signing.Secrets[0], claims)
	if err != nil {
		return usagef("%w", errors.Unwrap(err))
	}
	if o.json {
		return printJSON(stdout, tokenJSON{Token: token, ID: claims.ID, Expires: claims.Expiry.UTC().Truncate(time.Second)})
	}
	_, err = fmt.Fprintln(stdout, token)
	return err
}

// tokenJSON is a token for programs.
type tokenJSON struct {
	Token   string    `json:"token"`
	ID      string    `json:"id"`      // jti, as the log has it
	Expires time.Time `json:"expires"` // a call must begin before
}
