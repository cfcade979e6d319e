package audio

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// ratios are the conversions a call makes, and two odd ones.
var ratios = [][2]int{
	{48000, 16000}, {16000, 48000}, {24000, 48000}, {48000, 24000}, {24000, 16000}, {16000, 24000},
	{16000, 8000}, {8000, 16000}, {24000, 8000}, {8000, 48000}, {44100, 16000}, {24000, 44100}, {22050, 16000},
	{11025, 16000}, {48000, 11025}, {44100, 48000}, {47999, 16000}, {16000, 47999}, {8001, 48000},
}

// tone is a sine of freqHz at -6 dBFS.
func tone(freqHz float64, rateHz, n int) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(math.RoundToEven(16384 * math.Sin(2*math.Pi*freqHz*float64(i)/float64(rateHz))))
	}
	return pcm
}

// split projects pcm on a sine of freqHz: the power of the sine and of everything else.
func split(pcm []int16, freqHz float64, rateHz int) (signal, rest float64) {
	// Least squares for a*sin + b*cos; the normal equations are solved exactly, so any length will
	// do.
	var ss, cc, sc, xs, xc, xx float64
	for i, v := range pcm {
		s, c := math.Sincos(2 * math.Pi * freqHz * float64(i) / float64(rateHz))
		x := float64(v)
		ss, cc, sc, xs, xc, xx = ss+s*s, cc+c*c, sc+s*c, xs+x*s, xc+x*c, xx+x*x
	}
	det := ss*cc - sc*sc
	a, b := (xs*cc-xc*sc)/det, (xc*ss-xs*sc)/det
	signal = a*xs + b*xc
	return signal / float64(len(pcm)), (xx - signal) / float64(len(pcm))
}

func resample(t testing.TB, inHz, outHz int, pcm []int16) []int16 {
	t.Helper()
	r, err := NewResampler(inHz, outHz)
	if err != nil {
		t.Fatal(err)
	}
	return r.Resample(nil, pcm)
}

func TestResamplerSNR(t *testing.T) {
	for _, ratio := range ratios {
		out := resample(t, ratio[0], ratio[1], tone(1000, ratio[0], ratio[0]))
		signal, rest := split(out[ratio[1]/10:], 1000, ratio[1])
		snr := 10 * math.Log10(signal/rest)
		level := 10 * math.Log10(signal/(16384*16384/2))
		t.Logf("%5d -> %5d Hz: SNR %.1f dB, level %+.3f dB", ratio[0], ratio[1], snr, level)
		if snr < 80 || math.Abs(level) > 0.05 {
			t.Errorf("%d -> %d Hz: SNR %.1f dB at a level of %+.3f dB, want >= 80 dB within 0.05 dB",
				ratio[0], ratio[1], snr, level)
		}
	}
}

// TestResamplerAlias feeds tones that must not come through (above the new Nyquist frequency) and
// tones whose images must not appear (below the old one), and bounds everything but the tone
// itself.
func TestResamplerAlias(t *testing.T) {
	for _, ratio := range ratios {
		inHz, outHz := ratio[0], ratio[1]
		low := float64(min(inHz, outHz))
		worst, at := math.Inf(-1), 0.0
		for f := 0.05 * low; f < 0.5*float64(inHz); f += 0.0371 * low {
			if f > 0.40*low && f < 0.62*low {
				continue // the transition band
			}
			out := resample(t, inHz, outHz, tone(f, inHz, inHz/4))[outHz/50:]
			signal, rest := split(out, f, outHz)
			if f > 0.5*low {
				rest += signal
			}
			if db := 10 * math.Log10(rest/(16384*16384/2)); db > worst {
				worst, at = db, f
			}
		}
		t.Logf("%5d -> %5d Hz: worst alias or image %.1f dB, of %.0f Hz", inHz, outHz, worst, at)
		if worst > -70 {
			t.Errorf("%d -> %d Hz: alias or image of %.0f Hz at %.1f dB, want <= -70 dB", inHz, outHz, at, worst)
		}
	}
}

func TestResamplerCountsEachFrame(t *testing.T) {
	for _, ratio := range ratios {
		r, err := NewResampler(ratio[0], ratio[1])
		if err != nil {
			t.Fatal(err)
		}
		in, out := 0, 0
		for range 100 {
			n := FrameSamples(ratio[0])
			in += n
			promised := r.outputs(n)
			got := len(r.Resample(nil, make([]int16, n)))
			if out += got; got != promised {
				t.Fatalf("%d -> %d Hz: %d samples per frame, %d promised", ratio[0], ratio[1], got, promised)
			}
			if want := FrameSamples(ratio[1]); ratio[0]%50 == 0 && ratio[1]%50 == 0 && got != want {
				t.Fatalf("%d -> %d Hz: %d samples per frame, want %d", ratio[0], ratio[1], got, want)
			}
			if want := (in*ratio[1] + ratio[0] - 1) / ratio[0]; out != want {
				t.Fatalf("%d -> %d Hz: %d samples after %d, want %d", ratio[0], ratio[1], out, in, want)
			}
		}
	}
}

func TestResamplerChunkedIsWhole(t *testing.T) {
	rnd := testRand(1)
	for _, ratio := range ratios {
		in := make([]int16, 10000)
		for i := range in {
			in[i] = int16(rnd.IntN(65536) - 32768)
		}
		whole := resample(t, ratio[0], ratio[1], in)
		r, _ := NewResampler(ratio[0], ratio[1])
		var got []int16
		for rest := in; len(rest) > 0; {
			n := min(len(rest), rnd.IntN(2000))
			got = r.Resample(got, rest[:n])
			rest = rest[n:]
		}
		if !slices.Equal(got, whole) {
			t.Errorf("%d -> %d Hz: the chunks' output differs from the whole's", ratio[0], ratio[1])
		}
		r.Reset()
		if !slices.Equal(r.Resample(nil, in), whole) {
			t.Errorf("%d -> %d Hz: the output after Reset differs", ratio[0], ratio[1])
		}
	}
}

func TestResamplerSaturates(t *testing.T) {
	in := make([]int16, 4000)
	for i := range in {
		in[i] = math.MaxInt16
		if i/8%2 == 1 {
			in[i] = math.MinInt16
		}
	}
	for i, v := range resample(t, 16000, 48000, in)[200:] {
		j := (i + 200 - 36) / 3 // the input sample, 12 samples ago
		if k := j % 8; k >= 2 && k <= 5 && (in[j] > 0) != (v > 0) {
			t.Fatalf("output %d is %d where the input is %d: wrapped around", i, v, in[j])
		}
	}
}

func TestResamplerIdentity(t *testing.T) {
	in := ramp(1234)
	if got := resample(t, 24000, 24000, in); !slices.Equal(got, in) {
		t.Error("equal rates changed the samples")
	}
}

func TestResamplerRefusesRates(t *testing.T) {
	for _, c := range [][2]int{{7999, 16000}, {16000, 48001}, {0, 0}} {
		if _, err := NewResampler(c[0], c[1]); err == nil {
			t.Errorf("NewResampler(%d, %d) accepted the rates", c[0], c[1])
		}
	}
}

func TestResamplerAllocatesNothing(t *testing.T) {
	for _, ratio := range ratios {
		r, _ := NewResampler(ratio[0], ratio[1])
		in := make([]int16, FrameSamples(ratio[0]))
		out := make([]int16, 0, (len(in)*ratio[1]+ratio[0]-1)/ratio[0])
		if a := testing.AllocsPerRun(100, func() { out = r.Resample(out[:0], in) }); a != 0 {
			t.Errorf("%d -> %d Hz: %v allocations per frame, want 0", ratio[0], ratio[1], a)
		}
	}
}

func FuzzResampler(f *testing.F) {
	f.Add(uint16(0), uint16(8000), []byte{1, 2, 3, 4}, uint8(1))
	f.Add(uint16(39999), uint16(1), make([]byte, 3000), uint8(99))
	f.Fuzz(func(t *testing.T, a, b uint16, le []byte, cut uint8) {
		inHz, outHz := 8000+int(a)%40001, 8000+int(b)%40001
		r, err := NewResampler(inHz, outHz)
		if err != nil {
			t.Fatal(err)
		}
		in := AppendSamples(nil, le)
		var out []int16
		for chunk := range slices.Chunk(in, int(cut)+1) {
			out = r.Resample(out, chunk)
		}
		if want := (len(in)*outHz + inHz - 1) / inHz; len(out) != want {
			t.Errorf("%d -> %d Hz: %d samples of %d, want %d", inHz, outHz, len(out), len(in), want)
		}
	})
}

func BenchmarkResampler(b *testing.B) {
	for _, ratio := range [][2]int{{48000, 16000}, {24000, 48000}, {44100, 16000}, {47999, 16000}} {
		b.Run(fmt.Sprintf("%dto%d", ratio[0], ratio[1]), func(b *testing.B) {
			r, _ := NewResampler(ratio[0], ratio[1])
			in, out := tone(1000, ratio[0], FrameSamples(ratio[0])), make([]int16, 0, 1000)
			b.ReportAllocs()
			for b.Loop() {
				out = r.Resample(out[:0], in)
			}
		})
	}
}

func BenchmarkNewResampler(b *testing.B) {
	for _, ratio := range [][2]int{{48000, 16000}, {44100, 16000}, {11025, 48000}, {47999, 8000}} {
		b.Run(fmt.Sprintf("%dto%d", ratio[0], ratio[1]), func(b *testing.B) {
			for b.Loop() {
				_, _ = NewResampler(ratio[0], ratio[1])
			}
		})
	}
}
