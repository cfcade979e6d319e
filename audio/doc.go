// Package audio holds the building blocks of sound in a call: 20 ms frames of 16-bit mono PCM ([Framer]),
// conversion between rates ([Resampler]), a voice activity score per frame ([Detector]), the edges of speech
// made from those scores ([Activity]), a playout clock ([Player]) and WAV files ([ReadWAV], [WriteWAV]).
//
// The package is pure: no clock, no goroutine, no randomness, and no I/O but the readers and writers it is
// given. Time enters by parameter or by counting frames, so equal input gives equal output. Nothing here is
// safe for concurrent use: one call owns one of each. What runs per frame does not allocate.
//
// The shortest use, from microphone samples at 48 kHz to the edges of speech:
//
//	resampler, err := audio.NewResampler(48000, 16000)
//	framer, err := audio.NewFramer(16000)
//	activity, err := audio.NewActivity(audio.ActivityConfig{})
//	detector := audio.NewDetector()
//	pcm = resampler.Resample(pcm[:0], samples)
//	framer.Push(pcm, func(frame []int16) {
//		edge := activity.Frame(detector.Score(frame), modelIsSpeaking)
//		...
//	})
package audio
