// Package phonetest simulates the far end of packages mediastream and asterisk, for tests. A
// telephone exchange opens a stream to an endpoint in a carrier's dialect. Behind it a caller's
// telephone has a playout clock, and a network between the two delays and jitters. The exchange can
// misbehave.
//
// A [Phone] is one call. [Phone.Heard] is what it played, on its playout clock.
package phonetest
