package main

import (
	"testing"

	"github.com/spf13/cobra"
)

// TestUnknownCommands wants every word that is neither a command nor a net refused, wherever it
// stands.
func TestUnknownCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args  []string
		words []string
	}{
		{[]string{"frobnicate"}, []string{`voicegw: there is no command "frobnicate"`,
			"the commands are agents, bench, call, calls, completion"}},
		{[]string{"verfy"}, []string{`voicegw: there is no command "verfy"`, "did you mean verify?"}},
		{[]string{"help", "frobnicate"}, []string{`there is no command "frobnicate"`,
			"the commands are agents, bench, call, calls, completion"}},
		{[]string{"help", "verfy"}, []string{`there is no command "verfy"`, "did you mean verify?"}},
		{[]string{"net", "frobnicate"}, []string{`voicegw net: there is no net "frobnicate"`, "the nets are session"}},
		{[]string{"net", "sesion"}, []string{`voicegw net: there is no net "sesion"`, "did you mean session?"}},
		{[]string{"verify", "frobnicate"}, []string{`voicegw verify: there is no net "frobnicate"`, "the nets are session"}},
		{[]string{"verify", "sesion"}, []string{`voicegw verify: there is no net "sesion"`, "did you mean session?"}},
		{[]string{"config", "scheme"}, []string{`voicegw config: there is no command "scheme"`, "did you mean schema?"}},
		{[]string{"config", "frobnicate"}, []string{`there is no command "frobnicate"`, "the commands are check, schema"}},
		{[]string{"serve", "frobnicate"}, []string{`voicegw serve: it takes only flags, not "frobnicate"`}},
	} {
		r := command(t, nil, c.args...)
		r.want(t, 2, c.words...)
		if r.stdout != "" {
			t.Errorf("%q on stdout: %q", c.args, r.stdout)
		}
	}
	for _, args := range [][]string{{"help"}, {"help", "verify"}, {"help", "net"}} {
		command(t, nil, args...).want(t, 0)
	}
}

// TestEveryCommandChecksArguments wants no command to ignore words that it does not know.
func TestEveryCommandChecksArguments(t *testing.T) {
	t.Parallel()
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		if cmd.Args == nil || cmd.ValidateArgs([]string{"frobnicate", "frobnicate", "frobnicate"}) == nil {
			t.Errorf("%s takes any words", cmd.CommandPath())
		}
		for _, c := range cmd.Commands() {
			check(c)
		}
	}
	check(rootCommand())
}
