package live

import (
	"fmt"
	"strings"
)

const (
	outputRateHz  = 24000 // if the model names none
	rateHzMin     = 8000
	rateHzMax     = 48000
	mimeAudio     = "audio/pcm"
	mimeAudioDown = "audio/pcm;rate=24000"
	mimeAudioUp   = "audio/pcm;rate=16000"
)

// audioRate returns the sample rate of a MIME type such as "audio/pcm;rate=24000", 24000 if it
// names none. It returns an error for two rates, for a rate outside 8000 to 48000, and for any type
// but audio/pcm.
func audioRate(mime string) (rateHz int, err error) {
	if mime == mimeAudioDown {
		return outputRateHz, nil
	}
	kind, params, _ := strings.Cut(mime, ";")
	if !strings.EqualFold(strings.TrimSpace(kind), mimeAudio) {
		return 0, fmt.Errorf("MIME type %q; want %s", mime, mimeAudio)
	}
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
		if !strings.EqualFold(strings.TrimSpace(name), "rate") {
			continue
		}
		if rateHz != 0 {
			return 0, fmt.Errorf("MIME type %q names two rates", mime)
		}
		if rateHz, err = parseRate(strings.TrimSpace(value)); err != nil {
			return 0, err
		}
	}
	if rateHz == 0 {
		rateHz = outputRateHz
	}
	return rateHz, nil
}

// parseRate reads a decimal rate, with or without quotes.
func parseRate(s string) (int, error) {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		s = s[1 : len(s)-1]
	}
	n := 0
	for i := 0; i < len(s) && n <= rateHzMax; i++ {
		if s[i] < '0' || s[i] > '9' {
			return 0, fmt.Errorf("rate %q is not a number", s)
		}
		n = n*10 + int(s[i]-'0')
	}
	if n < rateHzMin || n > rateHzMax {
		return 0, fmt.Errorf("rate %q; want %d to %d", s, rateHzMin, rateHzMax)
	}
	return n, nil
}
