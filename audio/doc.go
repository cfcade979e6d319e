// Package audio handles the sound of a call: 20 ms frames of 16-bit mono PCM.
//
//   - [Framer] cuts a stream into frames; [Resampler] converts between sample rates.
//   - [Detector] gives each frame a score for speech; [Activity] turns the scores into the edges of
//     speech; [EchoGuard] tells a caller from the echo of the reply.
//   - [Player] is the playout clock of a listener.
//   - G.711 and G.722 are the codecs of telephones; [ReadWAV] and [WriteWAV] handle files.
//
// The package example converts 48 kHz input to the edges of speech. Package audiotest has speech,
// noise and measurements for tests.
//
// The package has no clock, no goroutine and no randomness. Time is a parameter, or a number of
// frames, so equal input gives equal output. Values are not safe for concurrent use: one call owns
// one of each. The methods that run for each frame do not allocate.
package audio
