//go:build unix

package wsclient_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/internal/endpointtest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
	"github.com/voicegw/voicegw/transport/ws/wsclient"
)

// BenchmarkCall is what a call takes in real time, with its caller and its model in the same
// process.
func BenchmarkCall(b *testing.B) {
	w := endpointtest.New(b, endpointtest.Plan{Endpoint: func(l transport.Lines) (endpointtest.Endpoint, error) {
		return ws.New(ws.Config{Lines: l})
	}})
	endpointtest.Cost(b, func() (hangUp func()) {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = wsclient.Call(ctx, wsclient.Config{URL: strings.Replace(w.URL, "http", "ws", 1), Max: time.Hour,
				In: audio.PCM{RateHz: 16000, Samples: slices.Repeat(endpointtest.Question(), 20)}})
		}()
		return func() {
			cancel()
			<-ended
		}
	}, w.Gateway.Calls)
}
