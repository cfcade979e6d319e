package phone

import "github.com/voicegw/voicegw/audio"

// Codec is a speech codec of a telephone line. The zero value is none.
type Codec uint8

// The codecs that carriers use.
const (
	CodecNone Codec = iota
	PCMU            // ITU-T G.711 mu-law, 8 kHz
	PCMA            // ITU-T G.711 A-law, 8 kHz
	L16             // 16-bit linear PCM, little-endian, any rate
)

// String returns the name of the codec as RFC 3551 gives it, "none" for none.
func (c Codec) String() string {
	switch c {
	case PCMU:
		return "PCMU"
	case PCMA:
		return "PCMA"
	case L16:
		return "L16"
	}
	return "none"
}

// SampleBytes returns the number of bytes of one sample: 1 for G.711, 2 for linear PCM, 0 for none.
func (c Codec) SampleBytes() int {
	switch c {
	case PCMU, PCMA:
		return 1
	case L16:
		return 2
	}
	return 0
}

// AppendSamples decodes b and appends the samples to dst. It ignores an odd last byte of linear
// PCM. It does not allocate when dst has room.
func (c Codec) AppendSamples(dst []int16, b []byte) []int16 {
	switch c {
	case PCMU:
		return audio.AppendMuLawSamples(dst, b)
	case PCMA:
		return audio.AppendALawSamples(dst, b)
	case L16:
		return audio.AppendSamples(dst, b)
	}
	return dst
}

// AppendBytes encodes pcm and appends the bytes to dst. It does not allocate when dst has room.
func (c Codec) AppendBytes(dst []byte, pcm []int16) []byte {
	switch c {
	case PCMU:
		return audio.AppendMuLaw(dst, pcm)
	case PCMA:
		return audio.AppendALaw(dst, pcm)
	case L16:
		return audio.AppendBytes(dst, pcm)
	}
	return dst
}
