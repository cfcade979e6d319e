// Package audio holds the building blocks of sound in a call: 20 ms frames of 16-bit mono PCM ([Framer]),
// conversion between rates ([Resampler]), a voice activity score per frame ([Detector]), the edges of speech
// made from those scores ([Activity]), a playout clock ([Player]) and WAV files ([ReadWAV], [WriteWAV]).
//
// The package is pure: no clock, no goroutine, no randomness, and no I/O but the readers and writers it is
// given. Time enters by parameter or by counting frames, so equal input gives equal output. Nothing here is
// safe for concurrent use: one call owns one of each. What runs per frame does not allocate.
//
// The shortest use is in the package's example: microphone samples at 48 kHz in, the edges of speech out. Package
// audiotest has speech, noise and measurements for tests.
package audio
