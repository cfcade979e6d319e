package main

import (
	"math"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport"
)

// TestCallPrice counts text, audio and cached tokens by their prices, and knows the models that have
// none.
func TestCallPrice(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "prices.yaml", []byte(
		"live: {input: 1, input_audio: 3, output: 2, output_audio: 12, cache_read: 0.1}\n"+
			"gemini-plain: {input: 1, output: 2}\n"))
	price, err := callPrice(&settings.Settings{Prices: file})
	if err != nil {
		t.Fatal(err)
	}
	const million = 1_000_000
	for _, tt := range []struct {
		model string
		u     transport.Usage
		want  float64
		known bool
	}{
		{"live", transport.Usage{Prompt: million}, 1, true},
		{"live", transport.Usage{Prompt: million, PromptAudio: million}, 3, true},
		{"live", transport.Usage{Prompt: 2 * million, PromptAudio: million, Cached: million}, 3.1, true},
		{"live", transport.Usage{Prompt: million, PromptAudio: million, Cached: million}, 0.1, true},
		{"live", transport.Usage{Response: 2 * million, ResponseAudio: million, Thoughts: million}, 16, true},
		{"gemini-plain", transport.Usage{Prompt: million, PromptAudio: million, Response: million,
			ResponseAudio: million}, 3, true},
		{"gemini/gemini-plain", transport.Usage{Prompt: million}, 1, true},
		{"other", transport.Usage{Prompt: million}, 0, false},
	} {
		if got, known := price(tt.model, tt.u); known != tt.known || math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s, %+v: %v (known: %v), want %v (%v)", tt.model, tt.u, got, known, tt.want, tt.known)
		}
	}
	if price, err := callPrice(&settings.Settings{}); price != nil || err != nil {
		t.Errorf("without a file: %v", err)
	}
	wrong := writeFile(t, "wrong.yaml", []byte("live: {input: 1}\n"))
	if _, err := callPrice(&settings.Settings{Prices: wrong}); err == nil || !strings.Contains(err.Error(), "output") {
		t.Errorf("a file without the price of output: %v", err)
	}
}
