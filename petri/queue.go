package petri

// store holds the tokens of one place that carry data: one ring per slot.
// Everything is by index, so that a firing allocates nothing.
type store interface {
	pushAny(ring int32, v any)
	take(ring, n int32)
	clear(ring int32)
	forward(from store, ring int32, n int32)
	stageAny(v any, n int32)
	stageZero(n int32)
	staged() int
	stagedRing(i int, now Gen) int32
	stagedSize() int
	commit(ring int32)
	emit(place string, seq uint64, to []Token) []Token
	release()
	drop()
	bump()
	popOldest()
	popNewest()
	oldest(rings []int32, first int32) int32
	values(ring int32) []any
	headSeq(ring int32) uint64
}

// queue is the store of a Place[T]: first in, first out per slot, and across
// slots by sequence number.
type queue[T any] struct {
	rings []ring[T]
	spans []span // what this firing took, still readable
	stage []T    // what this firing produces
	next  uint64
	col   *colour
}

type span struct{ ring, head, n int32 }

// ring is a circular buffer whose capacity is a power of two.
type ring[T any] struct {
	buf  []T
	seq  []uint64 // only in places with several slots
	head int32
	n    int32
}

func newQueue[T any](rings int, c *colour) *queue[T] {
	return &queue[T]{rings: make([]ring[T], max(rings, 1)), col: c}
}

func (r *ring[T]) at(i int32) *T { return &r.buf[(r.head+i)&int32(len(r.buf)-1)] }

func (r *ring[T]) grow(ordered bool) {
	buf := make([]T, max(2*len(r.buf), 2))
	var seq []uint64
	if ordered {
		seq = make([]uint64, len(buf))
	}
	for i := range r.n {
		j := (r.head + i) & int32(len(r.buf)-1)
		buf[i] = r.buf[j]
		if ordered {
			seq[i] = r.seq[j]
		}
	}
	r.buf, r.seq, r.head = buf, seq, 0
}

func (r *ring[T]) push(v T, seq uint64, ordered bool) {
	if int(r.n) == len(r.buf) {
		r.grow(ordered)
	}
	i := (r.head + r.n) & int32(len(r.buf)-1)
	r.buf[i] = v
	if ordered {
		r.seq[i] = seq
	}
	r.n++
}

func (q *queue[T]) ordered() bool { return len(q.rings) > 1 }

func (q *queue[T]) push(ring int32, v T) {
	q.next++
	q.rings[ring].push(v, q.next, q.ordered())
}

func (q *queue[T]) pushAny(ring int32, v any) { q.push(ring, v.(T)) }

func (q *queue[T]) take(ring, n int32) {
	r := &q.rings[ring]
	q.spans = append(q.spans, span{ring, r.head, n})
	r.head = (r.head + n) & int32(len(r.buf)-1)
	r.n -= n
}

func (q *queue[T]) clear(ring int32) {
	if n := q.rings[ring].n; n > 0 {
		q.take(ring, n)
	}
}

// front is the oldest token this firing took, or else the one it reads.
func (q *queue[T]) front(ring int32) T {
	if len(q.spans) > 0 {
		return *q.spanAt(q.firstSpan(), 0)
	}
	if ring < 0 {
		ring = q.oldest(nil, 0)
	}
	r := &q.rings[ring]
	if r.n == 0 {
		var zero T
		return zero
	}
	return *r.at(0)
}

func (q *queue[T]) spanAt(s span, i int32) *T {
	r := &q.rings[s.ring]
	return &r.buf[(s.head+i)&int32(len(r.buf)-1)]
}

func (q *queue[T]) firstSpan() span {
	best := q.spans[0]
	for _, s := range q.spans[1:] {
		if s.n > 0 && (best.n == 0 || q.spanSeq(s, 0) < q.spanSeq(best, 0)) {
			best = s
		}
	}
	return best
}

func (q *queue[T]) spanSeq(s span, i int32) uint64 {
	r := &q.rings[s.ring]
	if r.seq == nil {
		return 0
	}
	return r.seq[(s.head+i)&int32(len(r.buf)-1)]
}

func (q *queue[T]) taken() int {
	n := 0
	for _, s := range q.spans {
		n += int(s.n)
	}
	return n
}

// each visits what was taken, oldest first, merging slots.
func (q *queue[T]) each(fn func(T)) {
	var at [2 * MaxKeys]int32
	for range q.taken() {
		best := -1
		for i, s := range q.spans {
			if at[i] < s.n && (best < 0 || q.spanSeq(s, at[i]) < q.spanSeq(q.spans[best], at[best])) {
				best = i
			}
		}
		v := *q.spanAt(q.spans[best], at[best])
		at[best]++
		fn(v)
	}
}

func (q *queue[T]) put(v T) { q.stage = append(q.stage, v) }

func (q *queue[T]) stageAny(v any, n int32) {
	for range n {
		q.stage = append(q.stage, v.(T))
	}
}

func (q *queue[T]) stageZero(n int32) {
	var zero T
	for range n {
		q.stage = append(q.stage, zero)
	}
}

func (q *queue[T]) staged() int { return len(q.stage) }

// forward stages what from took, or reads, in this firing.
func (q *queue[T]) forward(from store, ring int32, n int32) {
	src := from.(*queue[T])
	if len(src.spans) == 0 {
		q.stage = append(q.stage, src.front(ring))
		return
	}
	for _, s := range src.spans {
		for i := int32(0); i < s.n && n > 0; i++ {
			q.stage = append(q.stage, *src.spanAt(s, i))
			n--
		}
	}
}

// stagedRing is the slot that staged token i belongs to by its own key and
// generation.
func (q *queue[T]) stagedRing(i int, now Gen) int32 {
	if q.col.keys == nil && !q.col.gen {
		return 0
	}
	return int32(q.col.slotOfValue(q.look(i), now))
}

// look boxes staged token i without an allocation.
func (q *queue[T]) look(i int) any {
	if q.col.direct {
		return q.stage[i]
	}
	return &q.stage[i]
}

func (q *queue[T]) stagedSize() int {
	n := 0
	for i := range q.stage {
		n += sizeOf(q.look(i))
	}
	return n
}

func (q *queue[T]) commit(ring int32) {
	for _, v := range q.stage {
		q.push(ring, v)
	}
	q.drop()
}

func (q *queue[T]) emit(place string, seq uint64, to []Token) []Token {
	for _, v := range q.stage {
		to = append(to, Token{place: place, value: v, seq: seq})
	}
	q.drop()
	return to
}

// drop forgets what is staged.
func (q *queue[T]) drop() {
	clear(q.stage)
	q.stage = q.stage[:0]
}

// release forgets what was taken, so that it can be collected.
func (q *queue[T]) release() {
	var zero T
	for _, s := range q.spans {
		for i := range s.n {
			*q.spanAt(s, i) = zero
		}
	}
	q.spans = q.spans[:0]
}

// bump moves every fresh token to the stale slot of its key, in order.
func (q *queue[T]) bump() {
	for k := 0; k+1 < len(q.rings); k += 2 {
		fresh, stale := &q.rings[k], &q.rings[k+1]
		if fresh.n == 0 {
			continue
		}
		if stale.n == 0 {
			*fresh, *stale = *stale, *fresh
			continue
		}
		q.rings[k+1] = merge(fresh, stale)
		q.rings[k] = ring[T]{}
	}
}

// merge joins two rings by sequence number.
func merge[T any](a, b *ring[T]) ring[T] {
	var out ring[T]
	for i, j := int32(0), int32(0); i < a.n || j < b.n; {
		r, k := a, &i
		if i == a.n || j < b.n && b.seqAt(j) < a.seqAt(i) {
			r, k = b, &j
		}
		out.push(*r.at(*k), r.seqAt(*k), true)
		*k++
	}
	return out
}

func (r *ring[T]) seqAt(i int32) uint64 { return r.seq[(r.head+i)&int32(len(r.buf)-1)] }

// oldest is the ring, among the given ones (nil: all), whose front token came
// first. first is the index of the place's first slot in the given list.
func (q *queue[T]) oldest(slots []int32, first int32) int32 {
	best, bestSeq := int32(0), ^uint64(0)
	look := func(i int32) {
		if s := q.headSeq(i); q.rings[i].n > 0 && s < bestSeq {
			best, bestSeq = i, s
		}
	}
	if slots == nil {
		for i := range q.rings {
			look(int32(i))
		}
	}
	for _, s := range slots {
		look(s - first)
	}
	return best
}

// headSeq orders the front tokens of the rings of a place.
func (q *queue[T]) headSeq(ring int32) uint64 {
	r := &q.rings[ring]
	if r.seq == nil || r.n == 0 {
		return 0
	}
	return r.seqAt(0)
}

func (q *queue[T]) popOldest() {
	q.take(q.oldest(nil, 0), 1)
	q.release()
}

// popNewest removes the newest token of a place with one slot.
func (q *queue[T]) popNewest() {
	r := &q.rings[0]
	var zero T
	*r.at(r.n - 1) = zero
	r.n--
}

func (q *queue[T]) values(ring int32) []any {
	r := &q.rings[ring]
	var out []any
	for i := range r.n {
		out = append(out, any(*r.at(i)))
	}
	return out
}

// slotOfValue is the slot, within its place, of a token by its own key and
// generation. v is a value or a pointer to one (which avoids an allocation).
func (c *colour) slotOfValue(v any, now Gen) int {
	var k Key
	if c.keys != nil {
		k = v.(HasKey).Key()
	}
	return c.slotOf(k, c.gen && v.(Generational).Generation() != now)
}

func sizeOf(v any) int {
	if s, ok := v.(Sized); ok {
		return s.Size()
	}
	return 0
}
