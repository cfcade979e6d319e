package main

import (
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

// threeFrames is a gateway with a budget of its own, whose certificates do not ship. What is proved is kept in an empty
// directory.
func threeFrames(t *testing.T) *voicegw.Gateway {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	gw, err := voicegw.New(voicegw.Config{Dialer: live.Wire{BaseURL: "ws://127.0.0.1:1"}, OneMode: true,
		Net: voicenets.Config{BudgetFrames: 3}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = gw.Close() })
	return gw
}

// provedTwice proves a budget of its own once, and keeps the certificates. It returns their files.
func provedTwice(t *testing.T, gw *voicegw.Gateway) []string {
	t.Helper()
	for _, want := range []string{"proved a net", "about 1 kind of session, certificates checked"} {
		var out strings.Builder
		if _, err := proveNets(t.Context(), gw, &out, zap.NewNop()); err != nil || !strings.Contains(out.String(), want) {
			t.Fatalf("%v: %s", err, out.String())
		}
	}
	files, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "voicegw", "proofs", "*", "*.json"))
	if err != nil || len(files) < 4 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	return files
}

// TestProofsAreKept proves nets on all processors under the race detector. TestProveBeforeServing does more without it.
func TestProofsAreKept(t *testing.T) { provedTwice(t, threeFrames(t)) }

// TestCheckWarnsOfProofs has check warn of certificates that cannot be kept, and of nothing else.
func TestCheckWarnsOfProofs(t *testing.T) {
	gw := threeFrames(t)
	t.Setenv("XDG_CACHE_HOME", writeFile(t, "file", nil))
	var f checkResults
	f.checkProofs(t.Context(), &serving{gw: gw})
	warned := 0
	for _, r := range f {
		if kept := strings.Contains(r.Detail, "certificates cannot be kept"); kept != (r.Status == statusWarn) {
			t.Errorf("%+v", r)
		} else if kept {
			warned++
		}
	}
	if warned != 1 || len(f) < 3 {
		t.Errorf("%d warnings: %+v", warned, f)
	}
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
	go func() { ended <- s.until(ctx, func(context.Context) {}) }()
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
