//go:build unix

package mediastream_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/internal/endpointtest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/mediastream"
	"github.com/voicegw/voicegw/transport/phone/phonetest"
)

// BenchmarkCall is what a call takes in real time, with its carrier and its model in the same
// process.
func BenchmarkCall(b *testing.B) {
	w := endpointtest.New(b, endpointtest.Plan{Endpoint: func(l transport.Lines) (endpointtest.Endpoint, error) {
		return mediastream.New(mediastream.Config{Lines: l})
	}})
	question := audiotest.Resample(audio.PCM{RateHz: 16000, Samples: endpointtest.Question()}, 8000).Samples
	endpointtest.Cost(b, func() (hangUp func()) {
		p, err := phonetest.Dial(context.Background(), phonetest.Config{
			URL: strings.Replace(w.URL, "http", "ws", 1) + "/v1/twilio"})
		if err != nil {
			b.Fatal(err)
		}
		p.Say(slices.Repeat(question, 20))
		return p.HangUp
	}, w.Gateway.Calls)
}
