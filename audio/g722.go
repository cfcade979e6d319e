package audio

import "math"

const (
	// g722Recovery is how many samples of a band a decoder recovers after a loss: 160 ms. By then
	// the loss is forgotten, because the coefficients of the predictor shrink by 1/256 each sample.
	g722Recovery = 160 * 8
	// g722Margin is how much lower the limit of the poles is at the start of a recovery.
	g722Margin = 4096
)

// g722Band is one of the two bands: adaptive differential PCM with a predictor of two poles and six
// zeros. The names are those of the block diagrams in ITU-T G.722 clauses 3 and 4.
type g722Band struct {
	s, sp, sz int // the predicted signal and its parts
	r, p      [3]int
	a         [3]int // coefficients of the poles
	b, d      [7]int // coefficients of the zeros, and their differences
	nb, det   int    // logarithm of the scale, and the scale
	recovery  int    // samples left, at most g722Recovery; always 0 in an encoder
}

func saturate16(v int) int { return max(math.MinInt16, min(math.MaxInt16, v)) }

// predict adapts the predictor to the quantised difference and predicts the next sample (block 4).
func (b *g722Band) predict(d int) {
	b.d[0], b.r[0], b.p[0] = d, saturate16(b.s+d), saturate16(b.sz+d)
	a1, a2 := b.poles()
	b.zeros()
	for i := 6; i > 0; i-- {
		b.d[i] = b.d[i-1]
	}
	b.r[2], b.r[1] = b.r[1], b.r[0]
	b.p[2], b.p[1] = b.p[1], b.p[0]
	b.a[1], b.a[2] = a1, a2
	b.sp = saturate16(b.a[1]*saturate16(2*b.r[1])>>15 + b.a[2]*saturate16(2*b.r[2])>>15)
	b.sz = 0
	for i := 1; i <= 6; i++ {
		b.sz += b.b[i] * saturate16(2*b.d[i]) >> 15
	}
	b.sz = saturate16(b.sz)
	b.s = saturate16(b.sp + b.sz)
}

// poles returns the next coefficients of the poles (UPPOL2, UPPOL1).
func (b *g722Band) poles() (a1, a2 int) {
	same1, same2 := (b.p[0] < 0) == (b.p[1] < 0), (b.p[0] < 0) == (b.p[2] < 0)
	lean := saturate16(4 * b.a[1])
	if same1 {
		lean = min(-lean, math.MaxInt16)
	}
	a2, a1 = -128, -192
	if same2 {
		a2 = 128
	}
	if same1 {
		a1 = 192
	}
	a2 = max(-12288, min(12288, a2+lean>>7+b.a[2]*32512>>15))
	a1 = saturate16(a1 + b.a[1]*32640>>15)
	most := saturate16(15360 - a2)
	if b.recovery > 0 {
		most = max(0, most-g722Margin*b.recovery/g722Recovery)
		b.recovery--
	}
	return max(-most, min(most, a1)), a2
}

// zeros adapts the coefficients of the zeros (UPZERO).
func (b *g722Band) zeros() {
	step := 128
	if b.d[0] == 0 {
		step = 0
	}
	for i := 1; i <= 6; i++ {
		by := step
		if (b.d[i] < 0) != (b.d[0] < 0) {
			by = -step
		}
		b.b[i] = saturate16(by + b.b[i]*32640>>15)
	}
}

// scale adapts the scale (LOGSCL and SCALEL, LOGSCH and SCALEH).
func (b *g722Band) scale(by, most, shift int) {
	b.nb = max(0, min(most, b.nb*127>>7+by))
	mantissa := g722Exp[b.nb>>6&31]
	if shift -= b.nb >> 11; shift < 0 {
		b.det = mantissa << -shift << 2
		return
	}
	b.det = mantissa >> shift << 2
}

// low takes the six bits of the lower band. The lowest two do not affect its adaptation.
func (b *g722Band) low(code int) {
	d := b.det * g722Quantum4[code>>2] >> 15
	b.scale(g722Low[g722Rank[code>>2]], 18432, 8)
	b.predict(d)
}

// high takes the two bits of the higher band and returns their difference.
func (b *g722Band) high(code int) (d int) {
	d = b.det * g722Quantum2[code] >> 15
	b.scale(g722High[code&1], 22528, 10)
	b.predict(d)
	return d
}

// g722Split is the state of the quadrature mirror filter: 24 samples.
type g722Split [24]int

// push adds two samples and returns the sums over the even and the odd samples.
func (x *g722Split) push(a, b int) (even, odd int) {
	copy(x[:], x[2:])
	x[22], x[23] = a, b
	for i, c := range g722Mirror {
		even += x[2*i] * c
		odd += x[2*i+1] * g722Mirror[11-i]
	}
	return even, odd
}

// G722Encoder encodes 16 kHz PCM as G.722 at 64 kbit/s (ITU-T G.722 mode 1): one byte for two
// samples. The clock of G.722 in RTP is nevertheless 8,000 Hz (RFC 3551 section 4.5.2). Create one
// with [NewG722Encoder].
type G722Encoder struct {
	split     g722Split
	low, high g722Band
	odd       bool // waiting holds the first sample of a pair
	waiting   int16
}

// NewG722Encoder returns an encoder for a new stream.
func NewG722Encoder() *G722Encoder {
	return &G722Encoder{low: g722Band{det: 32}, high: g722Band{det: 8}}
}

// Append appends the codes of pcm, which may have any length; it keeps an odd last sample for the
// next call. It does not allocate if dst has room.
func (e *G722Encoder) Append(dst []byte, pcm []int16) []byte {
	for _, s := range pcm {
		if e.odd = !e.odd; e.odd {
			e.waiting = s
			continue
		}
		dst = append(dst, e.pair(int(e.waiting), int(s)))
	}
	return dst
}

// pair returns the code of two samples.
func (e *G722Encoder) pair(a, b int) byte {
	even, odd := e.split.push(a, b)
	low := e.low.quantiseLow((even + odd) >> 14)
	high := e.high.quantiseHigh((odd - even) >> 14)
	e.low.low(low)
	e.high.high(high)
	return byte(high<<6 | low)
}

// quantiseLow returns six bits for the difference to the prediction (QUANTL).
func (b *g722Band) quantiseLow(x int) int {
	d := saturate16(x - b.s)
	magnitude, codes := d, &g722Positive
	if d < 0 {
		magnitude, codes = -(d + 1), &g722Negative
	}
	i := 1
	for i < 30 && magnitude >= g722Decision[i]*b.det>>12 {
		i++
	}
	return codes[i]
}

// quantiseHigh returns two bits for the difference to the prediction (QUANTH).
func (b *g722Band) quantiseHigh(x int) int {
	d := saturate16(x - b.s)
	magnitude, code := d, 3
	if d < 0 {
		magnitude, code = -(d + 1), 1
	}
	if magnitude >= 564*b.det>>12 {
		code--
	}
	return code
}

// G722Decoder decodes G.722 at 64 kbit/s to 16 kHz PCM: two samples for each byte. All bytes are
// valid. Create one with [NewG722Decoder].
type G722Decoder struct {
	split     g722Split
	low, high g722Band
}

// NewG722Decoder returns a decoder for a new stream.
func NewG722Decoder() *G722Decoder {
	return &G722Decoder{low: g722Band{det: 32}, high: g722Band{det: 8}}
}

// Append appends two samples for each code. It does not allocate if dst has room.
func (d *G722Decoder) Append(dst []int16, codes []byte) []int16 {
	for _, c := range codes {
		code := int(c)
		low := limit15(d.low.s + d.low.det*g722Quantum6[code&63]>>15)
		d.low.low(code & 63)
		s := d.high.s
		high := limit15(s + d.high.high(code>>6))
		even, odd := d.split.push(low+high, low-high)
		dst = append(dst, int16(saturate16(odd>>11)), int16(saturate16(even>>11)))
	}
	return dst
}

// Lost reports that codes are missing before the next ones. After a loss the predictors differ from
// those of the encoder, and in silence that can ring as a thump of -45 dBFS. Lost therefore keeps
// the poles further from instability for 160 ms; speech recovers as well as without it. Lost does
// not conceal the gap. Without a call of Lost the decoder is bit-exact.
func (d *G722Decoder) Lost() { d.low.recovery, d.high.recovery = g722Recovery, g722Recovery }

// limit15 bounds the signal of a band (LIMIT).
func limit15(v int) int { return max(-16384, min(16383, v)) }
