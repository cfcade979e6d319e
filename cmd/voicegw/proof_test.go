package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/voicenets"
)

// TestProveBeforeServing proves timings of their own once, keeps the
// certificates, and refuses to serve with one that was tampered with.
func TestProveBeforeServing(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	gw, err := voicegw.New(voicegw.Config{Dialer: live.Wire{BaseURL: "ws://127.0.0.1:1"},
		Net: voicenets.Config{FrameGap: 400 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = gw.Close() }()
	for _, want := range []string{"proved a net", "4 certificates checked"} {
		var out strings.Builder
		if err := prove(t.Context(), gw, &out); err != nil || !strings.Contains(out.String(), want) {
			t.Fatalf("%v: %s", err, out.String())
		}
	}
	files, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "voicegw", "proofs", "*.json"))
	if err != nil || len(files) < 4 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(files[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := prove(t.Context(), gw, new(strings.Builder)); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a damaged certificate: %v", err)
	}
}
