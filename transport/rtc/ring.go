package rtc

// ring is a queue. Its memory doubles when it is full, so it has room for what waited at one time and
// not for the most that may wait. A slot keeps its old value, whose memory is used again. The zero
// value is an empty queue.
type ring[T any] struct {
	slots   []T // as many as a power of two
	head, n int
}

const ringSlotsMin = 4

// at returns the i-th slot from the head; i must be less than n.
func (r *ring[T]) at(i int) *T { return &r.slots[(r.head+i)&(len(r.slots)-1)] }

// push returns a new slot at the end. It is valid until the next push.
func (r *ring[T]) push() *T {
	if r.n == len(r.slots) {
		wider := make([]T, max(ringSlotsMin, 2*r.n))
		for i := range r.n {
			wider[i] = *r.at(i)
		}
		r.slots, r.head = wider, 0
	}
	r.n++
	return r.at(r.n - 1)
}

// pop removes the head and returns its slot, which is valid until the next push. The queue must not be empty.
func (r *ring[T]) pop() *T {
	slot := r.at(0)
	r.head, r.n = (r.head+1)&(len(r.slots)-1), r.n-1
	if r.n == 0 {
		r.head = 0 // the first slots are used again before later ones get memory
	}
	return slot
}

// clear empties the queue.
func (r *ring[T]) clear() { r.head, r.n = 0, 0 }
