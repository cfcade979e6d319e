// Package opus codes speech as Opus (RFC 6716): [Decoder] in pure Go, [Encoder] with libopus, which
// needs cgo and the build tag libopus. Without the tag [NewEncoder] fails, and [HasEncoder] is false.
//
//	pcm, err = decoder.Append(pcm, packet) // 16 kHz
//	packet, err = encoder.Append(packet[:0], frame) // 20 ms at 24 kHz
//
// Both have one channel, and are for one goroutine at a time.
package opus
