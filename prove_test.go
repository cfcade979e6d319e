package voicegw_test

import (
	"context"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/voicenets"
)

// TestProve: the nets of a gateway with the default timings are proved by
// certificates that ship. TestProveNow has other timings.
func TestProve(t *testing.T) {
	words := voicegw.Prompt{PCM: make([]int16, 800), RateHz: 8000}
	proved(t, voicenets.FromShipped, voicegw.Config{Greeting: greetCaller,
		Prompts: map[voicenets.Prompt]voicegw.Prompt{voicenets.Fallback: words, voicenets.Goodbye: words}})
}

// proved wants every net of a gateway proved, by certificates from a source.
func proved(t *testing.T, want voicenets.Source, cfg voicegw.Config) {
	t.Helper()
	cfg.Dialer = live.Wire{BaseURL: "ws://127.0.0.1:1"}
	gw, err := voicegw.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	proofs, err := gw.Prove(context.Background(), nil)
	if err != nil || len(proofs) != 4 {
		t.Fatalf("%d proofs: %v", len(proofs), err)
	}
	for _, p := range proofs {
		if p.Source != want || p.Markings < 1000 || len(p.Claims) < 8 {
			t.Errorf("a proof of %d properties over %d markings is %s, want %s", len(p.Claims), p.Markings, p.Source, want)
		}
	}
	if err := gw.Close(); err != nil {
		t.Error(err)
	}
}

// BenchmarkColdStart proves the nets of a gateway with consent and reprompts, with no certificates at all.
func BenchmarkColdStart(b *testing.B) {
	words := voicegw.Prompt{PCM: make([]int16, 800), RateHz: 8000}
	gw, err := voicegw.New(voicegw.Config{Greeting: greetCaller, Dialer: live.Wire{BaseURL: "ws://127.0.0.1:1"},
		Net: voicenets.Config{Consent: true, RepromptAfter: 10 * time.Second},
		Prompts: map[voicenets.Prompt]voicegw.Prompt{voicenets.Fallback: words, voicenets.Goodbye: words,
			voicenets.AskConsent: words, voicenets.Reprompt: words}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		proofs, err := gw.Verify(context.Background(), voicenets.Prover{Anew: true})
		if err != nil {
			b.Fatal(err)
		}
		for _, p := range proofs {
			if err := p.Err(); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := gw.Close(); err != nil {
		b.Fatal(err)
	}
}
