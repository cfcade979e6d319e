// Package audiotest measures sound in tests: whether what was heard is what was said ([Align], [Holes],
// [EnvelopeCorrelation]), when it was heard ([FirstLoud], [LastLoud], [Utterances]), and what noise and echo do
// to it ([White], [Pink], [Mix], [Echo]). [Speech] holds utterances to say.
//
// Like package audio it is pure, and chance enters by parameter. Functions take mono PCM; two signals given to one
// function have the same rate.
package audiotest
