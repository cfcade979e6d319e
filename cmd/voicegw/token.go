package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/access"
)

// tokenOptions are the flags of `voicegw token`.
type tokenOptions struct {
	claims  access.Claims
	life    time.Duration
	tools   []string
	noTools bool
}

func tokenCommand() *cobra.Command {
	var o tokenOptions
	cmd := &cobra.Command{
		Use:   "token",
		Short: "make a call token",
		Long: "token prints a token that lets one call in, at a gateway whose access.secret_file, or\n" +
			secretVariable + ", has the same secret. The secret comes from the file or the variable, never from a\n" +
			"flag. A token is used up by the first call; it says until when that may begin, and what it may do.\n" +
			"docs/access.md explains the claims.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := configure(cmd.Flags(), os.Environ())
			if err != nil {
				return err
			}
			return mintToken(c, o, time.Now(), cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.DurationVar(&o.life, "life", time.Minute, "how long the call may still begin, at most 24h; a gateway takes 1h")
	f.StringVar(&o.claims.Tenant, "tenant", "", "whose limits the call counts against")
	f.StringVar(&o.claims.Subject, "subject", "", "who calls, within the tenant")
	f.StringVar(&o.claims.Issuer, "issuer", "", "who says so")
	f.StringVar(&o.claims.Model, "model", "", "the model (default the gateway's)")
	f.StringVar(&o.claims.Instructions, "instructions", "",
		"the name of configured instructions (default what the call asks for)")
	f.StringVar(&o.claims.Language, "language", "", "a BCP 47 tag (default what the call asks for)")
	f.DurationVar(&o.claims.CallMax, "call-max", 0,
		"the longest the call may last, in whole seconds (default the gateway's)")
	f.StringSliceVar(&o.tools, "tools", nil, "the tools the call may use (default all)")
	f.BoolVar(&o.noTools, "no-tools", false, "the call may use no tools")
	f.IntVar(&o.claims.Limits.Calls, "calls", 0, "calls of the subject at one time (default no limit)")
	f.IntVar(&o.claims.Limits.CallsPerMinute, "calls-per-minute", 0, "calls of the subject that begin (default no limit)")
	f.Int64Var(&o.claims.Limits.BytesPerMinute, "bytes-per-minute", 0, "bytes of the subject's audio (default no limit)")
	var some []setting
	for _, s := range accessSettings() {
		if s.key == "access.secret_file" || s.key == "access.audience" {
			some = append(some, s)
		}
	}
	addFlags(cmd, some)
	return cmd
}

// mintToken prints a token.
func mintToken(c *options, o tokenOptions, now time.Time, stdout io.Writer) error {
	const lifeMax = 24 * time.Hour
	switch {
	case len(c.access.secrets) == 0:
		return usagef("there is no secret to sign with: give --access-secret-file, or %s in the environment", secretVariable)
	case o.life < time.Second || o.life > lifeMax:
		return usagef("--life is %v; 1s to %v are possible", o.life, lifeMax)
	case o.noTools && len(o.tools) > 0:
		return usagef("--no-tools and --tools contradict each other")
	}
	claims := o.claims
	claims.ID, claims.IssuedAt, claims.Expiry, claims.Audience = rand.Text(), now, now.Add(o.life), c.access.audience
	if claims.Tools = o.tools; o.noTools {
		claims.Tools = []string{}
	}
	token, err := access.Mint(c.access.secrets[0], claims)
	if err != nil {
		return usagef("%s", strings.TrimPrefix(err.Error(), "access: mint token: "))
	}
	_, err = fmt.Fprintln(stdout, token)
	return err
}
