package petri

import "fmt"

// queue holds the tokens of one place that carry data. Within a slot it is first in, first out;
// across slots, sequence numbers order the tokens. A value stays in its cell from the moment it is
// produced here until it is consumed; only the number of the cell moves. So all of the order is
// independent of the colour.
type queue struct {
	rings  []ring
	got    []cell // taken by this firing: by its input arc, then by its reset, each oldest first
	inputs int    // how many of got the input arc took
	seen   []cell // read by this firing at a place that it resets or bumps
	stage  []cell // produced by this firing
	spare  ring   // empty; for bump
	next   uint64
	seqs   []uint64 // by cell, only in places with several slots: the order of arrival
	free   []cell
	values values
	col    *colour
}

// cell is the number of a cell that holds a value.
type cell = int32

// none is no cell.
const none cell = -1

// ring is a circular buffer of cells whose capacity is a power of two.
type ring struct {
	buf  []cell
	head int32
	n    int32
}

func newQueue(rings int, c *colour) *queue {
	return &queue{rings: make([]ring, max(rings, 1)), values: c.newValues(), col: c}
}

func (r *ring) at(i int32) cell { return r.buf[(r.head+i)&int32(len(r.buf)-1)] }

func (r *ring) grow() {
	buf := make([]cell, max(2*len(r.buf), 2))
	for i := range r.n {
		buf[i] = r.at(i)
	}
	r.buf, r.head = buf, 0
}

func (r *ring) push(c cell) {
	if int(r.n) == len(r.buf) {
		r.grow()
	}
	r.buf[(r.head+r.n)&int32(len(r.buf)-1)] = c
	r.n++
}

// pop removes the oldest token.
func (r *ring) pop() cell {
	c := r.buf[r.head]
	r.head = (r.head + 1) & int32(len(r.buf)-1)
	r.n--
	return c
}

func (q *queue) ordered() bool { return len(q.rings) > 1 }

// alloc returns a cell, which holds the zero value.
func (q *queue) alloc() cell {
	if n := len(q.free); n > 0 {
		c := q.free[n-1]
		q.free = q.free[:n-1]
		return c
	}
	if q.ordered() {
		q.seqs = append(q.seqs, 0)
	}
	return q.values.grow()
}

// recycle forgets the value of a cell.
func (q *queue) recycle(c cell) {
	q.values.zero(c)
	q.free = append(q.free, c)
}

func (q *queue) push(ring int32, c cell) {
	if q.ordered() {
		q.next++
		q.seqs[c] = q.next
	}
	q.rings[ring].push(c)
}

func (q *queue) pushAny(ring int32, v any) {
	c := q.alloc()
	q.values.set(c, v)
	q.push(ring, c)
}

func (q *queue) popAny(ring int32) any {
	c := q.rings[ring].pop()
	v := q.values.get(c)
	q.recycle(c)
	return v
}

// pass moves the oldest token of another queue of the same colour to this one.
func (q *queue) pass(from *queue, ring, to int32) {
	c, d := q.alloc(), from.rings[ring].pop()
	q.values.copy(c, from.values, d)
	from.recycle(d)
	q.push(to, c)
}

func (q *queue) discard(ring, n int32) {
	for range n {
		q.recycle(q.rings[ring].pop())
	}
}

// take moves the n oldest tokens of a ring to got.
func (q *queue) take(ring, n int32) {
	q.takeAfter(0, ring, n)
	q.inputs = len(q.got)
}

// clear moves all tokens of a ring to got.
func (q *queue) clear(ring int32, reset bool) {
	n := q.rings[ring].n
	if reset {
		q.takeAfter(q.inputs, ring, n)
		return
	}
	q.take(ring, n)
}

// takeAfter moves n tokens of a ring to got and keeps got[first:] ordered from the oldest to the
// newest.
func (q *queue) takeAfter(first int, ring, n int32) {
	r := &q.rings[ring]
	for range n {
		c, i := r.pop(), len(q.got)
		q.got = append(q.got, c)
		if !q.ordered() {
			continue
		}
		for ; i > first && q.seqs[q.got[i-1]] > q.seqs[c]; i-- {
			q.got[i] = q.got[i-1]
		}
		q.got[i] = c
	}
}

// front returns the token that this firing reads, or the oldest token that it took, or none.
func (q *queue) front(ring int32) cell {
	switch {
	case len(q.seen) > 0:
		return q.seen[0]
	case len(q.got) > 0:
		return q.got[0]
	case ring < 0 || q.rings[ring].n == 0:
		return none
	default:
		return q.rings[ring].at(0)
	}
}

// peek keeps the token that this firing reads before the place is reset or bumped.
func (q *queue) peek(ring int32) { q.seen = append(q.seen, q.rings[ring].at(0)) }

func (q *queue) taken() int { return len(q.got) }

// put stages a token and returns the cell for its value.
func (q *queue) put() cell {
	c := q.alloc()
	q.stage = append(q.stage, c)
	return c
}

func (q *queue) stageAny(v any, n int32) {
	for range n {
		q.values.set(q.put(), v)
	}
}

func (q *queue) stageZero(n int32) {
	for range n {
		q.put()
	}
}

func (q *queue) staged() int { return len(q.stage) }

// forward stages the tokens that this firing took, or reads, in the queue from.
func (q *queue) forward(from *queue, ring int32, n int32) {
	if from.inputs == 0 {
		q.values.copy(q.put(), from.values, from.front(ring))
		return
	}
	for _, c := range from.got[:n] {
		q.values.copy(q.put(), from.values, c)
	}
}

// stagedKind returns the slot of staged token i according to its key and generation, or a problem
// if the colour cannot have such a token.
func (q *queue) stagedKind(i int, now Gen) (int32, string) {
	look := q.values.look
	if q.col.direct {
		look = q.values.get
	}
	kind, problem := q.col.kindOf(look(q.stage[i]), now)
	return int32(kind), problem
}

func (q *queue) commit(ring int32) {
	for _, c := range q.stage {
		q.push(ring, c)
	}
	q.stage = q.stage[:0]
}

func (q *queue) emit(place string, seq uint64, to []Token) []Token {
	for _, c := range q.stage {
		to = append(to, Token{place: place, value: q.values.get(c), seq: seq})
		q.recycle(c)
	}
	q.stage = q.stage[:0]
	return to
}

// release forgets the tokens taken and read, so that their values can be garbage collected.
func (q *queue) release() {
	for _, c := range q.got {
		q.recycle(c)
	}
	q.got, q.inputs, q.seen = q.got[:0], 0, q.seen[:0]
}

// empty removes all tokens, and keeps the memory unless it is large.
func (q *queue) empty() {
	for i := range q.rings {
		r := &q.rings[i]
		if len(r.buf) > keepCells {
			r.buf = nil
		}
		r.head, r.n = 0, 0
	}
	if max(cap(q.seqs), cap(q.free)) > keepCells {
		q.seqs, q.free = nil, nil
	}
	q.values.empty()
	q.seqs, q.free, q.next = q.seqs[:0], q.free[:0], 0
	q.got, q.inputs, q.seen, q.stage = q.got[:0], 0, q.seen[:0], q.stage[:0]
}

// bump moves every fresh token to the stale slot of its key, in order.
func (q *queue) bump() {
	for k := 0; k+1 < len(q.rings); k += 2 {
		fresh, stale := &q.rings[k], &q.rings[k+1]
		switch {
		case fresh.n == 0:
		case stale.n == 0:
			*fresh, *stale = *stale, *fresh
		default:
			q.merge(fresh, stale)
			*stale, q.spare = q.spare, *stale
		}
	}
}

// merge moves the tokens of two rings to the spare one, in order.
func (q *queue) merge(a, b *ring) {
	for a.n+b.n > 0 {
		from := a
		if a.n == 0 || b.n > 0 && q.seqs[b.at(0)] < q.seqs[a.at(0)] {
			from = b
		}
		q.spare.push(from.pop())
	}
}

// oldest returns the ring whose front token came first, among the given slots, or among all if
// slots is nil. first is the first slot of the place.
func (q *queue) oldest(slots []int32, first int32) int32 {
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
func (q *queue) newest() int32 {
	best, bestSeq := int32(0), uint64(0)
	for i := range q.rings {
		if s := q.seqOf(int32(i), q.rings[i].n-1); s > bestSeq {
			best, bestSeq = int32(i), s
		}
	}
	return best
}

// headSeq returns the sequence number of the front token of a ring.
func (q *queue) headSeq(ring int32) uint64 { return q.seqOf(ring, 0) }

// seqOf returns the sequence number of token i of a ring. It returns 0 if there is no such token,
// or if the place has one ring only, where no order is needed.
func (q *queue) seqOf(ring, i int32) uint64 {
	r := &q.rings[ring]
	if !q.ordered() || i < 0 || i >= r.n {
		return 0
	}
	return q.seqs[r.at(i)]
}

func (q *queue) popOldest() { q.discard(q.oldest(nil, 0), 1) }

func (q *queue) popNewest() {
	r := &q.rings[q.newest()]
	r.n--
	q.recycle(r.at(r.n))
}

// tokens returns the values of a ring, from the oldest to the newest.
func (q *queue) tokens(ring int32) []any {
	r := &q.rings[ring]
	var out []any
	for i := range r.n {
		out = append(out, q.values.get(r.at(i)))
	}
	return out
}

// values is the memory of a place's tokens. A cell without a token holds the zero value.
type values interface {
	grow() cell                       // adds a cell
	set(c cell, v any)                // v is of the colour's type
	copy(c cell, from values, d cell) // from is of the same colour
	get(c cell) any
	look(c cell) any // a pointer to the value, without an allocation
	zero(c cell)
	empty() // removes all cells
}

// valuesOf holds the values of a Place[T]. The compiler makes a copy of its methods for each colour
// of a program, so it has few and small ones.
type valuesOf[T any] struct{ cells []T }

func newValues[T any]() values { return &valuesOf[T]{} }

func (s *valuesOf[T]) grow() cell {
	var zero T
	s.cells = append(s.cells, zero)
	return cell(len(s.cells) - 1)
}

func (s *valuesOf[T]) set(c cell, v any) { s.cells[c] = v.(T) }

func (s *valuesOf[T]) copy(c cell, from values, d cell) { s.cells[c] = from.(*valuesOf[T]).cells[d] }

func (s *valuesOf[T]) get(c cell) any { return s.cells[c] }

func (s *valuesOf[T]) look(c cell) any { return &s.cells[c] }

func (s *valuesOf[T]) zero(c cell) {
	var zero T
	s.cells[c] = zero
}

func (s *valuesOf[T]) empty() {
	clear(s.cells)
	if s.cells = s.cells[:0]; cap(s.cells) > keepCells {
		s.cells = nil
	}
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
