package audiotest

import (
	"bytes"
	"embed"
	"fmt"

	"github.com/voicegw/voicegw/audio"
)

//go:embed speech/*.wav
var speechFiles embed.FS

// SpeechNames are the names that [Speech] knows: utterances of 1.6 to 8 s by different voices.
func SpeechNames() []string { return []string{"hello", "question", "over", "german", "long"} }

// Speech returns an utterance of synthetic speech, or "cough", a burst of noise of 120 ms that is none: 16 kHz,
// pauses under 400 ms, 0.3 s of silence at both ends. The samples are the caller's. It panics if there is no
// such name.
func Speech(name string) audio.PCM {
	pcm, err := audio.ReadWAV(bytes.NewReader(SpeechWAV(name)))
	if err != nil {
		panic(fmt.Sprintf("audiotest: speech %s: %v", name, err))
	}
	return pcm
}

// SpeechWAV is the file behind [Speech], for what reads a WAV.
func SpeechWAV(name string) []byte {
	file, err := speechFiles.ReadFile("speech/" + name + ".wav")
	if err != nil {
		panic(fmt.Sprintf("audiotest: speech: %v", err))
	}
	return file
}

// Resample converts pcm to another rate as a whole. It panics if a rate is out of range.
func Resample(pcm audio.PCM, rateHz int) audio.PCM {
	r, err := audio.NewResampler(pcm.RateHz, rateHz)
	if err != nil {
		panic(fmt.Sprintf("audiotest: resample: %v", err))
	}
	return audio.PCM{RateHz: rateHz, Samples: r.Resample(nil, pcm.Samples)}
}
