package audio

import (
	"math"
	"math/bits"
	"sync"
)

const (
	// fftSize is the number of real points of a transform.
	fftSize = 512
	fftHalf = fftSize / 2
)

// spectrum computes the power spectrum of up to fftSize real samples, with a complex transform of
// half the size.
type spectrum struct {
	z [fftHalf]complex128 // even samples are real parts, odd ones imaginary parts
	*fftTables
}

// fftTables are the same for all transforms, which share them and do not change them.
type fftTables struct {
	twiddle [fftHalf]complex128 // exp(-2 pi i k / fftSize)
	swap    [fftHalf]uint8      // bit-reversed index
}

var sharedFFTTables = sync.OnceValue(func() *fftTables {
	t := &fftTables{}
	for k := range t.twiddle {
		sin, cos := math.Sincos(-2 * math.Pi * float64(k) / fftSize)
		t.twiddle[k] = complex(cos, sin)
		t.swap[k] = bits.Reverse8(uint8(k))
	}
	return t
})

// init must come before anything else.
func (s *spectrum) init() { s.fftTables = sharedFFTTables() }

// load sets the input to x times the window w, then zeros. Both have the same, even length.
func (s *spectrum) load(x []int16, w []float64) {
	clear(s.z[:])
	for i := 0; i+1 < len(x); i += 2 {
		s.z[s.swap[i/2]] = complex(float64(x[i])*w[i], float64(x[i+1])*w[i+1])
	}
}

// transform runs the complex transform in place: radix 2, decimation in time, the first stage
// without multiplications. load has put the input in bit-reversed order.
func (s *spectrum) transform() {
	z := &s.z
	for i := 0; i < fftHalf; i += 2 {
		z[i], z[i+1] = z[i]+z[i+1], z[i]-z[i+1]
	}
	for half := 2; half < fftHalf; half *= 2 {
		stride := fftHalf / half
		for start := 0; start < fftHalf; start += 2 * half {
			lo, hi := z[start:start+half], z[start+half:start+2*half]
			for k, j := 0, 0; k < len(lo) && k < len(hi); k, j = k+1, j+stride {
				w, h := s.twiddle[j&(fftHalf-1)], hi[k]
				t := complex(real(h)*real(w)-imag(h)*imag(w), real(h)*imag(w)+imag(h)*real(w))
				lo[k], hi[k] = lo[k]+t, lo[k]-t
			}
		}
	}
}

// power returns |X(k)|^2 of the real input for 0 < k < fftSize/2, after transform.
func (s *spectrum) power(k int) float64 {
	a, b, w := s.z[k&(fftHalf-1)], s.z[(fftHalf-k)&(fftHalf-1)], s.twiddle[k&(fftHalf-1)]
	even := complex(real(a)+real(b), imag(a)-imag(b))
	odd := complex(imag(a)+imag(b), real(b)-real(a))
	re := real(even) + real(odd)*real(w) - imag(odd)*imag(w)
	im := imag(even) + real(odd)*imag(w) + imag(odd)*real(w)
	return (re*re + im*im) / 4
}
