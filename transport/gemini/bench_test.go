//go:build unix

package gemini_test

import (
	"testing"

	"github.com/voicegw/voicegw/internal/endpointtest"
)

// BenchmarkCall is what a call takes in real time, with its caller and its model in the same
// process.
func BenchmarkCall(b *testing.B) {
	w := endpointtest.New(b, endpoint())
	endpointtest.Cost(b, func() (hangUp func()) { return talk().Place(w) }, w.Gateway.Calls)
}
