package endpointtest

import (
	"encoding/pem"
	"net/http/httptest"
	"testing"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
)

func certificate(s *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// Least is how like what was said an echo must be, by correlation. Most is how like anything else
// it may be.
const (
	Least = 0.98
	Most  = 0.5
)

// Echo judges the echo of an utterance on the waveform: it is there, without a hole, and it is not
// another one's.
func Echo(tb testing.TB, heard audio.PCM, name string) {
	tb.Helper()
	ref := audiotest.Resample(audiotest.Speech(name), heard.RateHz).Samples
	lag, corr := audiotest.Align(ref, heard.Samples)
	holes := audiotest.Holes(ref, audiotest.Shift(heard.Samples, lag, len(ref)), heard.RateHz)
	tb.Logf("what was heard is like %q by %.4f, with %d holes", name, corr, holes)
	if corr < Least || holes > 0 {
		tb.Errorf("the echo of %q has correlation %.3f and %d holes, want %.2f and none", name, corr, holes, Least)
	}
	for _, other := range []string{"question", "german"} {
		if other == name {
			continue
		}
		if _, c := audiotest.Align(audiotest.Resample(audiotest.Speech(other), heard.RateHz).Samples,
			heard.Samples); c > Most {
			tb.Errorf("the echo of %q is like %q by %.2f", name, other, c)
		}
	}
}

// Rest is how like what was heard is to an utterance from a time in seconds on: low when it was cut
// short before.
func Rest(heard audio.PCM, name string, from float64) float64 {
	ref := audiotest.Resample(audiotest.Speech(name), heard.RateHz).Samples
	_, corr := audiotest.Align(ref[min(len(ref), int(from*float64(heard.RateHz))):], heard.Samples)
	return corr
}
