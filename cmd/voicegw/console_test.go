package main

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/settings"
)

// TestConsoleNeedsToken: nothing of the console can be read without the token, which a browser sends as a password.
func TestConsoleNeedsToken(t *testing.T) {
	t.Parallel()
	const token = "0123456789abcdef"
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	a := testAdmin(t, "--admin-token-file", file)
	basic := func(pair string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(pair)) }
	for _, c := range []struct {
		path, authorization string
		status              int
		challenge           string
	}{
		{"console/", "", 401, "Basic realm="},
		{"console/api/calls", "", 401, "Basic realm="},
		{"console/console/console.js", "", 401, "Basic realm="},
		{"console/", basic("me:" + token), 200, ""},
		{"console/api/calls", basic(":" + token), 200, ""},
		{"console/", "Bearer " + token, 200, ""},
		{"console/", basic("me:" + token + "0"), 401, "Basic realm="},
		{"console/", basic(token), 401, "Basic realm="},
		{"console/", "Basic " + token, 401, "Basic realm="},
		{"console/", "Basic", 401, "Basic realm="},
		{"console/shared/c-1/1.x/", "", 200, ""}, // the console checks the signature
		{"console/shared/../api/calls", "", 401, "Basic realm="},
		{"console/shared/%2e%2e/api/calls", "", 401, "Basic realm="},
		{"metrics", basic("me:" + token), 401, "Bearer"},
		{"v1/calls", basic("me:" + token), 401, "Bearer"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.url()+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.authorization != "" {
			r.Header.Set("Authorization", c.authorization)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if got := resp.Header.Get("WWW-Authenticate"); resp.StatusCode != c.status || !strings.HasPrefix(got, c.challenge) {
			t.Errorf("%s with %q: %s, challenge %q", c.path, c.authorization, resp.Status, got)
		}
	}
}

// TestSharedPath: without the token, the console answers a link with a wrong signature with a refusal.
func TestSharedPath(t *testing.T) {
	t.Parallel()
	gw, err := voicegw.New(voicegw.Config{Dialer: live.Wire{APIKey: "none"}})
	if err != nil {
		t.Fatal(err)
	}
	h := (&serving{settings: &settings.Settings{}, gw: gw}).console()
	for path, want := range map[string]int{"/console/shared/c-1": 403,
		"/console/shared/c-1/9999999999.x/":                   403,
		"/console/shared/c-1/9999999999.x/console/console.js": 403, "/console/api/archives/c-1/link": 404} {
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil)); w.Code != want {
			t.Errorf("%s: %d %s, want %d", path, w.Code, w.Body, want)
		}
	}
}
