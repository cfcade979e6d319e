package voicegw_test

import (
	"context"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/voicenets"
	"github.com/voicegw/voicegw/voicenets/claims"
	"github.com/voicegw/voicegw/voicenets/prove"
)

// TestProve: the net of a gateway with the default timings is proved by a certificate that ships.
// TestProveNow has all modes and other timings.
func TestProve(t *testing.T) {
	words := voicegw.Prompt{PCM: make([]int16, 800), RateHz: 8000}
	proved(t, 1, claims.FromShipped, voicegw.Config{Greeting: greetCaller, OneMode: true,
		Prompts: map[voicenets.Prompt]voicegw.Prompt{voicenets.Fallback: words, voicenets.Goodbye: words}})
}

// proved wants every net of a gateway proved, by certificates from a source.
func proved(t *testing.T, nets int, want claims.Source, cfg voicegw.Config) {
	t.Helper()
	cfg.Dialer = live.Wire{BaseURL: "ws://127.0.0.1:1"}
	gw, err := voicegw.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	proofs, err := prove.Sessions(context.Background(), nil, gw.Nets()...)
	if err != nil || len(proofs) != nets {
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
		proofs, err := prove.Verdicts(context.Background(), claims.Prover{Anew: true}, gw.Nets()...)
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
