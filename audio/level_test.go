package audio

import (
	"math"
	"testing"
)

func TestLevels(t *testing.T) {
	sine := tone(1000, 16000, 16000)
	for _, c := range []struct {
		name           string
		pcm            []int16
		rms, peak, dbs float64
	}{
		{"nothing", nil, 0, 0, silenceDBFS},
		{"silence", make([]int16, 100), 0, 0, silenceDBFS},
		{"sine at -6 dBFS", sine, 0.5 / math.Sqrt2, 0.5, -9.03},
		{"full scale", []int16{-32768, -32768}, 1, 1, 0},
		{"one step", []int16{1, -1}, 1.0 / 32768, 1.0 / 32768, -90.31},
	} {
		rms, peak := RMS(c.pcm), Peak(c.pcm)
		if math.Abs(rms-c.rms) > 1e-4 || math.Abs(peak-c.peak) > 1e-4 || math.Abs(DBFS(rms)-c.dbs) > 0.01 {
			t.Errorf("%s: RMS %.5f (%.2f dBFS), peak %.5f, want %.5f (%.2f), %.5f",
				c.name, rms, DBFS(rms), peak, c.rms, c.dbs, c.peak)
		}
	}
	if got := DBFS(math.NaN()); got != silenceDBFS {
		t.Errorf("DBFS(NaN) = %v", got)
	}
}

func BenchmarkRMS(b *testing.B) {
	pcm := tone(1000, 16000, 320)
	b.ReportAllocs()
	for b.Loop() {
		RMS(pcm)
	}
}
