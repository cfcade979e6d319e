package petri

import "fmt"

// store holds the tokens of one place that carry data, in one ring for each slot. Its methods take
// indexes, so that a firing does not allocate.
type store interface {
	pushAny(ring int32, v any)
	popAny(ring int32) any
	pass(from store, ring, to int32)
	discard(ring, n int32)
	take(ring, n int32)
	clear(ring int32, reset bool)
	taken() int
	peek(ring int32)
	forward(from store, ring int32, n int32)
	stageAny(v any, n int32)
	stageZero(n int32)
	staged() int
	stagedKind(i int, now Gen) (int32, string)
	commit(ring int32)
	emit(place string, seq uint64, to []Token) []Token
	release()
	empty()
	bump()
	popOldest()
	popNewest()
	oldest(rings []int32, first int32) int32
	newest() int32
	values(ring int32) []any
	headSeq(ring int32) uint64
	seqOf(ring, i int32) uint64
}

// queue is the store of a Place[T]. Within a slot it is first in, first out; across slots, sequence
// numbers order the tokens.
type queue[T any] struct {
	rings  []ring[T]
	got    []T      // taken by this firing: by its input arc, then by its reset, each oldest first
	gotSeq []uint64 // of got, in places with several slots
	inputs int      // how many of got the input arc took
	seen   []T      // read by this firing at a place that it resets or bumps
	stage  []T      // produced by this firing
	spare  ring[T]  // empty; for bump
	next   uint64
	col    *colour
}

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

func (r *ring[T]) seqAt(i int32) uint64 { return r.seq[(r.head+i)&int32(len(r.buf)-1)] }

func (r *ring[T]) grow(ordered bool) {
	buf := make([]T, max(2*len(r.buf), 2))
	var seq []uint64
	if ordered {
		seq = make([]uint64, len(buf))
	}
	for i := range r.n {
		buf[i] = *r.at(i)
		if ordered {
			seq[i] = r.seqAt(i)
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

// pop removes the oldest token.
func (r *ring[T]) pop() T {
	var zero T
	p := r.at(0)
	v := *p
	*p = zero
	r.head = (r.head + 1) & int32(len(r.buf)-1)
	r.n--
	return v
}

func (q *queue[T]) ordered() bool { return len(q.rings) > 1 }

func (q *queue[T]) push(ring int32, v T) {
	q.next++
	q.rings[ring].push(v, q.next, q.ordered())
}

func (q *queue[T]) pushAny(ring int32, v any) { q.push(ring, v.(T)) }

func (q *queue[T]) popAny(ring int32) any { return q.rings[ring].pop() }

// pass moves the oldest token of another store of the same colour to this one.
func (q *queue[T]) pass(from store, ring, to int32) { q.push(to, from.(*queue[T]).rings[ring].pop()) }

func (q *queue[T]) discard(ring, n int32) {
	for range n {
		q.rings[ring].pop()
	}
}

// take moves the n oldest tokens of a ring to got.
func (q *queue[T]) take(ring, n int32) {
	q.takeAfter(0, ring, n)
	q.inputs = len(q.got)
}

// clear moves all tokens of a ring to got.
func (q *queue[T]) clear(ring int32, reset bool) {
	n := q.rings[ring].n
	if reset {
		q.takeAfter(q.inputs, ring, n)
		return
	}
	q.take(ring, n)
}

// takeAfter moves n tokens of a ring to got and keeps got[first:] ordered from the oldest to the
// newest.
func (q *queue[T]) takeAfter(first int, ring, n int32) {
	r := &q.rings[ring]
	if !q.ordered() {
		for range n {
			q.got = append(q.got, r.pop())
		}
		return
	}
	for range n {
		seq := r.seqAt(0)
		v := r.pop()
		i := len(q.got)
		q.got, q.gotSeq = append(q.got, v), append(q.gotSeq, seq)
		for ; i > first && q.gotSeq[i-1] > seq; i-- {
			q.got[i], q.gotSeq[i] = q.got[i-1], q.gotSeq[i-1]
		}
		q.got[i], q.gotSeq[i] = v, seq
	}
}

// front returns the token that this firing reads, or the oldest token that it took.
func (q *queue[T]) front(ring int32) (v T) {
	switch {
	case len(q.seen) > 0:
		return q.seen[0]
	case len(q.got) > 0:
		return q.got[0]
	case ring < 0 || q.rings[ring].n == 0:
		return v
	default:
		return *q.rings[ring].at(0)
	}
}

// peek saves the token that this firing reads before the place is reset or bumped.
func (q *queue[T]) peek(ring int32) { q.seen = append(q.seen, *q.rings[ring].at(0)) }

func (q *queue[T]) taken() int { return len(q.got) }

// each calls fn for each token that this firing took.
func (q *queue[T]) each(fn func(T)) {
	for _, v := range q.got {
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

// forward stages the tokens that this firing took, or reads, in the store from.
func (q *queue[T]) forward(from store, ring int32, n int32) {
	src := from.(*queue[T])
	if src.inputs == 0 {
		q.stage = append(q.stage, src.front(ring))
		return
	}
	q.stage = append(q.stage, src.got[:n]...)
}

// stagedKind returns the slot of staged token i according to its key and generation, or a problem
// if the colour cannot have such a token.
func (q *queue[T]) stagedKind(i int, now Gen) (int32, string) {
	kind, problem := q.col.kindOf(q.look(i), now)
	return int32(kind), problem
}

// look returns staged token i as an interface value, without an allocation.
func (q *queue[T]) look(i int) any {
	if q.col.direct {
		return q.stage[i]
	}
	return &q.stage[i]
}

func (q *queue[T]) commit(ring int32) {
	var zero T
	for i, v := range q.stage {
		q.push(ring, v)
		q.stage[i] = zero
	}
	q.stage = q.stage[:0]
}

func (q *queue[T]) emit(place string, seq uint64, to []Token) []Token {
	for _, v := range q.stage {
		to = append(to, Token{place: place, value: v, seq: seq})
	}
	q.drop()
	return to
}

// drop removes the staged tokens.
func (q *queue[T]) drop() {
	clear(q.stage)
	q.stage = q.stage[:0]
}

// release removes the references to tokens taken and read, so that they can be garbage collected.
func (q *queue[T]) release() {
	var zero T
	for i := range q.got {
		q.got[i] = zero
	}
	q.got, q.gotSeq, q.inputs = q.got[:0], q.gotSeq[:0], 0
	if len(q.seen) > 0 {
		clear(q.seen)
		q.seen = q.seen[:0]
	}
}

// bump moves every fresh token to the stale slot of its key, in order.
func (q *queue[T]) bump() {
	for k := 0; k+1 < len(q.rings); k += 2 {
		fresh, stale := &q.rings[k], &q.rings[k+1]
		switch {
		case fresh.n == 0:
		case stale.n == 0:
			*fresh, *stale = *stale, *fresh
		default:
			q.spare.merge(fresh, stale)
			*stale, q.spare = q.spare, *stale
		}
	}
}

// merge moves the tokens of two rings here, ordered by sequence number.
func (r *ring[T]) merge(a, b *ring[T]) {
	for a.n+b.n > 0 {
		from := a
		if a.n == 0 || b.n > 0 && b.seqAt(0) < a.seqAt(0) {
			from = b
		}
		seq := from.seqAt(0)
		r.push(from.pop(), seq, true)
	}
}

// oldest returns the ring whose front token came first, among the given slots, or among all if
// slots is nil. first is the first slot of the place.
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

// newest returns the ring whose last token came last.
func (q *queue[T]) newest() int32 {
	best, bestSeq := int32(0), uint64(0)
	for i := range q.rings {
		r := &q.rings[i]
		if r.n > 0 && r.seq != nil && r.seqAt(r.n-1) > bestSeq {
			best, bestSeq = int32(i), r.seqAt(r.n-1)
		}
	}
	return best
}

// headSeq returns the sequence number of the front token of a ring.
func (q *queue[T]) headSeq(ring int32) uint64 { return q.seqOf(ring, 0) }

// seqOf returns the sequence number of token i of a ring. It returns 0 if the place has one ring
// only, where no order is needed.
func (q *queue[T]) seqOf(ring, i int32) uint64 {
	r := &q.rings[ring]
	if r.seq == nil || i >= r.n {
		return 0
	}
	return r.seqAt(i)
}

func (q *queue[T]) popOldest() { q.rings[q.oldest(nil, 0)].pop() }

func (q *queue[T]) popNewest() {
	r := &q.rings[q.newest()]
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

// slotOfValue returns the slot, within its place, of a token according to its key and generation. v
// is a value, or a pointer to one, which avoids an allocation.
func (c *colour) slotOfValue(v any, now Gen) int {
	var k Key
	if c.keys != nil {
		k = v.(HasKey).Key()
	}
	return c.slotOf(k, c.gen && v.(Generational).Generation() != now)
}

// kindOf is slotOfValue for a token that comes from an action or from outside. It returns a problem
// if the colour cannot have such a token.
func (c *colour) kindOf(v any, now Gen) (kind int, problem string) {
	if c.keys != nil {
		if k := int(v.(HasKey).Key()); k >= len(c.keys) {
			return 0, fmt.Sprintf("its key is %d, but colour %s has %d keys", k, c.typ, len(c.keys))
		}
	}
	if c.gen {
		if g := v.(Generational).Generation(); g > now {
			return 0, fmt.Sprintf("its generation is %d, but the current one is %d", g, now)
		}
	}
	return c.slotOfValue(v, now), ""
}

func sizeOf(v any) int {
	if s, ok := v.(Sized); ok {
		return s.Size()
	}
	return 0
}
