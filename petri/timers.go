package petri

import "time"

// timers is the set of running clocks: a binary heap ordered by due time, then by declaration. pos
// finds a clock in the heap, so that it can be stopped. next takes constant time.
type timers struct {
	heap []timer
	pos  []int32 // by clock: 1 + its index in heap; 0 if stopped
}

// timer is a running clock.
type timer struct {
	due               time.Duration
	transition, clock int32
}

func newTimers(p *Program) timers { return timers{pos: make([]int32, p.timed)} }

func (t *timers) next() time.Duration {
	if len(t.heap) == 0 {
		return Forever
	}
	return t.heap[0].due
}

func (a *timer) before(b *timer) bool {
	return a.due < b.due || a.due == b.due && a.transition < b.transition
}

func (t *timers) set(i int, x timer) {
	t.heap[i] = x
	t.pos[x.clock] = int32(i) + 1
}

func (t *timers) start(x timer) {
	t.heap = append(t.heap, x)
	t.up(len(t.heap) - 1)
}

func (t *timers) stop(clock int32) {
	i := int(t.pos[clock]) - 1
	t.pos[clock] = 0
	last := len(t.heap) - 1
	moved := t.heap[last]
	t.heap = t.heap[:last]
	if i == last {
		return
	}
	t.set(i, moved)
	t.up(i)
	t.down(int(t.pos[moved.clock]) - 1)
}

func (t *timers) up(i int) {
	x := t.heap[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !x.before(&t.heap[parent]) {
			break
		}
		t.set(i, t.heap[parent])
		i = parent
	}
	t.set(i, x)
}

func (t *timers) down(i int) {
	x := t.heap[i]
	for {
		child := 2*i + 1
		if child >= len(t.heap) {
			break
		}
		if child+1 < len(t.heap) && t.heap[child+1].before(&t.heap[child]) {
			child++
		}
		if !t.heap[child].before(&x) {
			break
		}
		t.set(i, t.heap[child])
		i = child
	}
	t.set(i, x)
}
