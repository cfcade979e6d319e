package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checked runs a command that prints checks as JSON.
func checked(t *testing.T, program string, env []string, code int, args ...string) map[string]checkResult {
	t.Helper()
	r := startWith(t, program, env, nil, args...).result()
	if r.code != code {
		t.Fatalf("%q: exit code %d\n%s%s", args, r.code, r.stdout, r.stderr)
	}
	return results(t, r)
}

// readChecks reads the checks that a command printed.
func readChecks(t *testing.T, r result) checkResults {
	t.Helper()
	var out struct {
		Status checkStatus
		Checks checkResults
	}
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil {
		t.Fatalf("%v\n%s%s", err, r.stdout, r.stderr)
	}
	if worst, _ := out.Checks.result(); worst != out.Status {
		t.Errorf("the status is %s, of %+v", out.Status, out.Checks)
	}
	return out.Checks
}

// TestServeCheck wants serve --check to do what serve does, tell all of it, and leave nothing behind.
func TestServeCheck(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	agents := filepath.Join(dir, "agents")
	if err := os.Mkdir(agents, 0o700); err != nil {
		t.Fatal(err)
	}
	own := func(more ...string) []string {
		return append([]string{"serve", "--check", "-o", "json", "--listen", "127.0.0.1:0"}, more...)
	}
	for _, c := range []struct {
		name   string
		code   int
		args   []string
		check  string
		status checkStatus
		word   string
	}{
		{"nothing", 0, own(), "listen", statusOK, "http://127.0.0.1:"},
		{"endpoints", 0, own("--endpoints", "webrtc,openai"), "endpoints", statusOK, "/v1/voice, webrtc, openai"},
		{"admin", 0, own("--admin-listen", "127.0.0.1:0"), "admin", statusOK, "http://"},
		{"archive", 0, own("--archive", filepath.Join(dir, "a", "b")), "archive", statusOK, "can be made"},
		{"a file", 2, own("--archive", filepath.Join(file, "b")), "settings", statusFail, "archive"},
		{"journal", exitOpen, own("--data-dir", filepath.Join(dir, "data"), "--agents", agents), "journal", statusUnknown,
			"not opened"},
		{"port", 1, own("--listen", taken.Addr().String()), "listen", statusFail, "the port is in use"},
		{"setting", 2, own("--calls-max", "0"), "settings", statusFail, "calls_max"},
		{"secret", 2, own("--endpoints", "twilio", "--twilio-secret-file", "nope"), "endpoints", statusFail,
			"twilio.secret_file"},
		{"readable", 0, own("--endpoints", "twilio", "--twilio-secret-file", secretFile(t, 0o644)), "settings", statusWarn,
			"others on this machine may read"},
		{"tools", 2, own("--session-tools-file", file), "gateway", statusFail, "session.tools_file"},
		{"headers", 2, own("--otel-export", "traces", "--otel-headers-file", file), "gateway", statusFail, "is no header"},
		{"webhook", 2, own("--webhooks-end-url", "http://crm.example/x", "--webhooks-secret-file", secretFile(t, 0o600)),
			"gateway", statusFail, "webhooks.end_url"},
		{"admin port", 1, own("--admin-listen", taken.Addr().String()), "admin", statusFail, "the port is in use"},
		{"agents", 2, own("--data-dir", filepath.Join(dir, "data"), "--after-call-agent", "nobody"), "sessions", statusFail,
			`there is no agent "nobody"`},
		{"certificate", 2, own("--tls-cert-file", file, "--tls-key-file", file), "settings", statusFail, "tls.cert_file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := checked(t, noProof, nil, c.code, c.args...)[c.check]
			if got.Status != c.status || !strings.Contains(got.Detail, c.word) {
				t.Errorf("%s: %+v; want %s, %q", c.check, got, c.status, c.word)
			}
		})
	}
	t.Cleanup(func() {
		for _, name := range []string{"a", "data"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				t.Errorf("%s is left behind", name)
			}
		}
	})
}

// secretFile writes a secret to a file with a mode.
func secretFile(t *testing.T, mode os.FileMode) string {
	t.Helper()
	name := writeFile(t, "secret", []byte(strings.Repeat("s", 32)))
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestServeCheckInWords reads the findings as people do.
func TestServeCheckInWords(t *testing.T) {
	t.Parallel()
	r := startWith(t, noProof, nil, nil, "serve", "--check", "--listen", "127.0.0.1:0", "--data-dir", t.TempDir()).result()
	r.want(t, exitOpen, "ok       model        embedded model", "unknown  journal      not opened",
		"do: voicegw doctor", "voicegw serve: journal (unknown)")
}

// TestCheckResults wants the worst outcome to be the one of all.
func TestCheckResults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		list   []checkStatus
		status checkStatus
		code   int
	}{
		{nil, statusOK, 0},
		{[]checkStatus{statusOK, statusWarn}, statusWarn, 0},
		{[]checkStatus{statusUnknown, statusWarn}, statusUnknown, exitOpen},
		{[]checkStatus{statusUnknown, statusFail, statusOK}, statusFail, exitFailed},
	} {
		var all checkResults
		for _, s := range c.list {
			all.add("x", s, "", "y")
		}
		if status, code := all.result(); status != c.status || code != c.code {
			t.Errorf("%v: %s, %d", c.list, status, code)
		}
	}
	var all checkResults
	all.failed("x", usagef("wrong"))
	if _, code := all.result(); code != exitUsage {
		t.Errorf("a mistake has the code %d", code)
	}
}

// TestWritable tells directories that can be written from those that cannot, and makes none.
func TestWritable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := writeFile(t, "file", nil)
	links := t.TempDir()
	for name, to := range map[string]string{"dangling": filepath.Join(links, "gone"), "good": dir, "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(links, name)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{dir: "can be written", filepath.Join(dir, "a", "b"): "can be made",
		file: "", filepath.Join(file, "b"): "", filepath.Join(links, "good"): "can be written",
		filepath.Join(links, "good", "a"): "can be made", filepath.Join(links, "dangling"): "",
		filepath.Join(links, "dangling", "a"): "", filepath.Join(links, "loop"): ""} {
		got, err := writable(path)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", path, got, err, want)
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("left behind: %v, %v", list, err)
	}
}
