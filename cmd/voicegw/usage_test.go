package main

import "testing"

// TestUnknownCommands wants every word that is neither a command nor a net refused, wherever it stands.
func TestUnknownCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args  []string
		words []string
	}{
		{[]string{"frobnicate"}, []string{`voicegw: there is no command "frobnicate"`, "the commands are call, explore"}},
		{[]string{"verfy"}, []string{`voicegw: there is no command "verfy"`, "did you mean verify?"}},
		{[]string{"help", "frobnicate"}, []string{`there is no command "frobnicate"`, "the commands are call, explore"}},
		{[]string{"help", "verfy"}, []string{`there is no command "verfy"`, "did you mean verify?"}},
		{[]string{"net", "frobnicate"}, []string{`voicegw net: there is no net "frobnicate"`, "the nets are session"}},
		{[]string{"net", "sesion"}, []string{`voicegw net: there is no net "sesion"`, "did you mean session?"}},
		{[]string{"verify", "frobnicate"}, []string{`voicegw verify: there is no net "frobnicate"`, "the nets are session"}},
		{[]string{"verify", "sesion"}, []string{`voicegw verify: there is no net "sesion"`, "did you mean session?"}},
		{[]string{"serve", "frobnicate"}, []string{`voicegw serve: it takes flags only, not "frobnicate"`}},
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
