package mediastream

// Limits of reordering.
const (
	heldMax  = 5   // chunks that wait for an earlier one
	gapMaxMS = 200 // of silence in place of missing audio
)

// order puts chunks of audio in order by their numbers. When the carrier keeps the order itself,
// order holds no chunk and detects missing ones at once. It fills small gaps with silence, so that
// speech keeps its time.
type order struct {
	hold   bool // chunks may come out of order
	rateHz int
	emit   func(pcm []int16) // takes audio in order; must not keep it

	next    uint64 // the expected number; 0 before the first
	held    [heldMax]heldChunk
	silence []int16
}

type heldChunk struct {
	chunk uint64 // 0 for none
	pcm   []int16
}

// push takes a chunk. It returns how many chunks are missing, and whether it dropped this one
// because it came before or too late. Number 0 is always in order.
func (o *order) push(chunk uint64, pcm []int16) (missing uint64, dropped bool) {
	switch {
	case chunk == 0:
		o.emit(pcm)
		return 0, false
	case o.next == 0:
		o.next = chunk
	case chunk < o.next:
		return 0, true
	case chunk > o.next && o.hold:
		return o.wait(chunk, pcm)
	}
	missing = o.jump(chunk, len(pcm))
	o.play(pcm)
	o.release()
	return missing, false
}

// wait holds a chunk until the earlier ones have come. When there is no room, the first held chunk
// becomes due.
func (o *order) wait(chunk uint64, pcm []int16) (missing uint64, dropped bool) {
	for {
		room := -1
		for i := range o.held {
			if o.held[i].chunk == chunk {
				return missing, true
			}
			if o.held[i].chunk == 0 {
				room = i
			}
		}
		if room >= 0 {
			h := &o.held[room]
			h.chunk, h.pcm = chunk, append(h.pcm[:0], pcm...)
			o.release()
			return missing, false
		}
		missing += o.jump(min(chunk, o.lowest()), len(pcm))
		o.release()
		if chunk == o.next {
			o.play(pcm)
			o.release()
			return missing, false
		}
	}
}

// lowest returns the lowest held number.
func (o *order) lowest() uint64 {
	var n uint64
	for i := range o.held {
		if c := o.held[i].chunk; c > 0 && (n == 0 || c < n) {
			n = c
		}
	}
	return n
}

// jump continues with a later chunk. It emits silence for each chunk between, of the given number
// of samples.
func (o *order) jump(chunk uint64, samples int) (missing uint64) {
	missing = chunk - o.next
	o.next = chunk
	if fill := missing * uint64(samples); missing <= heldMax*2 && fill <= uint64(gapMaxMS*o.rateHz/1000) {
		o.silence = append(o.silence[:0], make([]int16, fill)...)
		if fill > 0 {
			o.emit(o.silence)
		}
	}
	return missing
}

func (o *order) play(pcm []int16) {
	o.next++
	o.emit(pcm)
}

// release emits the held chunks that are due.
func (o *order) release() {
	for again := true; again; {
		again = false
		for i := range o.held {
			if h := &o.held[i]; h.chunk != 0 && h.chunk <= o.next {
				if h.chunk == o.next {
					o.play(h.pcm)
					again = true
				}
				h.chunk = 0
			}
		}
	}
}
