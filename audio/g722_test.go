package audio_test

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
)

// tone16 is a sine at 16 kHz.
func tone16(hz, amplitude float64, n int) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(amplitude * math.Sin(2*math.Pi*hz*float64(i)/16000))
	}
	return pcm
}

// roundTrip is what comes out of an encoder and a decoder, moved to lie under what went in: their
// mirror filters delay by 22 samples.
func roundTrip(pcm []int16) []int16 {
	codes := audio.NewG722Encoder().Append(nil, pcm)
	return audiotest.Shift(audio.NewG722Decoder().Append(nil, codes), 22, len(pcm))
}

// snr is how much louder ref is than what heard differs from it, in dB.
func snr(ref, heard []int16) float64 {
	var signal, noise float64
	for i := range ref {
		d := float64(ref[i]) - float64(heard[i])
		signal, noise = signal+float64(ref[i])*float64(ref[i]), noise+d*d
	}
	return 10 * math.Log10(signal/noise)
}

// TestG722RoundTrip: tones of both bands come back, the lower ones, with six bits, the better.
func TestG722RoundTrip(t *testing.T) {
	for _, test := range []struct{ hz, want float64 }{{200, 25}, {1000, 25}, {3000, 25}, {5000, 11}, {6500, 11}} {
		in := tone16(test.hz, 8000, 16000)
		out := roundTrip(in)
		if got := snr(in[1600:14400], out[1600:14400]); got < test.want {
			t.Errorf("%v Hz comes back %.1f dB above its noise, want %v", test.hz, got, test.want)
		} else {
			t.Logf("%v Hz: %.1f dB", test.hz, got)
		}
	}
}

// TestG722Speech is what a caller hears.
func TestG722Speech(t *testing.T) {
	in := audiotest.Speech("question").Samples
	out := roundTrip(in)
	lag, corr := audiotest.Align(in, out)
	if corr < 0.99 || lag != 0 {
		t.Errorf("speech comes back like itself by %.4f at %d", corr, lag)
	}
	if got := snr(in, out); got < 15 {
		t.Errorf("speech comes back %.1f dB above its noise", got)
	}
}

// TestG722Pieces: the stream may be cut anywhere.
func TestG722Pieces(t *testing.T) {
	in := audiotest.Speech("hello").Samples
	whole := audio.NewG722Encoder().Append(nil, in)
	e := audio.NewG722Encoder()
	var pieces []byte
	for n := 1; len(in) > 0; n = n%37 + 1 {
		k := min(n, len(in))
		pieces, in = e.Append(pieces, in[:k]), in[k:]
	}
	if string(whole) != string(pieces) {
		t.Error("the pieces' codes do not join to those of the whole")
	}
}

// TestG722Extremes: the loudest sound does not wrap around.
func TestG722Extremes(t *testing.T) {
	in := tone16(400, 32767, 8000)
	for i := range in {
		if in[i] > 20000 {
			in[i] = 32767
		} else if in[i] < -20000 {
			in[i] = -32768
		}
	}
	if got := snr(in[800:7000], roundTrip(in)[800:7000]); got < 15 {
		t.Errorf("a square wave comes back %.1f dB above its noise", got)
	}
}

// lossy decodes the packets of codes, of 20 ms each, but for one in twenty. tell is called for each
// that is lost. It returns what came, and what would have without a loss, with the numbers of the
// packets.
func lossy(codes []byte, seed uint64, tell func(*audio.G722Decoder)) (came, whole [][]int16, at []int) {
	rnd := rand.New(rand.NewPCG(seed, 722))
	d, exact := audio.NewG722Decoder(), audio.NewG722Decoder()
	n := 0
	for packet := range slices.Chunk(codes, 160) {
		pcm := exact.Append(nil, packet)
		if rnd.IntN(20) == 0 {
			tell(d)
		} else {
			came, whole, at = append(came, d.Append(nil, packet)), append(whole, pcm), append(at, n)
		}
		n++
	}
	return came, whole, at
}

func without(*audio.G722Decoder) {}

// TestG722LostInSilence loses packets of digital silence behind speech: what is left of it stays
// quiet. Without Lost the decoder thumps.
func TestG722LostInSilence(t *testing.T) {
	worst := func(tell func(*audio.G722Decoder)) (loudest float64) {
		for seed, name := range audiotest.SpeechNames() {
			pcm := audiotest.Speech(name).Samples
			from := len(pcm)/320 + 25
			came, _, at := lossy(audio.NewG722Encoder().Append(nil, append(pcm, make([]int16, 10*16000)...)), uint64(seed), tell)
			for i, frame := range came {
				if at[i] >= from {
					loudest = max(loudest, audio.RMS(frame))
				}
			}
		}
		return audio.DBFS(loudest)
	}
	with, not := worst((*audio.G722Decoder).Lost), worst(without)
	t.Logf("the loudest 20 ms: %.1f dBFS; without Lost: %.1f", with, not)
	if with > -55 || not < -55 {
		t.Errorf("the loudest 20 ms are %.1f dBFS, want at most -55; without Lost %.1f", with, not)
	}
}

// TestG722LostInSpeech loses packets of speech: the sound after a loss is as good as without Lost.
func TestG722LostInSpeech(t *testing.T) {
	mean := func(tell func(*audio.G722Decoder)) float64 {
		sum, n := 0.0, 0
		for seed := range uint64(40) {
			names := audiotest.SpeechNames()
			pcm := audiotest.Speech(names[seed%uint64(len(names))]).Samples
			came, whole, at := lossy(audio.NewG722Encoder().Append(nil, pcm), seed, tell)
			lost := -100
			for i, frame := range came {
				if i > 0 && at[i] > at[i-1]+1 {
					lost = at[i]
				}
				if at[i] < lost+5 && audio.RMS(whole[i]) >= audiotest.Loud {
					sum, n = sum+min(snr(whole[i], frame), 60), n+1
				}
			}
		}
		return sum / float64(n)
	}
	with, not := mean((*audio.G722Decoder).Lost), mean(without)
	t.Logf("within 100 ms of a loss speech is %.2f dB above what it differs by; without Lost: %.2f", with, not)
	if with < not-0.5 {
		t.Errorf("within 100 ms of a loss speech is %.2f dB above what it differs by, and %.2f without Lost", with, not)
	}
}

// TestG722Alloc pins what a frame costs.
func TestG722Alloc(t *testing.T) {
	e, d := audio.NewG722Encoder(), audio.NewG722Decoder()
	in, codes, out := tone16(1000, 8000, 320), make([]byte, 0, 160), make([]int16, 0, 320)
	if n := testing.AllocsPerRun(100, func() { out = d.Append(out[:0], e.Append(codes[:0], in)) }); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

// FuzzG722 decodes anything, and encodes what comes out.
func FuzzG722(f *testing.F) {
	f.Add([]byte{0, 0xFF, 0x7F, 0x80, 0x3F})
	f.Add(audio.NewG722Encoder().Append(nil, tone16(1000, 30000, 64)))
	f.Fuzz(func(t *testing.T, codes []byte) {
		pcm := audio.NewG722Decoder().Append(nil, codes)
		if len(pcm) != 2*len(codes) {
			t.Fatalf("%d samples of %d codes", len(pcm), len(codes))
		}
		if again := audio.NewG722Encoder().Append(nil, pcm); len(again) != len(codes) {
			t.Fatalf("%d codes of %d samples", len(again), len(pcm))
		}
	})
}

func BenchmarkG722Encode(b *testing.B) {
	e := audio.NewG722Encoder()
	in, codes := audiotest.Speech("question").Samples[8000:8320], make([]byte, 0, 160)
	b.ReportAllocs()
	for b.Loop() {
		codes = e.Append(codes[:0], in)
	}
}

func BenchmarkG722Decode(b *testing.B) {
	d := audio.NewG722Decoder()
	codes := audio.NewG722Encoder().Append(nil, audiotest.Speech("question").Samples[8000:8320])
	out := make([]int16, 0, 320)
	b.ReportAllocs()
	for b.Loop() {
		out = d.Append(out[:0], codes)
	}
}

// TestG722Exact compares codes and samples with those of FFmpeg 5.1, by their checksums.
func TestG722Exact(t *testing.T) {
	in := audiotest.Speech("question").Samples
	codes := audio.NewG722Encoder().Append(nil, in)
	sound := audio.AppendBytes(nil, audio.NewG722Decoder().Append(nil, codes))
	for _, sum := range []struct {
		what, want string
		of         []byte
	}{
		{"codes", "a1660f59ff1211fbc54eadcb26533925cf0ed10df4d9e15bd9a4b287b3907d59", codes},
		{"samples", "b7386ac2e514bfa6b0b85a8a62a5a8916ec6a09d8337ec3167d6dccd0049be94", sound},
	} {
		if got := fmt.Sprintf("%x", sha256.Sum256(sum.of)); got != sum.want {
			t.Errorf("the %s of speech have the sum %s", sum.what, got)
		}
	}
}
