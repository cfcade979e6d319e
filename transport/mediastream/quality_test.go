package mediastream_test

import (
	"math"
	"testing"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport/phone"
)

// The way of sound through a telephone call: the model's 24 kHz become 8 kHz for the caller, the
// caller's 8 kHz become 16 kHz for the model, and both are G.711 in between. docs/twilio.md has the
// figures that this file holds.
const (
	modelOutHz, modelInHz, lineHz = 24000, 16000, 8000
	toneLevel                     = 10000 // peak
)

func tone(hz float64, rateHz int) []int16 {
	pcm := make([]int16, rateHz)
	for i := range pcm {
		pcm[i] = int16(math.Round(toneLevel * math.Sin(2*math.Pi*hz*float64(i)/float64(rateHz))))
	}
	return pcm
}

// converted is a tone behind a resampler, without the ends.
func converted(t *testing.T, hz float64, fromHz, toHz int) []int16 {
	t.Helper()
	r, err := audio.NewResampler(fromHz, toHz)
	if err != nil {
		t.Fatal(err)
	}
	out := r.Resample(nil, tone(hz, fromHz))
	return out[len(out)/10 : len(out)*9/10]
}

// level is the level of a frequency in pcm, in dB over the tone's.
func level(pcm []int16, hz float64, rateHz int) float64 {
	var re, im float64
	for i, s := range pcm {
		w := 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(len(pcm))) // Hann
		a := 2 * math.Pi * hz * float64(i) / float64(rateHz)
		re += w * float64(s) * math.Cos(a)
		im += w * float64(s) * math.Sin(a)
	}
	return dB(math.Hypot(re, im) * 4 / float64(len(pcm)) / toneLevel)
}

func dB(x float64) float64 { return 20 * math.Log10(max(x, 1e-9)) }

// total is the level of everything in pcm, in dB over the tone's.
func total(pcm []int16) float64 { return dB(audio.RMS(pcm) * 32768 * math.Sqrt2 / toneLevel) }

// TestAliases: what the model says above 4 kHz must not fold into what the caller hears.
func TestAliases(t *testing.T) {
	worst, at := -200.0, 0.0
	for hz := 4400.0; hz < 12000; hz += 100 {
		if l := total(converted(t, hz, modelOutHz, lineHz)); l > worst {
			worst, at = l, hz
		}
	}
	t.Logf("24 to 8 kHz: tones of 4.4 to 12 kHz come through at %.1f dB at most (%.0f Hz)", worst, at)
	if worst > -60 {
		t.Errorf("a tone of %.0f Hz comes through at %.1f dB, want under -60", at, worst)
	}
}

// TestImages: what the caller says must not appear again above 4 kHz in what the model hears.
func TestImages(t *testing.T) {
	worst, at := -200.0, 0.0
	for hz := 300.0; hz <= 3400; hz += 100 {
		if l := level(converted(t, hz, lineHz, modelInHz), lineHz-hz, modelInHz); l > worst {
			worst, at = l, hz
		}
	}
	t.Logf("8 to 16 kHz: images of tones of 300 to 3400 Hz are at %.1f dB at most (%.0f Hz)", worst, at)
	if worst > -60 {
		t.Errorf("the image of a tone of %.0f Hz is at %.1f dB, want under -60", at, worst)
	}
}

// TestFlatness: in the band of a telephone both ways change levels by less than half a decibel up
// to 3 kHz.
func TestFlatness(t *testing.T) {
	for _, way := range [][2]int{{modelOutHz, lineHz}, {lineHz, modelInHz}} {
		low, high := 200.0, -200.0
		for hz := 300.0; hz <= 3000; hz += 100 {
			l := level(converted(t, hz, way[0], way[1]), hz, way[1])
			low, high = min(low, l), max(high, l)
		}
		edge := level(converted(t, 3400, way[0], way[1]), 3400, way[1])
		t.Logf("%d to %d Hz: %+.2f to %+.2f dB at 300 to 3000 Hz, %+.1f dB at 3400 Hz", way[0], way[1], low, high, edge)
		if low < -0.5 || high > 0.5 || edge < -3 {
			t.Errorf("%d to %d Hz: %+.2f to %+.2f dB, %+.1f dB at 3400 Hz", way[0], way[1], low, high, edge)
		}
	}
}

// TestCoding: the noise of G.711 is what the standard says it is, about 38 dB under the sound
// (ITU-T G.712).
func TestCoding(t *testing.T) {
	for _, codec := range []phone.Codec{phone.PCMU, phone.PCMA} {
		in := tone(1004, lineHz)
		out := codec.AppendSamples(nil, codec.AppendBytes(nil, in))
		var signal, noise float64
		for i := range in {
			d := float64(out[i]) - float64(in[i])
			signal += float64(in[i]) * float64(in[i])
			noise += d * d
		}
		snr := 10 * math.Log10(signal/noise)
		t.Logf("%s: %.1f dB", codec, snr)
		if snr < 35 {
			t.Errorf("%s: the noise is %.1f dB under a tone, want 35", codec, snr)
		}
	}
}
