package audiotest

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

func TestSpeechIsWhatTheReadmeSays(t *testing.T) {
	names := SpeechNames()
	if len(names) != 5 {
		t.Errorf("names: %v", names)
	}
	for _, name := range append(names, "cough") {
		pcm := Speech(name)
		n := len(pcm.Samples)
		first, last := FirstLoud(pcm.Samples, pcm.RateHz), LastLoud(pcm.Samples, pcm.RateHz)
		parts := Utterances(pcm.Samples, pcm.RateHz, 400*time.Millisecond)
		t.Logf("%-8s %.2f s, loud from %.3f to %.3f s, peak %.1f dBFS, RMS %.1f dBFS", name, float64(n)/16000,
			float64(first)/16000, float64(last)/16000, audio.DBFS(audio.Peak(pcm.Samples)),
			audio.DBFS(audio.RMS(pcm.Samples[first:last])))
		if pcm.RateHz != 16000 || len(parts) != 1 {
			t.Errorf("%s: %d Hz, %d stretches without a pause of 400 ms", name, pcm.RateHz, len(parts))
		}
		if first < 4720 || first > 5600 || n-last < 4720 || n-last > 6400 {
			t.Errorf("%s: loud from %d to %d of %d, want 0.3 s of silence at both ends", name, first, last, n)
		}
		if length := last - first; name == "cough" && (length < 1280 || length > 1920) {
			t.Errorf("cough of %d samples", length)
		}
	}
}

func TestSpeechOfNoName(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Speech("nobody")
}

func TestTransform(t *testing.T) {
	const n = 64
	rnd, z, want := seeded(1), make([]complex128, n), make([]complex128, n)
	for i := range z {
		z[i] = complex(rnd.NormFloat64(), rnd.NormFloat64())
	}
	for k := range want {
		for i, v := range z {
			want[k] += v * cmplx.Rect(1, -2*math.Pi*float64(i*k)/n)
		}
	}
	got := slices.Clone(z)
	forward(got)
	at := func(k int) int { // bit-reversed
		p := 0
		for b := 1; b < n; b *= 2 {
			p = 2*p + k/b%2
		}
		return p
	}
	for k := range want {
		if cmplx.Abs(got[at(k)]-want[k]) > 1e-9 {
			t.Errorf("frequency %d: %v, want %v", k, got[at(k)], want[k])
		}
		if mirror(at(k)) != at((n-k)%n) {
			t.Errorf("mirror of frequency %d is wrong", k)
		}
	}
	inverse(got)
	for i := range z {
		if cmplx.Abs(got[i]/n-z[i]) > 1e-9 {
			t.Errorf("sample %d: %v, want %v", i, got[i]/n, z[i])
		}
	}
}

func TestAlign(t *testing.T) {
	hello, question := Speech("hello").Samples, Speech("question").Samples
	quiet := make([]int16, len(hello))
	for i, v := range hello {
		quiet[i] = v / 20
	}
	join := func(parts ...[]int16) []int16 { return slices.Concat(parts...) }
	for _, c := range []struct {
		name       string
		ref, heard []int16
		lag        int
		min, max   float64
	}{
		{"the same", hello, hello, 0, 0.99999, 1.00001},
		{"later", hello, join(make([]int16, 12345), hello, make([]int16, 99)), 12345, 0.99999, 1.00001},
		{"after other words", hello, join(question, hello), len(question), 0.99999, 1.00001},
		{"quiet after loud", hello, join(question, question, quiet), 2 * len(question), 0.99, 1.00001},
		{"cut at the start", hello, hello[10000:], -10000, 0.7, 0.99},
		{"in noise of 10 dB", hello, Mix(join(make([]int16, 777), hello), White(seeded(1), 99999), 10), 777, 0.9, 0.99},
		{"a hole in it", hello, join(make([]int16, 5), hello[:9000], make([]int16, 320), hello[9320:]), 5, 0.9, 0.9999},
		{"other words", hello, question, -1 << 31, 0, 0.4},
		{"noise", hello, White(seeded(2), 100000), -1 << 31, 0, 0.1},
		{"silence", hello, make([]int16, 5000), 0, 0, 0},
		{"nothing", hello, nil, 0, 0, 0},
		{"nothing to look for", nil, hello, 0, 0, 0},
	} {
		lag, corr := Align(c.ref, c.heard)
		if c.lag != -1<<31 && lag != c.lag || corr < c.min || corr > c.max {
			t.Errorf("%s: lag %d, correlation %.4f, want %d, %.4f to %.4f", c.name, lag, corr, c.lag, c.min, c.max)
		}
	}
}

// TestAlignIsTheDirectSum compares with the definition at every lag.
func TestAlignIsTheDirectSum(t *testing.T) {
	rnd := seeded(3)
	ref, heard := White(rnd, 50), White(rnd, 70)
	c := crossCorrelation(ref, heard)
	for lag := -49; lag < 70; lag++ {
		want := 0.0
		for i, v := range ref {
			if j := i + lag; j >= 0 && j < len(heard) {
				want += float64(v) * float64(heard[j])
			}
		}
		if got := c[(lag+len(c))%len(c)]; math.Abs(got-want) > 1 {
			t.Errorf("lag %d: %.1f, want %.1f", lag, got, want)
		}
	}
}

func TestShift(t *testing.T) {
	heard := []int16{1, 2, 3}
	for _, c := range []struct {
		lag, n int
		want   []int16
	}{
		{0, 3, []int16{1, 2, 3}}, {1, 3, []int16{2, 3, 0}}, {-2, 4, []int16{0, 0, 1, 2}}, {5, 2, []int16{0, 0}},
		{-9, 2, []int16{0, 0}}, {0, 2, []int16{1, 2}},
	} {
		if got := Shift(heard, c.lag, c.n); !slices.Equal(got, c.want) {
			t.Errorf("Shift(%d, %d) = %v, want %v", c.lag, c.n, got, c.want)
		}
	}
}

func TestHoles(t *testing.T) {
	ref := Speech("long").Samples
	cut := func(from, n int) []int16 {
		out := slices.Clone(ref)
		clear(out[from : from+n])
		return out
	}
	if got := Holes(ref, ref, 16000); got != 0 {
		t.Errorf("none made: %d holes", got)
	}
	if got := Holes(ref, Mix(ref, White(seeded(4), len(ref)), 20), 16000); got != 0 {
		t.Errorf("noise: %d holes", got)
	}
	half := slices.Clone(ref)
	for i := range half {
		half[i] /= 2
	}
	if got := Holes(ref, half, 16000); got != 0 {
		t.Errorf("half as loud: %d holes", got)
	}
	found := 0
	for at := 8000; at < 120000; at += 1111 { // any alignment; only loud places count
		if audio.RMS(ref[at:at+320]) < 0.02 {
			continue
		}
		found++
		if got := Holes(ref, cut(at, 320), 16000); got != 1 {
			t.Errorf("20 ms cut out at %d: %d holes", at, got)
		}
	}
	if found < 50 {
		t.Errorf("only %d places tried", found)
	}
	if got := Holes(ref, ref[:len(ref)/2], 16000); got < 100 {
		t.Errorf("half of it missing: %d holes", got)
	}
}

// TestPieces: speech that comes torn, with time between its pieces or without some, is found; other speech is not.
func TestPieces(t *testing.T) {
	said := Speech("long").Samples
	var torn []int16
	for at := 0; at < len(said); at += 24000 {
		torn = append(append(torn, make([]int16, 3200)...), said[at:min(at+24000, len(said))]...)
	}
	_, all := Pieces(said, nil, 16000)
	if all < 10 {
		t.Fatalf("the speech has %d loud pieces", all)
	}
	for name, tt := range map[string]struct {
		heard       []int16
		least, most int
	}{
		"whole":  {said, all, all},
		"torn":   {torn, all * 9 / 10, all},
		"half":   {said[:len(said)/2], all*4/10 - 1, all*6/10 + 1},
		"other":  {Speech("german").Samples, 0, 0},
		"silent": {make([]int16, 16000), 0, 0},
	} {
		if found, loud := Pieces(said, tt.heard, 16000); loud != all || found < tt.least || found > tt.most {
			t.Errorf("%s: %d of %d pieces, want %d to %d", name, found, loud, tt.least, tt.most)
		}
	}
	if found, loud := Pieces(make([]int16, 16000), said, 16000); found != 0 || loud != 0 {
		t.Errorf("of silence %d of %d pieces", found, loud)
	}
}

func TestEnvelopeCorrelation(t *testing.T) {
	long := Speech("long")
	later := audio.PCM{RateHz: 48000, Samples: slices.Concat(make([]int16, 48000*3/2), Resample(long, 48000).Samples)}
	if corr, lag := EnvelopeCorrelation(long, later); corr < 0.99 || lag != 1500*time.Millisecond {
		t.Errorf("1.5 s later at another rate: %.3f, %v", corr, lag)
	}
	if corr, lag := EnvelopeCorrelation(later, long); corr < 0.99 || lag != -1500*time.Millisecond {
		t.Errorf("the other way round: %.3f, %v", corr, lag)
	}
	for _, c := range []struct{ a, b string }{{"long", "question"}, {"hello", "german"}, {"hello", "over"}} {
		if corr, _ := EnvelopeCorrelation(Speech(c.a), Speech(c.b)); corr > 0.8 {
			t.Errorf("%s like %s: %.3f", c.a, c.b, corr)
		}
	}
	silence := audio.PCM{RateHz: 16000, Samples: make([]int16, 160000)}
	if corr, _ := EnvelopeCorrelation(long, silence); corr != 0 {
		t.Errorf("silence: %.3f", corr)
	}
	if corr, _ := EnvelopeCorrelation(long, audio.PCM{RateHz: 8000}); corr != 0 {
		t.Errorf("nothing: %.3f", corr)
	}
}

func TestUtterances(t *testing.T) {
	hello, over := Speech("hello").Samples, Speech("over").Samples
	pcm := slices.Concat(make([]int16, 16000), hello, make([]int16, 16000), over)
	parts := Utterances(pcm, 16000, 500*time.Millisecond)
	if len(parts) != 2 {
		t.Fatalf("%d utterances, want 2", len(parts))
	}
	if lag, corr := Align(pcm[parts[1][0]:parts[1][1]], over); corr < 0.999 || lag < 4720 || lag > 5600 {
		t.Errorf("the second is not what was said: lag %d, correlation %.4f", lag, corr)
	}
	if FirstLoud(pcm, 16000) != parts[0][0] || LastLoud(pcm, 16000) != parts[1][1] {
		t.Errorf("loud from %d to %d, utterances %v", FirstLoud(pcm, 16000), LastLoud(pcm, 16000), parts)
	}
	if FirstLoud(nil, 16000) != -1 || LastLoud(make([]int16, 999), 16000) != -1 {
		t.Error("silence is loud")
	}
}

func TestNoise(t *testing.T) {
	low := func(pcm []int16) float64 { // share of energy under about 1 kHz at 16 kHz: a one-pole low-pass
		y, sum := 0.0, 0.0
		for _, v := range pcm {
			y += 0.3 * (float64(v) - y)
			sum += y * y
		}
		return sum / energy(pcm)
	}
	white, pink := White(seeded(5), 160000), Pink(seeded(5), 160000)
	for name, pcm := range map[string][]int16{"white": white, "pink": pink} {
		if db := audio.DBFS(audio.RMS(pcm)); math.Abs(db+20) > 0.1 {
			t.Errorf("%s: %.2f dBFS, want -20", name, db)
		}
	}
	if low(white) > 0.25 || low(pink) < 0.5 {
		t.Errorf("low share of white %.2f, of pink %.2f", low(white), low(pink))
	}
	if !slices.Equal(White(seeded(5), 100), White(seeded(5), 100)) || len(Pink(seeded(1), 0)) != 0 {
		t.Error("equal seeds, different noise")
	}
}

func TestMix(t *testing.T) {
	speech := Speech("long").Samples
	for _, snr := range []float64{20, 10, 5} {
		mixed := Mix(speech, White(seeded(6), 16000), snr)
		noise := make([]int16, len(speech))
		for i := range noise {
			noise[i] = mixed[i] - speech[i]
		}
		if got := 20 * math.Log10(activeRMS(speech)/audio.RMS(noise)); math.Abs(got-snr) > 0.2 {
			t.Errorf("mixed at %.1f dB, want %.1f", got, snr)
		}
	}
	if !slices.Equal(Mix(speech, nil, 10), speech) {
		t.Error("no noise changed speech")
	}
}

func BenchmarkAlignMinute(b *testing.B) {
	ref := White(seeded(8), 60*24000)
	heard := slices.Concat(make([]int16, 5000), ref[:len(ref)-5000])
	for b.Loop() {
		Align(ref, heard)
	}
}
