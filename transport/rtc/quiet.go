package rtc

import (
	"bytes"
	"slices"
)

// quietCycle is after how many packets an encoder of Opus repeats itself in silence: each frame has
// one of four seeds, in turn (RFC 6716 section 4.2.7.7).
const quietCycle = 4

// quietEncoder does not encode silence, which a call sends most of the time: once the packets of its
// encoder repeat, it repeats them itself. Then the encoder and the far end's decoder are at rest, and
// remain so.
type quietEncoder struct {
	encoder
	cycle [quietCycle][]byte // the last packets of silence
	next  int                // of cycle
	same  int                // packets in a row that were equal to the one of the cycle before
}

func (q *quietEncoder) encode(dst []byte, pcm []int16) ([]byte, error) {
	if slices.ContainsFunc(pcm, func(s int16) bool { return s != 0 }) {
		q.same = 0
		return q.encoder.encode(dst, pcm)
	}
	slot := &q.cycle[q.next]
	q.next = (q.next + 1) % quietCycle
	if q.same >= 2*quietCycle {
		return append(dst, *slot...), nil
	}
	out, err := q.encoder.encode(dst, pcm)
	if err != nil {
		return out, err
	}
	if packet := out[len(dst):]; bytes.Equal(packet, *slot) {
		q.same++
	} else {
		q.same, *slot = 0, append((*slot)[:0], packet...)
	}
	return out, nil
}
