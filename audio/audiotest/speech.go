package audiotest

import (
	"bytes"
	"embed"
	"fmt"

	"github.com/voicegw/voicegw/audio"
)

//go:embed speech/*.wav
var speechFiles embed.FS

// SpeechNames returns the names of the utterances of [Speech]. They last 1.6 to 8 s and have
// different voices.
func SpeechNames() []string { return []string{"hello", "question", "over", "german", "long"} }

// Speech returns an utterance of synthetic speech at 16 kHz, with 0.3 s of silence at both ends and
// no pause of 400 ms or more. The name "cough" is a burst of noise of 120 ms. The caller owns the
// samples. Speech panics if it does not know the name.
func Speech(name string) audio.PCM {
	pcm, err := audio.ReadWAV(bytes.NewReader(SpeechWAV(name)))
	if err != nil {
		panic(fmt.Sprintf("audiotest: speech %s: %v", name, err))
	}
	return pcm
}

// SpeechWAV returns the WAV file of [Speech]. It panics if it does not know the name.
func SpeechWAV(name string) []byte {
	file, err := speechFiles.ReadFile("speech/" + name + ".wav")
	if err != nil {
		panic(fmt.Sprintf("audiotest: speech: %v", err))
	}
	return file
}

// Resample returns pcm at another rate. It panics if [audio.CheckRate] refuses a rate.
func Resample(pcm audio.PCM, rateHz int) audio.PCM {
	r, err := audio.NewResampler(pcm.RateHz, rateHz)
	if err != nil {
		panic(fmt.Sprintf("audiotest: resample: %v", err))
	}
	return audio.PCM{RateHz: rateHz, Samples: r.Resample(nil, pcm.Samples)}
}
