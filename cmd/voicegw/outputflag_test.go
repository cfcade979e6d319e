package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/settings"
)

// withoutOutput are the commands without -o, and why.
func withoutOutput() map[string]string {
	return map[string]string{
		"voicegw completion":      "prints a script for a shell",
		"voicegw config schema":   "prints JSON anyway",
		"voicegw workflow schema": "prints JSON anyway",
		"voicegw workflow graph":  "draws: --format has the formats",
		"voicegw workflow init":   "writes files",
		"voicegw calls export":    "writes a file",
		"voicegw help":            "is for people",
	}
}

// leaves are the commands that do something, those below cmd too.
func leaves(cmd *cobra.Command) (list []*cobra.Command) {
	for _, c := range cmd.Commands() {
		if c.Hidden {
			continue
		}
		if below := leaves(c); len(below) > 0 {
			list = append(list, below...)
		} else {
			list = append(list, c)
		}
	}
	return list
}

// TestEveryCommandPrintsJSON walks all commands: each has -o json, the same as --json, or a reason why not.
func TestEveryCommandPrintsJSON(t *testing.T) {
	t.Parallel()
	reasons := withoutOutput()
	list := leaves(rootCommand())
	for _, cmd := range list {
		path, flag := cmd.CommandPath(), cmd.Flags().Lookup("output")
		if _, ok := reasons[path]; ok {
			if delete(reasons, path); flag != nil {
				t.Errorf("%s has -o; withoutOutput says that it has not", path)
			}
			continue
		}
		if flag == nil || flag.Shorthand != "o" || cmd.Flags().Lookup("json") == nil {
			t.Errorf("%s has no -o and --json: call outputFlag, or say in withoutOutput why not", path)
			continue
		}
		err := cmd.Flags().Parse([]string{"-o", "jsno"})
		if err == nil || !strings.Contains(err.Error(), "want text or json") {
			t.Errorf("%s -o jsno: %v", path, err)
		}
	}
	if len(list) < 25 || len(reasons) > 0 {
		t.Errorf("%d commands, and none of these: %v", len(list), reasons)
	}
}

// TestOutputJSON runs the commands that need no server, and reads what they print.
func TestOutputJSON(t *testing.T) {
	t.Parallel()
	_, _, archive := mutedCall(t)
	env := []string{settings.SecretVariable + "=" + strings.Repeat("s", 40)}
	for _, c := range []struct {
		args string
		code int
		want string // in one of the fields
	}{
		{"version", 0, `"protocol":`},
		{"token --tenant acme", 0, `"expires":"20`},
		{"net --list", 0, `"name":"session","places":`},
		{"net session/digits", 0, `"transitions":`},
		{"sim --scenarios", 0, `"about":`},
		{"config check " + writeFile(t, "voicegw.yaml", []byte("voice: Puck\n")), 0, `"status":"ok"`},
		{"workflow list --dir " + t.TempDir(), 0, `[]`},
		{"replay " + archive, exitOpen, `"incomplete":"it ends at 1s`},
		{"replay --at 1s " + archive, 0, `"input_gate/muted":1`},
	} {
		args := append(strings.Fields(c.args), "-o", "json")
		r := command(t, env, args...)
		var v any
		if err := json.Unmarshal([]byte(r.stdout), &v); r.code != c.code || err != nil ||
			!strings.Contains(strings.ReplaceAll(r.stdout, ": ", ":"), c.want) {
			t.Errorf("%s: exit code %d, %v, %.300s %s; want %s", c.args, r.code, err, r.stdout, r.stderr, c.want)
		}
	}
	command(t, nil, "net", "session", "--format", "svg", "-o", "json").want(t, exitUsage, "contradict each other")
	command(t, nil, "replay", archive, "--step", "-o", "json").want(t, exitUsage, "--step is for people")
}
