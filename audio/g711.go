package audio

import "math/bits"

// muBias is added to a magnitude to find its segment. muMax is the largest magnitude that then fits
// (ITU-T G.711 table 2, for 16-bit samples).
const (
	muBias = 0x84
	muMax  = 0x7FFF - muBias
)

// muLaw returns the 8-bit mu-law code of a sample (ITU-T G.711).
func muLaw(sample int16) byte {
	sign, magnitude := byte(0x80), int(sample)
	if magnitude < 0 {
		sign, magnitude = 0, -magnitude
	}
	magnitude = min(magnitude, muMax) + muBias
	segment := bits.Len(uint(magnitude)) - 8 // 0 to 7: with the bias there are at least eight bits
	step := byte(magnitude>>(segment+3)) & 0x0F
	return sign | ^(byte(segment)<<4|step)&0x7F
}

// muLawSample returns the sample of an 8-bit mu-law code.
func muLawSample(code byte) int16 {
	code = ^code
	magnitude := (int16(code&0x0F)<<3+muBias)<<(code>>4&7) - muBias
	if code&0x80 != 0 {
		return -magnitude
	}
	return magnitude
}

// aLaw returns the 8-bit A-law code of a sample (ITU-T G.711), with the even bits inverted as on
// the wire.
func aLaw(sample int16) byte {
	sign, magnitude := byte(0x80), int(sample)>>4 // 12 bits and a sign
	if magnitude < 0 {
		sign, magnitude = 0, ^magnitude // one step nearer to zero: -1 becomes 0
	}
	segment := max(bits.Len(uint(magnitude))-4, 0)
	shift := max(segment-1, 0)
	return (sign | byte(segment)<<4 | byte(magnitude>>shift)&0x0F) ^ 0x55
}

// aLawSample returns the sample of an 8-bit A-law code.
func aLawSample(code byte) int16 {
	code ^= 0x55
	segment := code >> 4 & 7
	magnitude := int16(code&0x0F)<<4 + 8
	if segment > 0 {
		magnitude = (magnitude + 0x100) << (segment - 1)
	}
	if code&0x80 == 0 {
		return -magnitude
	}
	return magnitude
}

// AppendMuLaw appends the mu-law codes of pcm (PCMU in RFC 3551), one byte for each sample. It does
// not allocate if dst has room.
func AppendMuLaw(dst []byte, pcm []int16) []byte {
	for _, s := range pcm {
		dst = append(dst, muLaw(s))
	}
	return dst
}

// AppendMuLawSamples appends the samples of mu-law codes. It does not allocate if dst has room.
func AppendMuLawSamples(dst []int16, codes []byte) []int16 {
	for _, c := range codes {
		dst = append(dst, muLawSample(c))
	}
	return dst
}

// AppendALaw appends the A-law codes of pcm (PCMA in RFC 3551), one byte for each sample. It does
// not allocate if dst has room.
func AppendALaw(dst []byte, pcm []int16) []byte {
	for _, s := range pcm {
		dst = append(dst, aLaw(s))
	}
	return dst
}

// AppendALawSamples appends the samples of A-law codes. It does not allocate if dst has room.
func AppendALawSamples(dst []int16, codes []byte) []int16 {
	for _, c := range codes {
		dst = append(dst, aLawSample(c))
	}
	return dst
}
