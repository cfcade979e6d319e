package petri

import "time"

// timers is the set of running clocks: a binary heap of transitions by due
// time, then declaration order, with the position of each so that a clock can
// be stopped. The earliest costs nothing to see, however many there are.
type timers struct {
	heap []int32         // transitions
	due  []time.Duration // by clock
	pos  []int32         // by clock: index in heap + 1; 0 when stopped
	of   []TransitionInfo
}

func newTimers(p *Program) timers {
	return timers{due: make([]time.Duration, p.timed), pos: make([]int32, p.timed), of: p.transitions}
}

func (t *timers) next() time.Duration {
	if len(t.heap) == 0 {
		return Forever
	}
	return t.due[t.of[t.heap[0]].clock]
}

func (t *timers) before(a, b int32) bool {
	da, db := t.due[t.of[a].clock], t.due[t.of[b].clock]
	return da < db || da == db && a < b
}

func (t *timers) set(i int, tr int32) {
	t.heap[i] = tr
	t.pos[t.of[tr].clock] = int32(i) + 1
}

func (t *timers) start(tr int32, due time.Duration) {
	t.due[t.of[tr].clock] = due
	t.heap = append(t.heap, tr)
	t.up(len(t.heap) - 1)
}

func (t *timers) stop(tr int32) {
	c := t.of[tr].clock
	i := int(t.pos[c]) - 1
	t.pos[c] = 0
	last := len(t.heap) - 1
	moved := t.heap[last]
	t.heap = t.heap[:last]
	if i == last {
		return
	}
	t.set(i, moved)
	t.up(i)
	t.down(int(t.pos[t.of[moved].clock]) - 1)
}

func (t *timers) up(i int) {
	tr := t.heap[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !t.before(tr, t.heap[parent]) {
			break
		}
		t.set(i, t.heap[parent])
		i = parent
	}
	t.set(i, tr)
}

func (t *timers) down(i int) {
	tr := t.heap[i]
	for {
		child := 2*i + 1
		if child >= len(t.heap) {
			break
		}
		if child+1 < len(t.heap) && t.before(t.heap[child+1], t.heap[child]) {
			child++
		}
		if !t.before(t.heap[child], tr) {
			break
		}
		t.set(i, t.heap[child])
		i = child
	}
	t.set(i, tr)
}
