package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// outputFlag adds -o to a command that prints text for people, or JSON for programs. --json is the
// same as -o json.
func outputFlag(cmd *cobra.Command, asJSON *bool, doc string) {
	cmd.Flags().VarP(&outputFormat{asJSON}, "output", "o", "text, or json: "+doc)
	cmd.Flags().BoolVar(asJSON, "json", false, "the same as -o json")
	complete(cmd, "output", "text", "json")
}

// outputFormat is the value of -o.
type outputFormat struct{ json *bool }

// String returns the format.
func (f *outputFormat) String() string {
	if f.json != nil && *f.json {
		return "json"
	}
	return "text"
}

// Set takes text or json.
func (f *outputFormat) Set(s string) error {
	if s != "text" && s != "json" {
		return fmt.Errorf("want text or json")
	}
	*f.json = s == "json"
	return nil
}

// Type returns a word for --help.
func (f *outputFormat) Type() string { return "format" }

// printJSON prints a value as one line of JSON.
func printJSON(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }
