package audio

import (
	"math"
	"math/cmplx"
	"slices"
	"testing"
)

func TestSpectrumIsTheFourierTransform(t *testing.T) {
	rnd := testRand(2)
	x, ones := make([]int16, detectorSamples), make([]float64, detectorSamples)
	for i := range x {
		x[i], ones[i] = int16(rnd.IntN(20000)-10000), 1
	}
	var s spectrum
	s.init()
	s.load(x, ones)
	s.transform()
	for k := 1; k < fftHalf; k++ {
		var want complex128
		for i, v := range x {
			want += complex(float64(v), 0) * cmplx.Rect(1, -2*math.Pi*float64(i*k%fftSize)/fftSize)
		}
		p := real(want)*real(want) + imag(want)*imag(want)
		if got := s.power(k); math.Abs(got-p) > 1e-9*(p+1) {
			t.Fatalf("bin %d: power %g, want %g", k, got, p)
		}
	}
}

func TestDetectorBands(t *testing.T) {
	d := NewDetector()
	if d.edges[0] != 3 || d.edges[detectorBands] != 192 {
		t.Errorf("bins %d to %d, want 3 (120 Hz) to 192 (6 kHz)", d.edges[0], d.edges[detectorBands])
	}
	for b := range detectorBands {
		if d.edges[b] >= d.edges[b+1] {
			t.Errorf("band %d is empty: %v", b, d.edges)
		}
	}
}

// noiseFrame is a frame of white noise with a standard deviation of sigma.
func noiseFrame(next func() float64, sigma float64) []int16 {
	frame := make([]int16, detectorSamples)
	for i := range frame {
		frame[i] = int16(sigma * next())
	}
	return frame
}

// buzz is a frame of a voiced sound: harmonics of 120 Hz that fall off, beginning at frame n.
func buzz(n int, peak float64) []int16 {
	frame := make([]int16, detectorSamples)
	for i := range frame {
		at := float64(n*detectorSamples+i) / DetectorRateHz
		v := 0.0
		for h := 1.0; h <= 20; h++ {
			v += math.Sin(2*math.Pi*120*h*at) / h
		}
		frame[i] = int16(peak * v / 2)
	}
	return frame
}

func TestDetectorScores(t *testing.T) {
	rnd := testRand(3)
	silence := make([]int16, detectorSamples)
	for _, c := range []struct {
		name     string
		sigma    float64
		peak     float64
		min, max float64 // of the score: quietest of the voiced frames, loudest of the others
	}{
		{"digital silence then voice", 0, 8000, 2, 0.3},
		{"quiet room then voice", 10, 8000, 2, 0.5},
		{"loud room then voice", 300, 8000, 1, 0.5},
	} {
		d := NewDetector()
		for n := range 200 {
			frame := silence
			if c.sigma > 0 {
				frame = noiseFrame(rnd.NormFloat64, c.sigma)
			}
			voiced := n >= 100 && n < 130
			if voiced {
				frame = slices.Clone(frame)
				for i, v := range buzz(n, c.peak) {
					frame[i] += v
				}
			}
			switch score := d.Score(frame); {
			case voiced && n > 103 && score < c.min:
				t.Errorf("%s: voiced frame %d scores %.2f, want >= %.2f", c.name, n, score, c.min)
			case !voiced && (n < 100 || n > 140) && n > 5 && score > c.max:
				t.Errorf("%s: noise frame %d scores %.2f, want <= %.2f", c.name, n, score, c.max)
			}
		}
	}
}

// TestDetectorReleasesANoiseStep raises the noise for good: the score has to come down again.
func TestDetectorReleasesANoiseStep(t *testing.T) {
	rnd, d := testRand(4), NewDetector()
	for range 100 {
		d.Score(noiseFrame(rnd.NormFloat64, 10))
	}
	last := 0
	for n := range 400 {
		if d.Score(noiseFrame(rnd.NormFloat64, 600)) > 0.5 {
			last = n
		}
	}
	if last < 25 || last > 190 {
		t.Errorf("the score stays up for %d frames after the step, want 25 to 190", last)
	}
}

// TestDetectorSettles listens to 300 calls that begin in noise.
func TestDetectorSettles(t *testing.T) {
	starts := 0
	for seed := range uint64(300) {
		rnd, d := testRand(seed), NewDetector()
		a, _ := NewActivity(ActivityConfig{})
		for range 25 {
			if a.Frame(d.Score(noiseFrame(rnd.NormFloat64, 500)), false) == Start {
				starts++
			}
		}
	}
	if starts > 0 {
		t.Errorf("%d false starts in the first half second of 300 calls", starts)
	}
}

func TestDetectorReplay(t *testing.T) {
	rnd := testRand(5)
	var frames [][]int16
	for n := range 200 {
		frames = append(frames, noiseFrame(rnd.NormFloat64, 100+float64(n%9)*500))
	}
	d := NewDetector()
	var first []float64
	for _, f := range frames {
		first = append(first, d.Score(f))
	}
	d = NewDetector()
	for i, f := range frames {
		if got := d.Score(f); got != first[i] {
			t.Fatalf("frame %d scores %v the second time, %v the first", i, got, first[i])
		}
	}
}

func TestDetectorTracksNoise(t *testing.T) {
	for _, c := range []struct {
		name                  string
		noise, minimum, power float64
		speech                bool
		want                  float64
	}{
		{"no speech, up", 1000, 100, 2000, false, 1070},
		{"no speech, down", 1000, 100, 0, false, 930},
		{"speech over the noise leaves it", 1000, 100, 5000, true, 1000},
		{"speech under it pulls it down", 1000, 100, 500, true, 950},
		{"a minimum that rose pulls it up", 1000, 1000, 5000, true, 1012},
	} {
		d := NewDetector()
		d.bands[7], d.power[7] = band{noise: c.noise, minimum: c.minimum}, c.power
		d.trackNoise(c.speech)
		if got := d.bands[7].noise; math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestDetectorExtremes(t *testing.T) {
	d := NewDetector()
	for n := range 1000 {
		frame := make([]int16, detectorSamples)
		for i := range frame {
			if n%7 < 3 {
				frame[i] = int16((i/4%2)*65535 - 32768) // full-scale square
			}
		}
		if s := d.Score(frame); math.IsNaN(s) || s < -1 || s > 20 {
			t.Fatalf("frame %d scores %v", n, s)
		}
	}
}

// TestDetectorGap: after a gap in the frames, speech from before it raises no score, and the noise is
// known still.
func TestDetectorGap(t *testing.T) {
	for _, gap := range []bool{false, true} {
		d, rnd := NewDetector(), testRand(3)
		for range 100 {
			d.Score(noiseFrame(rnd.NormFloat64, 30))
		}
		for n := range 20 {
			d.Score(buzz(n, 8000))
		}
		if gap {
			d.Gap()
		}
		if s := d.Score(noiseFrame(rnd.NormFloat64, 30)); s > 0.5 == gap {
			t.Errorf("gap %v: noise after speech scores %.2f", gap, s)
		}
		if s := d.Score(buzz(0, 8000)); s < 2 {
			t.Errorf("gap %v: speech scores %.2f", gap, s)
		}
	}
}

func TestDetectorRefusesOtherLengths(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Score took a frame of 160 samples")
		}
	}()
	NewDetector().Score(make([]int16, 160))
}

func TestDetectorAllocatesNothing(t *testing.T) {
	d, frame := NewDetector(), buzz(0, 5000)
	if a := testing.AllocsPerRun(100, func() { d.Score(frame) }); a != 0 {
		t.Errorf("%v allocations per frame, want 0", a)
	}
}

func BenchmarkDetector(b *testing.B) {
	rnd, d := testRand(6), NewDetector()
	var frames [64][]int16
	for i := range frames {
		frames[i] = noiseFrame(rnd.NormFloat64, 300+2000*float64(i/32))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		d.Score(frames[i%64])
	}
}

func BenchmarkNewDetector(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		NewDetector()
	}
}
