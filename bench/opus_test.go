package bench

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio/opus"
	"github.com/voicegw/voicegw/bench/relay"
)

// TestOpus speaks Opus through the relay to the model: the model reads the number of nearly every frame,
// and the caller hears the reply, and no silence as sound.
func TestOpus(t *testing.T) {
	t.Parallel()
	if !opus.HasEncoder {
		t.Skip("built without libopus (build tag libopus)")
	}
	m, err := NewModel(1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	model := httptest.NewServer(m)
	defer model.Close()
	calls := httptest.NewServer(&relay.Relay{Model: model.URL})
	defer calls.Close()
	cfg := Config{Transport: WebRTC, Codec: Opus, settle: time.Millisecond}
	if err := cfg.check(); err != nil {
		t.Fatal(err)
	}
	r := &run{cfg: cfg, report: &Report{}}
	s := &side{name: "relay", at: Endpoint{URL: calls.URL + relay.WHIPPath}, model: &modelClient{model.URL}}
	if err := r.round(t.Context(), s, 1, 7*time.Second, "opus"); err != nil {
		t.Fatal(err)
	}
	if r.report.Errors > 0 || s.timed < 10 || s.lost > 1 || len(s.waits) < 1 || s.waits[0] < 100*time.Millisecond {
		t.Errorf("%d of %d frames were lost, waits %v, errors %q", s.lost, s.timed, s.waits, r.report.ErrorMessages)
	}
}

// TestNoOpus says why a call with Opus cannot be made, without dialling.
func TestNoOpus(t *testing.T) {
	t.Parallel()
	if opus.HasEncoder {
		t.Skip("built with libopus")
	}
	cfg := Config{Transport: WebRTC, Codec: Opus, Gateway: Endpoint{URL: "http://127.0.0.1:1"}}
	if _, err := Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "build tag libopus") {
		t.Errorf("without libopus: %v", err)
	}
}
