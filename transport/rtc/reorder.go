package rtc

// Limits of the order in which packets come. A packet is 20 ms as a rule.
const (
	// heldMax is how many packets wait for one that is missing: 60 ms.
	heldMax = 3
	// aheadMax is how far ahead a packet may be and still wait; one from further off begins anew.
	aheadMax = 16
	// behindMax is how far behind a packet may be and still count as late; behindRun of them in a row are a sender who
	// began anew.
	behindMax = 1000
	behindRun = 8
)

// packet is what is kept of an RTP packet.
type packet struct {
	seq     uint16
	kind    uint8  // payload type
	payload []byte // owned by the packet
	used    bool
}

// reorder puts packets in the order in which they were sent. A packet that is next goes on at once; others wait, at
// most heldMax of them, for those before. It belongs to one goroutine and allocates only until it has held its most.
type reorder struct {
	emit func(kind uint8, payload []byte) // takes the next packet, whose payload is valid until it returns
	lost func(n int)                      // n packets, at least 1, will not come

	begun   bool
	next    uint16
	held    [aheadMax]packet // by seq modulo aheadMax
	waiting int
	behind  int // in a row

	late, duplicate, missing uint64 // counted
}

// push takes a packet as it came. payload is copied when it must wait.
func (r *reorder) push(seq uint16, kind uint8, payload []byte) {
	if !r.begun {
		r.begun, r.next = true, seq
	}
	ahead := int(int16(seq - r.next))
	switch {
	case ahead < 0 && !r.restarted(ahead):
		r.late++
		return
	case ahead < 0 || ahead >= aheadMax:
		r.flush()
		r.lose(int(int16(seq - r.next)))
		r.next = seq
	case ahead > 0:
		r.hold(seq, kind, payload)
		return
	}
	r.behind = 0
	r.next++
	r.emit(kind, payload)
	r.drain()
}

// restarted tells a packet that is late from one of a sender who counts anew.
func (r *reorder) restarted(ahead int) bool {
	if ahead == -1 {
		return false // the last one again
	}
	r.behind++
	return ahead < -behindMax || r.behind > behindRun
}

// lose reports packets that will not come, unless they never were.
func (r *reorder) lose(n int) {
	if n > 0 {
		r.missing += uint64(n)
		r.lost(n)
	}
}

// hold keeps a packet that is ahead, and gives up those before it when too many wait.
func (r *reorder) hold(seq uint16, kind uint8, payload []byte) {
	slot := &r.held[seq%aheadMax]
	if slot.used {
		r.duplicate++
		return
	}
	slot.seq, slot.kind, slot.payload, slot.used = seq, kind, append(slot.payload[:0], payload...), true
	r.behind = 0
	if r.waiting++; r.waiting > heldMax {
		r.skip()
		r.drain()
	}
}

// drain emits what waits and is next now.
func (r *reorder) drain() {
	for r.waiting > 0 {
		slot := &r.held[r.next%aheadMax]
		if !slot.used {
			return
		}
		slot.used = false
		r.waiting--
		r.next++
		r.emit(slot.kind, slot.payload)
	}
}

// skip gives up what is missing before the first that waits; something waits.
func (r *reorder) skip() {
	n := 0
	for !r.held[r.next%aheadMax].used {
		r.next++
		n++
	}
	r.lose(n)
}

// flush waits for nothing any more.
func (r *reorder) flush() {
	for r.waiting > 0 {
		r.skip()
		r.drain()
	}
}
