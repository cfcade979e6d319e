package openai

import (
	"encoding/json"

	"github.com/voicegw/voicegw/audio"
)

// law is how samples are written.
type law uint8

const (
	lawPCM  law = iota // 16-bit little-endian
	lawPCMU            // G.711 mu-law
	lawPCMA            // G.711 A-law
)

// coding is the audio coding of one direction, one channel.
type coding struct {
	law    law
	rateHz int
}

func defaultCoding() coding { return coding{lawPCM, pcmRateHz} }

// name returns the type of the format.
func (k coding) name() string { return [...]string{"audio/pcm", "audio/pcmu", "audio/pcma"}[k.law] }

// betaName returns the name that the beta has for the format.
func (k coding) betaName() string { return [...]string{"pcm16", "g711_ulaw", "g711_alaw"}[k.law] }

// parseCoding reads a format: an object, or a name of the beta.
func parseCoding(raw json.RawMessage) (coding, bool) {
	var f struct {
		Type string  `json:"type"`
		Rate float64 `json:"rate"`
	}
	if json.Unmarshal(raw, &f.Type) != nil && json.Unmarshal(raw, &f) != nil {
		return coding{}, false
	}
	for l := lawPCM; l <= lawPCMA; l++ {
		k := coding{law: l, rateHz: g711RateHz}
		if l == lawPCM {
			k.rateHz = pcmRateHz
		}
		if f.Type != k.name() && f.Type != k.betaName() {
			continue
		}
		if l == lawPCM && f.Rate != 0 {
			k.rateHz = int(f.Rate)
		}
		return k, audio.CheckRate(k.rateHz) == nil && (f.Rate == 0 || f.Rate == float64(k.rateHz))
	}
	return coding{}, false
}

func (k coding) sampleBytes() int {
	if k.law == lawPCM {
		return 2
	}
	return 1
}

// describe returns the format in the form the server sends: G.711 has one rate, which is left out.
func (k coding) describe() object {
	if k.law == lawPCM {
		return object{"type": k.name(), "rate": k.rateHz}
	}
	return object{"type": k.name()}
}

// appendSamples decodes whole coded samples and appends them. It allocates nothing when dst has
// room.
func (k coding) appendSamples(dst []int16, b []byte) []int16 {
	switch k.law {
	case lawPCMU:
		return audio.AppendMuLawSamples(dst, b)
	case lawPCMA:
		return audio.AppendALawSamples(dst, b)
	}
	return audio.AppendSamples(dst, b)
}

// append encodes samples and appends them. It allocates nothing when dst has room.
func (k coding) append(dst []byte, pcm []int16) []byte {
	switch k.law {
	case lawPCMU:
		return audio.AppendMuLaw(dst, pcm)
	case lawPCMA:
		return audio.AppendALaw(dst, pcm)
	}
	return audio.AppendBytes(dst, pcm)
}
