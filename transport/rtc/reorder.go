package rtc

// Limits of reordering. A packet usually holds 20 ms.
const (
	// heldMax is how many packets wait for a missing one: 60 ms.
	heldMax = 3
	// aheadMax is how far ahead a packet may be and still wait; one further ahead restarts the
	// order.
	aheadMax = 16
	// behindMax is how far behind a packet may be and still count as late; behindRun of them in a
	// row mean that the sender restarted.
	behindMax = 1000
	behindRun = 8
)

// packet is the kept part of an RTP packet.
type packet struct {
	seq     uint16
	kind    uint8  // payload type
	payload []byte // owned by the packet
	used    bool
}

// reorder puts packets in the order in which they were sent. It emits the next packet at once;
// other packets wait for the earlier ones, at most heldMax of them. It belongs to one goroutine and
// allocates only until it has held its maximum.
type reorder struct {
	emit func(kind uint8, payload []byte) // takes the next packet, whose payload is valid until it returns
	lost func(n int)                      // n packets, at least 1, will not come

	begun   bool
	next    uint16
	held    [aheadMax]packet // by seq modulo aheadMax
	waiting int
	behind  int // number of such packets in a row

	late, duplicate, missing uint64 // counters
}

// push takes a packet as received. It copies payload when the packet must wait.
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

// restarted distinguishes a late packet from one of a sender that restarted its numbers.
func (r *reorder) restarted(ahead int) bool {
	if ahead == -1 {
		return false // the last packet again
	}
	r.behind++
	return ahead < -behindMax || r.behind > behindRun
}

// lose reports packets that will not come, unless they never existed.
func (r *reorder) lose(n int) {
	if n > 0 {
		r.missing += uint64(n)
		r.lost(n)
	}
}

// hold keeps a packet that is ahead, and gives up the earlier ones when too many wait.
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

// drain emits the waiting packets that are next now.
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

// skip gives up the packets missing before the first waiting one; one must wait.
func (r *reorder) skip() {
	n := 0
	for !r.held[r.next%aheadMax].used {
		r.next++
		n++
	}
	r.lose(n)
}

// gaps returns the numbers that the waiting packets have skipped: bit i is next+i.
func (r *reorder) gaps() (missing uint16) {
	for i, left := uint16(0), r.waiting; left > 0; i++ {
		if r.held[(r.next+i)%aheadMax].used {
			left--
		} else {
			missing |= 1 << i
		}
	}
	return missing
}

// flush emits everything that waits, without waiting for missing packets.
func (r *reorder) flush() {
	for r.waiting > 0 {
		r.skip()
		r.drain()
	}
}
