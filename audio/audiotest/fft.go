package audiotest

import (
	"math"
	"math/bits"
	"sync"
)

// twiddles has for each length 2, 4, 8 ... a function that returns exp(-2 pi i k / length). It
// computes them once in a process: that takes as long as a transform.
var twiddles = func() (list [40]func() []complex128) {
	for i := range list {
		list[i] = sync.OnceValue(func() []complex128 {
			length := 2 << i
			w := make([]complex128, length/2)
			for k := range w {
				sin, cos := math.Sincos(-2 * math.Pi * float64(k) / float64(length))
				w[k] = complex(cos, sin)
			}
			return w
		})
	}
	return list
}()

// level returns the twiddles of length n.
func level(n int) []complex128 { return twiddles[bits.Len(uint(n))-2]() }

// forward is a complex Fourier transform, in place, for long signals whose length is a power of two.
// It recurses depth first to stay in the cache. The result is in bit-reversed order.
func forward(z []complex128) {
	if len(z) < 2 {
		return
	}
	lo, hi, w := z[:len(z)/2], z[len(z)/2:], level(len(z))
	hi, w = hi[:len(lo)], w[:len(lo)]
	for k, a := range lo {
		b := hi[k]
		lo[k], hi[k] = a+b, (a-b)*w[k]
	}
	forward(lo)
	forward(hi)
}

// inverse reverts forward, times len(z).
func inverse(z []complex128) {
	if len(z) < 2 {
		return
	}
	lo, hi, w := z[:len(z)/2], z[len(z)/2:], level(len(z))
	inverse(lo)
	inverse(hi)
	hi, w = hi[:len(lo)], w[:len(lo)]
	for k, a := range lo {
		b := hi[k] * complex(real(w[k]), -imag(w[k]))
		lo[k], hi[k] = a+b, a-b
	}
}

// mirror returns the index of frequency -k, if p is the index of k in bit-reversed order.
func mirror(p int) int {
	if p == 0 {
		return 0
	}
	top := 1 << (bits.Len(uint(p)) - 1)
	return 3*top - 1 - p
}

// crossCorrelation returns c with c[lag] = sum of ref[i]*heard[i+lag]; a negative lag is at
// len(c)+lag.
func crossCorrelation(ref, heard []int16) []float64 {
	n := 2
	for n < len(ref)+len(heard) {
		n *= 2
	}
	z := make([]complex128, n) // one transform for both: ref is the real part, heard the imaginary part
	for i, v := range ref {
		z[i] = complex(float64(v), 0)
	}
	for i, v := range heard {
		z[i] += complex(0, float64(v))
	}
	forward(z)
	for p := range z {
		q := mirror(p)
		if q < p {
			continue
		}
		a, b := z[p], z[q]
		z[p], z[q] = cross(a, b), cross(b, a)
	}
	inverse(z)
	c := make([]float64, n)
	for i, v := range z {
		c[i] = real(v) / float64(n)
	}
	return c
}

// cross returns conj(R)*H at one frequency. a is R+iH there, and b is R+iH at the opposite
// frequency.
func cross(a, b complex128) complex128 {
	b = complex(real(b), -imag(b))
	r, h := (a+b)/2, (a-b)/complex(0, 2)
	return complex(real(r), -imag(r)) * h
}
