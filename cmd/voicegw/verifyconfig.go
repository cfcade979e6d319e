package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.uber.org/zap"

	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/voicenets/claims"
	"github.com/voicegw/voicegw/voicenets/prove"
)

// addServeFlags gives verify the flags of serve. Its help shows --config alone.
func addServeFlags(cmd *cobra.Command) {
	addSettingFlags(cmd, settings.Rows())
	for _, s := range settings.Rows() {
		cmd.Flags().Lookup(s.Flag()).Hidden = true
	}
}

// serveFlag is a flag of serve on a command line, or "".
func serveFlag(flags *pflag.FlagSet) string {
	if flags.Changed("config") {
		return "config"
	}
	for _, s := range settings.Rows() {
		if flags.Changed(s.Flag()) {
			return s.Flag()
		}
	}
	return ""
}

// configured reports whether the nets of a serve with settings are meant, not one by name.
func (c *fileCheck) configured(flags *pflag.FlagSet, args []string) (bool, error) {
	flag := serveFlag(flags)
	switch {
	case flag != "" && len(args) > 0:
		return false, usagef("--%s is for the nets of a serve with these settings; leave %s out", flag, args[0])
	case flag != "" && c.mutate:
		return false, usagef("--mutate is for the nets of a serve without settings; leave --%s out", flag)
	}
	return flag != "" || len(args) == 0 && !c.mutate && settings.Given(os.Environ()), nil
}

// runConfigured proves the nets of a serve with the settings of flags, environment and file.
func (c *fileCheck) runConfigured(cmd *cobra.Command) error {
	chosen, err := configure(cmd.Flags(), os.Environ())
	if err != nil {
		return err
	}
	m, err := openModel(chosen)
	if err != nil {
		return err
	}
	defer func() { _ = m.close() }()
	s, err := newServing(chosen, m, zap.NewNop())
	if err != nil {
		return &usageError{err}
	}
	defer func() { _ = s.gw.Close() }()
	spendMemory()
	proofs, err := prove.Verdicts(cmd.Context(), claims.Prover{Anew: true, Now: stopwatch()}, s.gw.Nets()...)
	if err != nil {
		return stopped(err)
	}
	v := newVerdicts(c, cmd.OutOrStdout())
	for _, p := range proofs {
		if err := v.add(shippedNet{p.Name, "a call of a serve with these settings", p.Config}, p); err != nil {
			return err
		}
	}
	return v.finish()
}
