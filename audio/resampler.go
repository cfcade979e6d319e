package audio

import (
	"fmt"
	"math"
	"slices"
)

const (
	// tapsMin is the length of the filter in samples of the lower rate.
	tapsMin = 24
	// passband is the cutoff relative to the lower Nyquist frequency.
	passband = 0.92
	// kaiserBeta shapes the window: about 70 dB in the stop band.
	kaiserBeta = 7
	// phasesMax is the most rows of an exact table. 44.1 kHz to any usual rate needs fewer.
	phasesMax = 640
	// phasesBetween is the number of rows between which other ratios, such as 47,999 to 16,000 Hz,
	// interpolate.
	phasesBetween = 128
	// resampleBlock is the number of input samples filtered at a time.
	resampleBlock = 960
)

// Resampler converts a stream of mono PCM from one rate to another with a polyphase FIR filter. Its
// delay is 12 samples of the lower rate (0.25 to 1.5 ms). It is flat up to about 0.8 of the lower
// Nyquist frequency and keeps aliases below -70 dB. 20 ms of input give exactly 20 ms of output. If
// the rates are equal it copies.
type Resampler struct {
	in, out  int // the ratio in lowest terms: out samples for each in samples
	taps     int
	phases   int       // rows of the table, less one if it interpolates
	table    []float32 // phase-major, each row reversed: an output is a dot product
	buf      []float32 // taps-1 samples of history, then a block of input
	pos      int       // position of the next output in the block, in whole samples of input,
	rem      int       // and the fraction rem/out of one
	identity bool
}

// NewResampler returns a Resampler from inHz to outHz, or an error if [CheckRate] refuses one of
// them. It computes a table of at most 80 kB, which takes about 1 ms.
func NewResampler(inHz, outHz int) (*Resampler, error) {
	for _, hz := range []int{inHz, outHz} {
		if err := CheckRate(hz); err != nil {
			return nil, fmt.Errorf("audio: new resampler %d to %d Hz: %w", inHz, outHz, err)
		}
	}
	g := gcd(inHz, outHz)
	r := &Resampler{in: inHz / g, out: outHz / g, identity: inHz == outHz}
	if r.identity {
		return r, nil
	}
	decimation := max(1, float64(inHz)/float64(outHz))
	r.taps = (int(math.Ceil(tapsMin*decimation)) + 3) / 4 * 4
	r.phases = r.out
	rows := r.phases
	if max(r.in, r.out) > phasesMax {
		r.phases, rows = phasesBetween, phasesBetween+1
	}
	r.table = make([]float32, 0, rows*r.taps)
	for p := range rows { // the half makes the filter symmetric
		r.table = appendRow(r.table, (float64(p)+0.5)/float64(r.phases), r.taps, passband/decimation)
	}
	r.buf = make([]float32, r.taps-1+resampleBlock)
	return r, nil
}

// Resample appends src at the new rate to dst and returns the result. The pieces of a stream may
// have any length: their outputs join to the output of the whole. After n samples of input there
// are n*out/in samples of output, rounded up. dst and src must not overlap, unless the rates are
// equal. Resample does not allocate if dst has room.
func (r *Resampler) Resample(dst, src []int16) []int16 {
	if r.identity {
		return append(dst, src...)
	}
	dst = slices.Grow(dst, r.outputs(len(src)))
	for len(src) > 0 {
		n := min(len(src), resampleBlock)
		for i, s := range src[:n] {
			r.buf[r.taps-1+i] = float32(s)
		}
		dst = r.filter(dst, n)
		copy(r.buf, r.buf[n:n+r.taps-1])
		src = src[n:]
	}
	return dst
}

// Reset forgets the past samples. The next sample begins a new stream.
func (r *Resampler) Reset() {
	clear(r.buf)
	r.pos, r.rem = 0, 0
}

// outputs returns the number of outputs that n more samples of input give.
func (r *Resampler) outputs(n int) int {
	return max(0, ((n-r.pos)*r.out-r.rem+r.in-1)/r.in)
}

// filter appends the outputs of a block of n input samples.
func (r *Resampler) filter(dst []int16, n int) []int16 {
	whole, part := r.in/r.out, r.in%r.out
	exact := r.phases == r.out
	for r.pos < n {
		x := r.buf[r.pos : r.pos+r.taps]
		if exact {
			dst = append(dst, saturate(dot(r.table[r.rem*r.taps:(r.rem+1)*r.taps], x)))
		} else {
			dst = append(dst, saturate(r.between(x)))
		}
		r.pos += whole
		if r.rem += part; r.rem >= r.out {
			r.rem -= r.out
			r.pos++
		}
	}
	r.pos -= n
	return dst
}

// between interpolates linearly between the two rows next to the wanted phase.
func (r *Resampler) between(x []float32) float32 {
	at := r.rem * r.phases
	p, f := at/r.out, float32(at%r.out)/float32(r.out)
	a := dot(r.table[p*r.taps:(p+1)*r.taps], x)
	b := dot(r.table[(p+1)*r.taps:(p+2)*r.taps], x)
	return a + f*(b-a)
}

// appendRow appends one phase of a low-pass filter, a sinc under a Kaiser window. Its output lies
// the fraction frac of a sample after the newest input. cutoff is relative to the Nyquist frequency
// of the input. The sum of a row is 1.
func appendRow(table []float32, frac float64, taps int, cutoff float64) []float32 {
	row := make([]float64, taps)
	half, sum := float64(taps)/2, 0.0
	for j := range row {
		x := float64(j) + frac - half // distance from the filter's centre in input samples
		v := sinc(cutoff*x) * kaiser(x/half)
		row[taps-1-j] = v
		sum += v
	}
	for _, v := range row {
		table = append(table, float32(v/sum))
	}
	return table
}

// dot returns the scalar product of a and b. Both have the same length, a multiple of four.
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	for len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	return s0 + s1 + s2 + s3
}

// saturate rounds half to even and limits the result to the range of a sample.
func saturate(v float32) int16 {
	return int16(max(math.MinInt16, min(math.MaxInt16, math.RoundToEven(float64(v)))))
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// kaiser returns the Kaiser window at x in [-1, 1], without its constant factor.
func kaiser(x float64) float64 {
	if x < -1 || x > 1 {
		return 0
	}
	return bessel0(kaiserBeta * math.Sqrt(1-x*x))
}

// bessel0 returns the modified Bessel function of order zero, by its power series.
func bessel0(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > 1e-12*sum; k++ {
		term *= (x / (2 * k)) * (x / (2 * k))
		sum += term
	}
	return sum
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
