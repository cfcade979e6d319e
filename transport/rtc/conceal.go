package rtc

import "slices"

// concealFrames is how many lost packets are papered over before silence follows, and concealMax how many packets of
// sound and silence stand for lost ones at most; beyond, time is lost too, which the gateway takes for a pause.
const (
	concealFrames = 3
	concealMax    = 10
)

// concealer makes up what was lost: the last packet's sound backwards, then forwards again, so that it joins without a
// step, fading to silence. None of the codecs' own means are used: pure Go has none for Opus.
type concealer struct {
	last []int16 // of the last packet
	out  []int16
}

// heard notes a packet that came.
func (c *concealer) heard(pcm []int16) { c.last = append(c.last[:0], pcm...) }

// fill calls emit for each of n lost packets, at most concealMax, with sound that is valid until it returns. It does
// nothing before a packet was heard.
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

// fade lets the i-th packet in a row go from (concealFrames-i) to one less of concealFrames parts of its loudness.
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
