// Package audiotest has sound and measurements for tests.
//
//   - [Speech] holds utterances.
//   - [White], [Pink] and [Mix] make and add noise.
//   - [Align], [Holes] and [EnvelopeCorrelation] compare the sound that was heard with the original.
//   - [FirstLoud], [LastLoud] and [Utterances] find when sound was audible.
//
// Like package audio it has no clock, and randomness is a parameter. Sound is mono PCM. Two signals
// passed to one function must have the same rate.
package audiotest
