package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// unit is the systemd unit, as key=value lines.
func unit(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "deploy", "systemd", "voicegw.service"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSystemdUnit holds the unit to the command and the defaults, and lets systemd judge it where there is
// one.
func TestSystemdUnit(t *testing.T) {
	t.Parallel()
	text := unit(t)
	value := func(key string) string {
		m := regexp.MustCompile(`(?m)^` + key + `=(.*)$`).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("the unit has no %s", key)
		}
		return m[1]
	}
	args := commandLine("ExecStart=" + value("ExecStart"))
	cmd, rest, err := rootCommand().Find(args)
	if err != nil || cmd.Name() != "serve" || cmd.ParseFlags(rest) != nil {
		t.Errorf("ExecStart runs %q: %v", args, err)
	}
	if value("ExecReload") != "/bin/kill -HUP $MAINPID" || value("RestartPreventExitStatus") != "2" {
		t.Error("the unit reloads by another signal, or restarts after a mistake")
	}
	s, err := configured(t, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	stop, err := time.ParseDuration(value("TimeoutStopSec") + "s")
	if l := s.Limits; err != nil || stop < l.DrainDelay+l.DrainLimit+l.ShutdownTimeout+10*time.Second {
		t.Errorf("TimeoutStopSec is %v, %v; %+v", stop, err, l)
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Fatal("systemd-analyze is missing; make deps installs it")
	}
	file := filepath.Join(t.TempDir(), "voicegw.service")
	verify := func(text string) (string, error) {
		t.Helper()
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "/usr/local/bin/voicegw", binary)), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(analyze, "verify", "--man=no", file).CombinedOutput()
		return string(out), err
	}
	if out, err := verify(text); err != nil || strings.Contains(out, "voicegw.service:") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := verify(strings.Replace(text, "ProtectHome=", "ProtectHom=", 1)); !strings.Contains(out, "ProtectHom") {
		t.Errorf("a misspelled key is taken: %v, %s", err, out)
	}
	if out, err := exec.Command(analyze, "security", "--offline=true", "--no-pager", "--threshold=20",
		file).CombinedOutput(); err != nil {
		t.Errorf("the service is too exposed: %v\n%s", err, out)
	}
}
