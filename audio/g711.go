package audio

import "math/bits"

// muBias is added to a magnitude before its segment is looked up, and muMax is the largest magnitude that fits
// (ITU-T G.711 table 2, on 16-bit samples).
const (
	muBias = 0x84
	muMax  = 0x7FFF - muBias
)

// MuLaw is the 8-bit mu-law code of a sample (ITU-T G.711, PCMU in RFC 3551).
func MuLaw(sample int16) byte {
	sign, magnitude := byte(0x80), int(sample)
	if magnitude < 0 {
		sign, magnitude = 0, -magnitude
	}
	magnitude = min(magnitude, muMax) + muBias
	segment := bits.Len(uint(magnitude)) - 8 // 0 to 7: the bias sees to at least eight bits
	step := byte(magnitude>>(segment+3)) & 0x0F
	return sign | ^(byte(segment)<<4|step)&0x7F
}

// MuLawSample is the sample of an 8-bit mu-law code.
func MuLawSample(code byte) int16 {
	code = ^code
	magnitude := (int16(code&0x0F)<<3+muBias)<<(code>>4&7) - muBias
	if code&0x80 != 0 {
		return -magnitude
	}
	return magnitude
}

// ALaw is the 8-bit A-law code of a sample (ITU-T G.711, PCMA in RFC 3551), with the even bits inverted as on the wire.
func ALaw(sample int16) byte {
	sign, magnitude := byte(0x80), int(sample)>>4 // 12 bits and a sign
	if magnitude < 0 {
		sign, magnitude = 0, ^magnitude // one step nearer to zero: -1 has the code of 0
	}
	segment := max(bits.Len(uint(magnitude))-4, 0)
	shift := max(segment-1, 0)
	return (sign | byte(segment)<<4 | byte(magnitude>>shift)&0x0F) ^ 0x55
}

// ALawSample is the sample of an 8-bit A-law code.
func ALawSample(code byte) int16 {
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

// AppendMuLaw appends the mu-law codes of pcm, one byte a sample. It does not allocate when dst has room.
func AppendMuLaw(dst []byte, pcm []int16) []byte {
	for _, s := range pcm {
		dst = append(dst, MuLaw(s))
	}
	return dst
}

// AppendMuLawSamples appends the samples of mu-law codes. It does not allocate when dst has room.
func AppendMuLawSamples(dst []int16, codes []byte) []int16 {
	for _, c := range codes {
		dst = append(dst, MuLawSample(c))
	}
	return dst
}

// AppendALaw appends the A-law codes of pcm, one byte a sample. It does not allocate when dst has room.
func AppendALaw(dst []byte, pcm []int16) []byte {
	for _, s := range pcm {
		dst = append(dst, ALaw(s))
	}
	return dst
}

// AppendALawSamples appends the samples of A-law codes. It does not allocate when dst has room.
func AppendALawSamples(dst []int16, codes []byte) []int16 {
	for _, c := range codes {
		dst = append(dst, ALawSample(c))
	}
	return dst
}
