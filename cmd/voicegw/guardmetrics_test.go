package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/transport"
)

// TestGuardMetrics counts refusals for a token, by why.
func TestGuardMetrics(t *testing.T) {
	t.Parallel()
	g, err := access.New(access.Config{Secrets: [][]byte{[]byte(strings.Repeat("s", 32))}})
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{"", "", "wrong"} {
		if _, err := g.Check(t.Context(), &transport.Hello{Token: token}); err == nil {
			t.Fatal("let in")
		}
	}
	want := `
# HELP voicegw_access_denied_total Calls that the guard refused: for a token, a limit or overload.
# TYPE voicegw_access_denied_total counter
voicegw_access_denied_total{why="no token"} 2
voicegw_access_denied_total{why="token"} 1
`
	err = testutil.CollectAndCompare(newGuardMetrics(g), strings.NewReader(want), "voicegw_access_denied_total")
	if err != nil {
		t.Error(err)
	}
}

// TestReadableSecrets warns of secrets that others on the machine may read, and of no other.
func TestReadableSecrets(t *testing.T) {
	t.Parallel()
	for mode, warned := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o640: true, 0o604: true} {
		file := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(file, []byte(strings.Repeat("s", 32)), mode); err != nil {
			t.Fatal(err)
		}
		o, err := configured(t, "", nil, "--access-secret-file", file, "--model-key-file", file, "--twilio-secret-file", file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.Secret("twilio.secret_file", file); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"access.secret_file", "model.key_file", "twilio.secret_file"} {
			words := "warning: " + key + ": others on this machine may read"
			if got := strings.Contains(strings.Join(o.Notes, "\n"), words); got != warned {
				t.Errorf("%v: %s is warned of: %v; notes %q", mode, key, got, o.Notes)
			}
		}
	}
}
