package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestCompletionInBash has bash complete command lines with the script. Three functions stand for the
// package bash-completion.
func TestCompletionInBash(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"voicegw ver":                         {"verify", "version"},
		"voicegw serve --log-lev":             {"--log-level"},
		"voicegw serve --log-level ":          {"debug", "error", "info", "warn"},
		"voicegw serve --endpoints web":       {"webrtc"},
		"voicegw verify session-h":            {"session-half-duplex"},
		"voicegw verify -o ":                  {"json", "text"},
		"voicegw call --detection ":           {"gateway", "model", "push"},
		"voicegw completion ":                 {"bash", "fish", "zsh"},
		"voicegw workflow run --mod":          {"--model"},
		"voicegw serve --timing-frame-gap ":   nil,
		"voicegw serve --no-such-flag-at-all": nil,
	} {
		script := fmt.Sprintf("PATH=%q:$PATH\nsource <(voicegw completion bash)\nCOMP_LINE=%q\n"+
			"read -ra COMP_WORDS <<<\"$COMP_LINE\"\n[[ $COMP_LINE == *' ' ]] && COMP_WORDS+=('')\n"+
			"COMP_CWORD=$((${#COMP_WORDS[@]}-1)) COMP_POINT=${#COMP_LINE} COMP_TYPE=37\n"+
			"compopt() { :; }\n__ltrim_colon_completions() { :; }\n"+
			"_get_comp_words_by_ref() { cur=${COMP_WORDS[COMP_CWORD]} cword=$COMP_CWORD words=(\"${COMP_WORDS[@]}\"); }\n"+
			"__start_voicegw voicegw\nprintf '%%s\\n' \"${COMPREPLY[@]}\"", filepath.Dir(binary), line)
		out, err := exec.Command("bash", "-c", script).CombinedOutput()
		var got []string
		for _, word := range strings.Split(string(out), "\n") {
			if word, _, _ = strings.Cut(strings.TrimSpace(word), " "); word != "" {
				got = append(got, word)
			}
		}
		if err != nil || len(got) != len(want) {
			t.Errorf("%q: %v, %q; want %q", line, err, out, want)
			continue
		}
		for _, word := range want {
			if !strings.Contains(string(out), word) {
				t.Errorf("%q: %q; want %q", line, got, want)
			}
		}
	}
}

// TestCompletionOfPaths completes what a setting takes: a file, a directory, or neither.
func TestCompletionOfPaths(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]cobra.ShellCompDirective{
		"--rules": cobra.ShellCompDirectiveDefault, "--prompts-filler": cobra.ShellCompDirectiveDefault,
		"--data-dir": cobra.ShellCompDirectiveFilterDirs, "--workflows": cobra.ShellCompDirectiveFilterDirs,
		"--after-call-agent": cobra.ShellCompDirectiveNoFileComp, "--voice": cobra.ShellCompDirectiveNoFileComp,
	} {
		if r := command(t, nil, "__complete", "serve", flag, ""); r.stdout != fmt.Sprintf(":%d\n", want) {
			t.Errorf("%s: %q, want directive %d", flag, r.stdout, want)
		}
	}
}

// TestCompletionScripts has each shell that is here parse its script. The scripts ask voicegw.
func TestCompletionScripts(t *testing.T) {
	t.Parallel()
	for _, shell := range shells() {
		r := command(t, nil, "completion", shell)
		r.want(t, 0, "__complete")
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not here; nothing has parsed its script", shell)
			continue
		}
		if out, err := exec.Command(path, "-n", writeFile(t, shell, []byte(r.stdout))).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", shell, err, out)
		}
	}
	command(t, nil, "completion").want(t, exitUsage, "want one shell: bash, zsh, fish")
	command(t, nil, "completion", "powershell").want(t, exitUsage, "want one shell")
}

// TestVersion wants the version in words and as JSON.
func TestVersion(t *testing.T) {
	t.Parallel()
	long, short := command(t, nil, "--version"), command(t, nil, "version")
	if long.stdout != short.stdout || !strings.HasPrefix(long.stdout, "voicegw (devel), protocol voicegw.v1, go") {
		t.Errorf("%q, %q", long.stdout, short.stdout)
	}
	var out map[string]any
	for _, flag := range []string{"--json", "--output=json"} {
		r := command(t, nil, "version", flag)
		if err := json.Unmarshal([]byte(r.stdout), &out); err != nil || out["version"] != "(devel)" {
			t.Errorf("%q: %v", r.stdout, err)
		}
	}
	command(t, nil, "version", "-o", "xml").want(t, exitUsage, "want text or json")
	file := writeFile(t, "a.yaml", []byte("voise: a"))
	r := command(t, []string{"VOICEGW_VOICE=Puck"}, "config", "check", file, "-o", "json")
	r.want(t, exitUsage, `"status":"fail"`, "did you mean voice?")
}
