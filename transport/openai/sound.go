package openai

import "github.com/voicegw/voicegw/audio"

// coding is how a session writes sound, one channel.
type coding uint8

const (
	codingPCM  coding = iota // 16-bit little-endian at 24 kHz
	codingPCMU               // G.711 mu-law at 8 kHz
	codingPCMA               // G.711 A-law at 8 kHz
)

// coding is that of a format, PCM for none; it reports false for a format that is not taken.
func (f *format) coding() (coding, bool) {
	if f == nil {
		return codingPCM, true
	}
	for k := codingPCM; k <= codingPCMA; k++ {
		if f.Type == k.name() {
			return k, f.Rate == 0 || f.Rate == k.rateHz()
		}
	}
	return codingPCM, false
}

// name is the type of the format.
func (k coding) name() string { return [...]string{"audio/pcm", "audio/pcmu", "audio/pcma"}[k] }

func (k coding) rateHz() int {
	if k == codingPCM {
		return pcmRateHz
	}
	return g711RateHz
}

func (k coding) sampleBytes() int {
	if k == codingPCM {
		return 2
	}
	return 1
}

// describe is the format as the server tells it: G.711 has one rate, which is not named.
func (k coding) describe() object {
	if k == codingPCM {
		return object{"type": k.name(), "rate": k.rateHz()}
	}
	return object{"type": k.name()}
}

// appendSamples appends the samples of whole coded ones. It allocates nothing when dst has room.
func (k coding) appendSamples(dst []int16, b []byte) []int16 {
	switch k {
	case codingPCMU:
		return audio.AppendMuLawSamples(dst, b)
	case codingPCMA:
		return audio.AppendALawSamples(dst, b)
	}
	return audio.AppendSamples(dst, b)
}

// append appends samples, coded. It allocates nothing when dst has room.
func (k coding) append(dst []byte, pcm []int16) []byte {
	switch k {
	case codingPCMU:
		return audio.AppendMuLaw(dst, pcm)
	case codingPCMA:
		return audio.AppendALaw(dst, pcm)
	}
	return audio.AppendBytes(dst, pcm)
}
