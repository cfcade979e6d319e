package simulate

import "github.com/voicegw/voicegw/audio/audiotest"

// sounds are what callers say, and what prompts sound like.
type sounds struct {
	words  map[utterance][]int16
	prompt []int16 // below zero, unlike what a model says, so that speechJudge tells them apart
}

// utterance is a recording and its rate in Hz.
type utterance struct {
	word string
	rate int
}

func newSounds() *sounds {
	s := &sounds{words: map[utterance][]int16{}, prompt: make([]int16, 24*2000)}
	for _, name := range audiotest.SpeechNames() {
		for _, rate := range []int{24000, 16000, 8000} {
			s.words[utterance{name, rate}] = speech(name, rate)
		}
	}
	for _, rate := range []int{16000, 8000} {
		s.words[utterance{"short", rate}] = speech("hello", rate)[:rate*3/10]
	}
	for i := range s.prompt {
		s.prompt[i] = -7
	}
	return s
}

// speech is a recording at a rate.
func speech(name string, rateHz int) []int16 {
	return audiotest.Resample(audiotest.Speech(name), rateHz).Samples
}
