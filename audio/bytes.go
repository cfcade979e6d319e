package audio

import (
	"encoding/binary"
	"slices"
)

// AppendSamples appends the samples of le, which is 16-bit little-endian PCM, to dst. It ignores an
// odd last byte, so code that reads from a network must refuse odd lengths first. It does not
// allocate if dst has room.
func AppendSamples(dst []int16, le []byte) []int16 {
	dst = slices.Grow(dst, len(le)/2)
	for ; len(le) >= 2; le = le[2:] {
		dst = append(dst, int16(binary.LittleEndian.Uint16(le)))
	}
	return dst
}

// AppendBytes appends pcm to dst as 16-bit little-endian PCM. It does not allocate if dst has
// room.
func AppendBytes(dst []byte, pcm []int16) []byte {
	dst = slices.Grow(dst, 2*len(pcm))
	for _, s := range pcm {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(s))
	}
	return dst
}
