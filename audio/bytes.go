package audio

import (
	"encoding/binary"
	"slices"
)

// AppendSamples appends the samples in le, 16-bit little-endian PCM, to dst. An odd last byte is ignored:
// whoever takes bytes from outside refuses odd lengths before. It does not allocate when dst has room.
func AppendSamples(dst []int16, le []byte) []int16 {
	dst = slices.Grow(dst, len(le)/2)
	for ; len(le) >= 2; le = le[2:] {
		dst = append(dst, int16(binary.LittleEndian.Uint16(le)))
	}
	return dst
}

// AppendBytes appends pcm to dst as 16-bit little-endian PCM. It does not allocate when dst has room.
func AppendBytes(dst []byte, pcm []int16) []byte {
	dst = slices.Grow(dst, 2*len(pcm))
	for _, s := range pcm {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(s))
	}
	return dst
}
