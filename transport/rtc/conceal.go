package rtc

import "slices"

// concealFrames is how many lost packets are concealed before silence follows. concealMax is how
// many packets of concealment and silence replace lost ones at most; beyond it time is lost too,
// and the gateway takes the gap for a pause.
const (
	concealFrames = 3
	concealMax    = 10
)

// concealer replaces lost packets: it plays the last packet's samples backwards, then forwards
// again, so that they join without a step, and fades to silence. It does not use the codecs' own
// concealment: the pure Go Opus decoder has none.
type concealer struct {
	last []int16 // of the last packet
	out  []int16
}

// heard notes a received packet.
func (c *concealer) heard(pcm []int16) { c.last = append(c.last[:0], pcm...) }

// fill calls emit for each of n lost packets, at most concealMax, with samples that are valid until
// emit returns. It does nothing before the first received packet.
func (c *concealer) fill(n int, emit func(pcm []int16)) {
	for i := range min(n, concealMax) {
		if len(c.last) == 0 {
			return
		}
		slices.Reverse(c.last)
		c.out = append(c.out[:0], c.last...)
		fade(c.out, i)
		emit(c.out)
	}
}

// fade scales the i-th concealed packet in a row from (concealFrames-i)/concealFrames to
// (concealFrames-i-1)/concealFrames of its loudness.
func fade(pcm []int16, i int) {
	if i >= concealFrames {
		clear(pcm)
		return
	}
	whole := len(pcm) * concealFrames
	for k := range pcm {
		left := len(pcm)*(concealFrames-i) - k
		pcm[k] = int16(int(pcm[k]) * left / whole)
	}
}
