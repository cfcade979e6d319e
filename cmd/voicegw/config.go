package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/settings"
)

// configCommand checks files of settings and prints their schema.
func configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "check a file of settings, or print its JSON Schema for an editor",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var asJSON bool
	check := &cobra.Command{
		Use:   "check FILE",
		Short: "read a YAML file of settings and the environment as serve does, and report every mistake",
		Args:  func(_ *cobra.Command, args []string) error { return oneFile("a YAML file of settings")(args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := settings.Read(settings.Sources{File: args[0], Environ: os.Environ()})
			if asJSON {
				return settingsResults(s, err).report(cmd.OutOrStdout(), true)
			}
			if err != nil {
				return &usageError{err}
			}
			for _, note := range s.Notes {
				fmt.Fprintln(cmd.ErrOrStderr(), note)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is valid\n", args[0])
			return err
		},
	}
	outputFlag(check, &asJSON, "the checks, as serve --check has them")
	cmd.AddCommand(check, schemaCommand())
	return cmd
}

// schemaCommand prints JSON Schemas.
func schemaCommand() *cobra.Command {
	var rules bool
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "print the JSON Schema of the YAML file",
		Long: "schema prints the JSON Schema of the YAML file. An editor with a YAML language server completes and checks\n" +
			"keys by it if the file's first line names it:\n\n" +
			"    # yaml-language-server: $schema=voicegw.schema.json",
		Example: "  voicegw config schema > voicegw.schema.json",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			schema := settings.Schema()
			if rules {
				schema = settings.RulesSchema()
			}
			_, err := cmd.OutOrStdout().Write(schema)
			return err
		},
	}
	cmd.Flags().BoolVar(&rules, "rules", false, "print the schema of the file that the setting rules names")
	return cmd
}
