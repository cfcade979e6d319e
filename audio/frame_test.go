package audio

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestFrameSamples(t *testing.T) {
	for _, c := range []struct{ rateHz, want int }{
		{8000, 160}, {11025, 220}, {16000, 320}, {22050, 441}, {24000, 480}, {44100, 882}, {48000, 960},
	} {
		if got := FrameSamples(c.rateHz); got != c.want {
			t.Errorf("FrameSamples(%d) = %d, want %d", c.rateHz, got, c.want)
		}
	}
}

func TestCheckRate(t *testing.T) {
	for _, hz := range []int{8000, 11025, 16000, 22050, 24000, 32000, 44100, 47999, 48000} {
		if err := CheckRate(hz); err != nil {
			t.Errorf("CheckRate(%d) = %v, want nil", hz, err)
		}
	}
	for _, hz := range []int{-16000, 0, 7999, 48001, 96000} {
		err := CheckRate(hz)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprint(hz)) {
			t.Errorf("CheckRate(%d) = %v, want an error that names the rate", hz, err)
		}
		if _, err := NewFramer(hz); err == nil {
			t.Errorf("NewFramer(%d) accepted the rate", hz)
		}
	}
}

// ramp is a signal in which each sample tells its own position.
func ramp(n int) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(i)
	}
	return pcm
}

func TestFramerCutsAnyPieces(t *testing.T) {
	for _, rateHz := range []int{8000, 11025, 16000, 22050, 44100, 47999, 48000} {
		for _, piece := range []int{1, 7, 319, 320, 321, 1000, 4096} {
			framer, err := NewFramer(rateHz)
			if err != nil {
				t.Fatal(err)
			}
			in := ramp(rateHz) // one second
			var got []int16
			frames := 0
			for p := range slices.Chunk(in, piece) {
				framer.Push(p, func(frame []int16) {
					if n := FrameSamples(rateHz); len(frame) != n && (rateHz%50 == 0 || len(frame) != n+1) {
						t.Fatalf("%d Hz: frame of %d samples", rateHz, len(frame))
					}
					frames++
					got = append(got, frame...)
				})
			}
			if frames != 50 || framer.Pending() != 0 {
				t.Errorf("%d Hz in pieces of %d: %d frames and %d samples pending, want 50 and 0",
					rateHz, piece, frames, framer.Pending())
			}
			if !slices.Equal(got, in) {
				t.Errorf("%d Hz in pieces of %d: the samples changed", rateHz, piece)
			}
		}
	}
}

func TestFramerReset(t *testing.T) {
	framer, _ := NewFramer(16000)
	framer.Push(ramp(319), func([]int16) { t.Error("a frame of 319 samples") })
	framer.Reset()
	n := 0
	framer.Push(ramp(321)[1:], func(frame []int16) {
		n++
		if frame[0] != 1 {
			t.Errorf("the frame begins with sample %d of before the reset", frame[0])
		}
	})
	if n != 1 {
		t.Errorf("%d frames after the reset, want 1", n)
	}
}

func TestFramerAllocatesNothing(t *testing.T) {
	framer, _ := NewFramer(16000)
	pcm, n := ramp(333), 0
	if a := testing.AllocsPerRun(100, func() { framer.Push(pcm, func(f []int16) { n += len(f) }) }); a != 0 {
		t.Errorf("%v allocations per Push, want 0", a)
	}
}

func TestBytesAndSamples(t *testing.T) {
	pcm := []int16{0, 1, -1, 256, 32767, -32768}
	le := []byte{0, 0, 1, 0, 255, 255, 0, 1, 255, 127, 0, 128}
	if got := AppendBytes([]byte{9}, pcm); !bytes.Equal(got, append([]byte{9}, le...)) {
		t.Errorf("AppendBytes = %v, want 9 and %v", got, le)
	}
	if got := AppendSamples([]int16{9}, append(le, 77)); !slices.Equal(got, append([]int16{9}, pcm...)) {
		t.Errorf("AppendSamples = %v, want 9 and %v", got, pcm)
	}
	dst, raw := make([]int16, 0, 320), make([]byte, 0, 640)
	a := testing.AllocsPerRun(100, func() {
		raw = AppendBytes(raw[:0], pcm)
		dst = AppendSamples(dst[:0], raw)
	})
	if a != 0 {
		t.Errorf("%v allocations per conversion, want 0", a)
	}
}

func BenchmarkFramer(b *testing.B) {
	framer, _ := NewFramer(16000)
	pcm, n := ramp(333), 0
	b.ReportAllocs()
	for b.Loop() {
		framer.Push(pcm, func(f []int16) { n += len(f) })
	}
}

// testRand is the seeded source of the tests of this package.
func testRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }
