package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.uber.org/zap"

	"github.com/voicegw/voicegw/voicenets"
)

// addServeFlags gives verify the flags of serve. Its help shows --config alone.
func addServeFlags(cmd *cobra.Command) {
	addSettingFlags(cmd)
	for _, s := range settings() {
		cmd.Flags().Lookup(s.flag()).Hidden = true
	}
}

// serveFlag is a flag of serve on a command line, or "".
func serveFlag(flags *pflag.FlagSet) string {
	if flags.Changed("config") {
		return "config"
	}
	for _, s := range settings() {
		if flags.Changed(s.flag()) {
			return s.flag()
		}
	}
	return ""
}

// serveVariable reports whether the environment has settings of serve, or names a file of them.
func serveVariable(environ []string) bool {
	env := environment(environ)
	if env[envPrefix+"CONFIG"] != "" {
		return true
	}
	for _, s := range settings() {
		if _, ok := env[s.env()]; ok {
			return true
		}
	}
	return false
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
	return flag != "" || len(args) == 0 && !c.mutate && serveVariable(os.Environ()), nil
}

// runConfigured proves the nets of a serve with the settings of flags, environment and file.
func (c *fileCheck) runConfigured(cmd *cobra.Command) error {
	o, err := configure(cmd.Flags(), os.Environ())
	if err != nil {
		return err
	}
	m, err := openModel(o)
	if err != nil {
		return err
	}
	defer func() { _ = m.close() }()
	s, err := newServing(o, m, zap.NewNop())
	if err != nil {
		return &usageError{err}
	}
	defer func() { _ = s.gw.Close() }()
	proofs, err := s.gw.Verify(cmd.Context(), voicenets.Prover{Anew: true, Now: stopwatch()})
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
