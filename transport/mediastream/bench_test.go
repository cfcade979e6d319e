//go:build unix

package mediastream_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/internal/doortest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/mediastream"
	"github.com/voicegw/voicegw/transport/phone/phonetest"
)

// BenchmarkCall is what a call takes in real time, with its carrier and its model in the same process.
func BenchmarkCall(b *testing.B) {
	w := doortest.New(b, doortest.Plan{Door: func(l transport.Lines) (doortest.Door, error) {
		return mediastream.New(mediastream.Config{Lines: l})
	}})
	question := audiotest.Resample(audio.PCM{RateHz: 16000, Samples: doortest.Question()}, 8000).Samples
	doortest.Cost(b, func() (hangUp func()) {
		p, err := phonetest.Dial(context.Background(), phonetest.Config{
			URL: strings.Replace(w.URL, "http", "ws", 1) + "/v1/twilio"})
		if err != nil {
			b.Fatal(err)
		}
		p.Say(slices.Repeat(question, 20))
		return p.HangUp
	}, w.Gateway.Calls)
}
