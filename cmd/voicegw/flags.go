package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/voicegw/voicegw/settings"
)

// addSettingFlags adds flags for the settings of rows, and --config. Their values stay text until
// configure reads them.
func addSettingFlags(cmd *cobra.Command, rows []settings.Row) {
	for _, r := range rows {
		f := cmd.Flags().VarPF(&textFlag{kind: r.Kind}, r.Flag(), "", fmt.Sprintf("%s (default %s)", r.Doc, r.Default))
		if r.Kind == settings.Bool {
			f.NoOptDefVal = "true"
		}
		completeSetting(cmd, r)
	}
	cmd.Flags().Var(&textFlag{kind: "file"}, "config",
		"a YAML file of settings (environment: "+settings.ConfigVariable+")")
	cmd.Flags().SortFlags = false
}

// textFlag is a flag's value as it was typed.
type textFlag struct {
	kind settings.Kind
	text string
}

// String returns the text.
func (f *textFlag) String() string { return f.text }

// Set keeps the text.
func (f *textFlag) Set(s string) error { f.text = s; return nil }

// Type returns a word for --help.
func (f *textFlag) Type() string { return string(f.kind) }

// configure reads the settings from the file, the environment and the flags of a command.
func configure(flags *pflag.FlagSet, environ []string) (*settings.Settings, error) {
	from := settings.Sources{Environ: environ, Flags: map[string]string{}}
	flags.Visit(func(f *pflag.Flag) {
		if f.Name == "config" {
			from.File = f.Value.String()
		} else if _, ok := f.Value.(*textFlag); ok {
			from.Flags[f.Name] = f.Value.String()
		}
	})
	s, err := settings.Read(from)
	if err != nil {
		return nil, &usageError{err}
	}
	if s.ReusePort && !canReusePort {
		return nil, usagef("reuse_port is true; this system cannot share an address")
	}
	return s, nil
}

// makeArchives makes the directory for archives, unless it is "", for its owner alone.
func makeArchives(setting, dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return usagef("%s is %q; want a directory that can be written: %w", setting, dir, err)
	}
	return nil
}
