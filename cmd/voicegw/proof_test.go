package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/voicenets"
)

// TestProveBeforeServing proves a budget of its own once, keeps the
// certificates, and proves anew where the cache is damaged, cannot be read, or cannot be written.
func TestProveBeforeServing(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	gw, err := voicegw.New(voicegw.Config{Dialer: live.Wire{BaseURL: "ws://127.0.0.1:1"}, OneMode: true,
		Net: voicenets.Config{BudgetFrames: 3}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = gw.Close() }()
	for _, want := range []string{"proved a net", "about 1 kind of session, certificates checked"} {
		var out strings.Builder
		if err := proveNets(t.Context(), gw, &out); err != nil || !strings.Contains(out.String(), want) {
			t.Fatalf("%v: %s", err, out.String())
		}
	}
	files, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "voicegw", "proofs", "*", "*.json"))
	if err != nil || len(files) < 4 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	prove := func(want ...string) {
		t.Helper()
		var out strings.Builder
		if err := proveNets(t.Context(), gw, &out); err != nil {
			t.Errorf("refused to serve: %v", err)
		}
		for _, words := range want {
			if strings.Count(out.String(), words) != 1 {
				t.Errorf("it does not say %q once:\n%s", words, out.String())
			}
		}
	}
	damaged := bytes.Clone(data)
	damaged[len(data)/2] ^= 1
	if err := os.WriteFile(files[0], damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	prove("is damaged, so all nets are proved again", "the nets of calls are proved")
	if mended, err := os.ReadFile(files[0]); err != nil || !bytes.Equal(mended, data) {
		t.Errorf("the damaged certificate was not replaced: %v", err)
	}
	const warning = "warning: certificates cannot be kept"
	if err := errors.Join(os.Remove(files[0]), os.Mkdir(files[0], 0o700)); err != nil { // neither read nor written
		t.Fatal(err)
	}
	prove(warning, "the nets of calls are proved")
	blocked := filepath.Join(t.TempDir(), "a file")
	if err := os.WriteFile(blocked, nil, 0o400); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", blocked)
	prove(warning, "the nets of calls are proved")
}

// unstarted is a gateway with the embedded model that has not begun to serve.
func unstarted(t *testing.T) *serving {
	t.Helper()
	o, err := configured(t, "", nil, "--listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m, err := openModel(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.close() })
	s, err := newServing(o, m, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.gw.Close() })
	return s
}

// TestNothingListensBeforeTheProof: while the nets are not proved nobody can call, or hear that the
// gateway is ready.
func TestNothingListensBeforeTheProof(t *testing.T) {
	t.Parallel()
	s := unstarted(t)
	never, cancel := context.WithCancel(t.Context())
	cancel()
	const want = "before the nets of calls were proved"
	if err := s.start(never, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("without a proof: %v", err)
	}
	if s.server != nil {
		t.Errorf("it listens on %s", s.server.listener.Addr())
	}
}

// TestServeLooksAtItsLoad: what is late is looked at while calls are taken, and asked before one
// is.
func TestServeLooksAtItsLoad(t *testing.T) {
	t.Parallel()
	s := unstarted(t)
	if err := errors.Join(s.open(), s.listen()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.until(ctx) }()
	late := func() bool {
		s.load.Late(time.Minute)
		return status(s.server.url+"v1/voice") == http.StatusServiceUnavailable
	}
	if !waitFor(late, patience) {
		t.Error("calls are taken however late everything is")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
