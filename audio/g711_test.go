package audio

import (
	"math"
	"testing"
)

// TestG711Codes: every code stands for a sample that has that code again. Mu-law has two zeros.
func TestG711Codes(t *testing.T) {
	for c := range 256 {
		code := byte(c)
		if got := muLaw(muLawSample(code)); got != code && code != 0x7F {
			t.Errorf("mu-law %#x is %d, whose code is %#x", code, muLawSample(code), got)
		}
		if got := aLaw(aLawSample(code)); got != code {
			t.Errorf("A-law %#x is %d, whose code is %#x", code, aLawSample(code), got)
		}
	}
}

// TestG711Values are decision and reconstruction values of ITU-T G.711 tables 1 and 2, at 16 bits:
// four times those of the 14-bit mu-law, eight times those of the 13-bit A-law.
func TestG711Values(t *testing.T) {
	for _, v := range []struct {
		code   byte
		sample int16
	}{
		{0x80, 8031 * 4}, {0x8F, 4191 * 4}, {0x9F, 2079 * 4}, {0xAF, 1023 * 4}, {0xBF, 495 * 4}, {0xCF, 231 * 4},
		{0xDF, 99 * 4}, {0xEF, 33 * 4}, {0xFE, 2 * 4}, {0xFF, 0}, {0x00, -8031 * 4}, {0x7E, -2 * 4}, {0x7F, 0},
	} {
		if got := muLawSample(v.code); got != v.sample {
			t.Errorf("mu-law %#x is %d, want %d", v.code, got, v.sample)
		}
	}
	for _, v := range []struct {
		code   byte
		sample int16
	}{
		{0xFF, 4032 * 8}, {0xE0, 1056 * 8}, {0x80, 8}, {0x00, -8}, {0x7F, -4032 * 8}, // before the inversion
	} {
		if got := aLawSample(v.code ^ 0x55); got != v.sample {
			t.Errorf("A-law %#x is %d, want %d", v.code, got, v.sample)
		}
	}
}

// TestG711Nearest: no other code is nearer to a sample than the one it gets, but for the ends of a
// step.
func TestG711Nearest(t *testing.T) {
	laws := []struct {
		name   string
		code   func(int16) byte
		sample func(byte) int16
	}{{"mu-law", muLaw, muLawSample}, {"A-law", aLaw, aLawSample}}
	for _, law := range laws {
		for s := math.MinInt16; s <= math.MaxInt16; s += 7 {
			got := int(law.sample(law.code(int16(s))))
			best := math.MaxInt
			for c := range 256 {
				best = min(best, distance(s, int(law.sample(byte(c)))))
			}
			step := max(distance(s, 0)/16, 8)
			if d := distance(s, got); d > best+step/2 {
				t.Errorf("%s: %d becomes %d; there is a code %d away", law.name, s, got, best)
			}
		}
	}
}

func distance(a, b int) int { return max(a-b, b-a) }

func TestG711Slices(t *testing.T) {
	pcm := []int16{-32768, -1000, -1, 0, 1, 1000, 32767}
	mu, a := AppendMuLaw(nil, pcm), AppendALaw(nil, pcm)
	for i, s := range pcm {
		if mu[i] != muLaw(s) || a[i] != aLaw(s) {
			t.Errorf("sample %d has the codes %#x and %#x", s, mu[i], a[i])
		}
	}
	muBack, aBack := AppendMuLawSamples(nil, mu), AppendALawSamples(nil, a)
	for i := range pcm {
		if muBack[i] != muLawSample(mu[i]) || aBack[i] != aLawSample(a[i]) {
			t.Errorf("codes %#x and %#x became %d and %d", mu[i], a[i], muBack[i], aBack[i])
		}
	}
}
