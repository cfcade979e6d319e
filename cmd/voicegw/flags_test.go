package main

import (
	"flag"
	"testing"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/settings"
)

// update rewrites what is made from the code: go test ./cmd/voicegw -run Fresh -update
var update = flag.Bool("update", false, "rewrite the drawing in docs")

// configured is what serve makes of a file, "" for none, an environment and flags.
func configured(t *testing.T, file string, env []string, args ...string) (*settings.Settings, error) {
	t.Helper()
	cmd := &cobra.Command{Use: "serve"}
	addSettingFlags(cmd, settings.Rows())
	if file != "" {
		args = append(args, "--config", writeFile(t, "voicegw.yaml", []byte(file)))
	}
	if err := cmd.ParseFlags(args); err != nil {
		return nil, flagError(cmd, err)
	}
	return configure(cmd.Flags(), env)
}

// TestBadConfigurationEndsServe wants all mistakes at once, on stderr, and exit code 2.
func TestBadConfigurationEndsServe(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "voicegw.yaml", []byte("listne: ':1'\ntiming:\n  frame_gap: 5 s\n"))
	r := command(t, []string{"VOICEGW_SHOW_NETS=yes", "VOICEGW_CONFIG=" + file}, "serve", "--calls-max", "0")
	r.want(t, exitUsage, "voicegw serve: 4 settings are wrong",
		`listne, with ":1" (from voicegw.yaml:1), is not a setting; did you mean listen?`,
		`timing.frame_gap is "5 s" (from voicegw.yaml:3); want a length of time from 150ms to 2s, such as 300ms`,
		`VOICEGW_SHOW_NETS, with "yes" (from the environment), is not a setting; did you mean VOICEGW_SHOW_NET?`,
		`calls_max is "0" (from --calls-max); want a whole number from 1 to 100000`)
	if r.stdout != "" {
		t.Errorf("on stdout: %q", r.stdout)
	}
	tools := writeFile(t, "tools.json", []byte(`[{"name": "two words"}]`))
	for _, c := range []struct {
		args []string
		word string
	}{
		{[]string{"serve", "--listn", ":0"}, "did you mean --listen?"},
		{[]string{"serve", "now"}, `not "now"`},
		{[]string{"serve", "--show-net", "false"}, "--show-net=false"},
		{[]string{"serve", "--session-tools-file", tools}, "session.tools_file " + tools + ": "},
		{[]string{"serve", "--endpoints", "twilio", "--twilio-secret-file", "nope"}, "endpoint twilio: twilio.secret_file"},
		{[]string{"srve"}, "did you mean serve?"},
		{[]string{"dance"}, "the commands are agents, bench, call"},
		{[]string{"sim", "--listen", "0.0.0.0:0"}, "loopback"},
		{[]string{"sim", "--speed", "0"}, "0.1 to 1000"},
		{[]string{"sim", "--latency", "1h"}, "10s"},
		{[]string{"net", "sesion"}, "did you mean session?"},
		{[]string{"net", "--format", "png"}, "one of dot, svg, json, pnml, tina"},
		{[]string{"net", "session", "session"}, "one net"},
		{[]string{"verify", "x"}, "the nets are session,"},
	} {
		command(t, nil, c.args...).want(t, exitUsage, c.word, "--help` says more")
	}
}
