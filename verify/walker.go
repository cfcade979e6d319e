package verify

import (
	"math/bits"

	"github.com/voicegw/voicegw/petri"
)

// Walker fires steps of a Model, each with everything that fires at once after
// it. It has scratch memory of its own and is not safe for concurrent use.
type Walker struct {
	// Marking is the marking reached, valid during a visit.
	Marking []int32
	// Chain is how the marking was reached: the steps since the marking that
	// Fire began with. Recorded only while Record is set.
	Chain  []Step
	Record bool
	// Merge follows ways that meet in the midst of a chain on from there as one: a
	// visit then tells the firings of the first of them alone. Without it ways with
	// different firings, if they are recorded, are each followed, however many.
	Merge bool
	// Passing, if not nil, is called before each firing at one instant with the
	// rank of what fires: its position in the order of such transitions.
	Passing func(rank int32)
	// Seen, if not nil, is called for every firing.
	Seen func(Step)
	// Amid, if not nil, is called in the midst of each firing, when it has consumed
	// and reset and not produced yet.
	Amid func()
	// Kept says which clocks have run on since that marking: clock i of the
	// model is bit i%64 of word i/64. Maintained only if clocks are tracked.
	Kept []uint64
	// Until is what Kept was when the run ended, during the visit of a marking in
	// which it has.
	Until []uint64
	// Stopped reports that a firing since that marking stopped an observer whose
	// clock had run on until then. Maintained only if clocks are tracked.
	Stopped bool
	// Refused counts the tokens that full environment places turned away on
	// the way.
	Refused []Refusal
	// Turned, if not nil, is called for each of them when it is turned away: a
	// visit tells only those on the first of several ways to a marking in the
	// midst of a chain.
	Turned func(Refusal)
	// Cut reports that some firing led through more than vanishingMax markings
	// in which something fires at once, so that not all of them were followed.
	Cut bool
	// Amidst reports, during a visit, that the net does not rest: a projected
	// move of a slice may fire before the chain goes on.
	Amidst bool

	m      *Model
	track  bool
	wake   []uint64 // ranks that may be enabled
	visit  func()
	faults func(Fault)
	steps  []Step
	memo   map[string]int
	saved  []snapshot
	depth  int
	key    []byte
}

// vanishingMax limits how many markings with a choice one firing passes.
const vanishingMax = 1 << 12

// Refusal is a token that a full environment place turned away.
type Refusal struct {
	Place int
	Step  Step
}

// FaultKind says how a machine would fault.
type FaultKind uint8

// The kinds of fault.
const (
	Overfull FaultKind = iota // a place beyond its capacity
	Endless                   // a chain of more than petri.MaxChain firings
)

// Fault is a firing at which a machine would panic.
type Fault struct {
	Kind  FaultKind
	Place int // of an overfull place; -1
	Step  Step
	Chain []Step // what led to it, if recorded
}

type snapshot struct {
	marking []int32
	kept    []uint64
	wake    []uint64
	chain   int
	refused int
	stopped bool
}

// NewWalker makes a walker. visit is called for each tangible marking reached
// (the same may come more than once); fault for each way a machine would
// fault.
func (m *Model) NewWalker(visit func(), fault func(Fault)) *Walker {
	return &Walker{
		m: m, Marking: make([]int32, m.slots), visit: visit, faults: fault,
		wake: make([]uint64, (len(m.order)+63)/64),
	}
}

// Track makes the walker maintain Kept.
func (w *Walker) Track() {
	w.track = true
	w.Kept = make([]uint64, (len(w.m.timed)+63)/64)
	w.Until = make([]uint64, len(w.Kept))
}

// Start lets the initial marking run to completion. It returns the length of
// the longest chain of firings.
func (w *Walker) Start() int {
	copy(w.Marking, w.m.initial)
	w.begin()
	w.wakeAll()
	return w.settle(0)
}

func (w *Walker) wakeAll() {
	for r := range w.m.order {
		w.wake[r>>6] |= 1 << (r & 63)
	}
}

// Fire fires one enabled step in marking from and lets everything run to
// completion that it enables. It returns the length of the longest chain of
// firings after the step.
func (w *Walker) Fire(from []int32, s Step) int {
	copy(w.Marking, from)
	w.begin()
	if w.track {
		w.keepEnabled()
	}
	return w.fire(s)
}

// Once fires one enabled step in marking from, and nothing after it. It reports
// whether a machine would live on.
func (w *Walker) Once(from []int32, s Step) bool {
	copy(w.Marking, from)
	w.begin()
	return w.apply(s)
}

// FireKept is Fire for a walker that tracks clocks: running says which clocks
// run in the marking, as Kept does.
func (w *Walker) FireKept(from []int32, running []uint64, s Step) int {
	copy(w.Marking, from)
	w.begin()
	copy(w.Kept, running)
	return w.fire(s)
}

func (w *Walker) fire(s Step) int {
	if len(w.m.amidst) > 0 {
		w.wakeAll() // in the midst of a chain others may wait
	}
	if !w.apply(s) {
		return 0
	}
	return w.settle(0)
}

func (w *Walker) begin() {
	clear(w.wake)
	clear(w.Kept)
	w.Chain, w.Refused = w.Chain[:0], w.Refused[:0]
	w.depth, w.Stopped = 0, false
	if len(w.memo) > 0 {
		clear(w.memo)
	}
}

// Running writes which clocks run in a marking to to, as Kept does.
func (m *Model) Running(marking []int32, to []uint64) {
	clear(to)
	if m.Ended(marking) {
		return
	}
	for c, t := range m.timed {
		if m.enabled(t, marking) {
			to[c>>6] |= 1 << (c & 63)
		}
	}
}

func (w *Walker) keepEnabled() { w.m.Running(w.Marking, w.Kept) }

// settle fires what is enabled at once, in order, until nothing is. Where
// there is a choice it tries all. It returns the longest chain.
func (w *Walker) settle(depth int) int {
	for h := 0; ; h++ {
		if w.m.Ended(w.Marking) {
			copy(w.Until, w.Kept)
			clear(w.Kept)
			if w.m.given == nil || w.m.keepsGiven(w.Marking) {
				w.visit()
			}
			return h
		}
		t := w.next()
		if t < 0 {
			if w.m.given == nil || w.m.keepsGiven(w.Marking) {
				w.visit()
			}
			return h
		}
		if w.Passing != nil {
			w.Passing(w.m.rank[t])
		}
		if len(w.m.amidst) > 0 && w.m.interrupted(w.m.rank[t], w.Marking) {
			w.Amidst = true
			w.visit()
			w.Amidst = false
			return h
		}
		at := len(w.steps)
		w.steps = w.m.Steps(t, w.Marking, w.steps)
		if depth+h == petri.MaxChain {
			w.fault(Endless, -1, w.steps[at])
			w.steps = w.steps[:at]
			return h
		}
		if len(w.steps) > at+1 {
			h += w.branch(depth+h, at)
			w.steps = w.steps[:at]
			return h
		}
		s := w.steps[at]
		w.steps = w.steps[:at]
		if !w.apply(s) {
			return h + 1
		}
	}
}

// next is the first enabled transition that runs to completion, or -1.
func (w *Walker) next() int32 {
	for i, word := range w.wake {
		for word != 0 {
			bit := bits.TrailingZeros64(word)
			t := w.m.order[i<<6+bit]
			if w.m.enabled(t, w.Marking) {
				return t
			}
			word &^= 1 << bit
			w.wake[i] = word
		}
	}
	return -1
}

// branch tries every step from index at on. A vanishing marking is explored
// once for each set of clocks kept.
func (w *Walker) branch(depth, at int) int {
	w.pack()
	if w.memo == nil {
		w.memo = map[string]int{}
	}
	if h, ok := w.memo[string(w.key)]; ok {
		if h < 0 || depth+h > petri.MaxChain { // the longest way on may be too long from here
			w.fault(Endless, -1, w.steps[at])
		}
		return max(h, 0)
	}
	if w.Merge && len(w.memo) >= vanishingMax {
		w.Cut = true
		return 0
	}
	key := string(w.key)
	w.memo[key] = -1
	level := w.save()
	end, longest := len(w.steps), 0
	for i := at; i < end; i++ {
		w.restore(level)
		if w.apply(w.steps[i]) {
			longest = max(longest, w.settle(depth+1))
		}
	}
	w.depth--
	w.memo[key] = longest + 1
	return longest + 1
}

// pack writes what decides the rest of the chain.
func (w *Walker) pack() {
	w.key = w.key[:0]
	for _, n := range w.Marking {
		w.key = append(w.key, byte(n), byte(n>>8), byte(n>>16))
	}
	for _, k := range w.Kept {
		for i := 0; i < 64; i += 8 {
			w.key = append(w.key, byte(k>>i))
		}
	}
	if w.Stopped {
		w.key = append(w.key, 1)
	}
	if w.Record && !w.Merge {
		w.packFired()
	}
}

// packFired writes which steps fired, one bit each.
func (w *Walker) packFired() {
	at := len(w.key)
	w.key = append(w.key, make([]byte, w.m.StepCount()/8+1)...)
	for _, s := range w.Chain {
		i := w.m.StepIndex(s)
		w.key[at+i>>3] |= 1 << (i & 7)
	}
}

func (w *Walker) save() int {
	level := w.depth
	w.depth++
	if level == len(w.saved) {
		w.saved = append(w.saved, snapshot{})
	}
	s := &w.saved[level]
	s.marking = append(s.marking[:0], w.Marking...)
	s.kept = append(s.kept[:0], w.Kept...)
	s.wake = append(s.wake[:0], w.wake...)
	s.chain, s.refused, s.stopped = len(w.Chain), len(w.Refused), w.Stopped
	return level
}

func (w *Walker) restore(level int) {
	s := &w.saved[level]
	copy(w.Marking, s.marking)
	copy(w.Kept, s.kept)
	copy(w.wake, s.wake)
	w.Chain, w.Refused = w.Chain[:s.chain], w.Refused[:s.refused]
	w.depth, w.Stopped = level+1, s.stopped
}

// apply fires one step: consume, reset, bump, produce. It reports whether the
// machine would live on, and in a slice whether the whole net may do that.
func (w *Walker) apply(s Step) bool {
	md := &w.m.modes[w.m.first[s.Transition]+s.Mode]
	b := &md.branches[s.Branch]
	if w.Record {
		w.Chain = append(w.Chain, s)
	}
	if w.Seen != nil {
		w.Seen(s)
	}
	if b.stop && w.track {
		c := len(w.m.timed) - 1 // the clock of an observer is the last
		w.Stopped = w.Stopped || w.Kept[c>>6]>>(c&63)&1 == 1
	}
	w.consume(md)
	if len(b.clears) > 0 {
		w.clears(b)
	}
	if w.Amid != nil {
		w.Amid()
	}
	ok := w.produce(md, b, s)
	for _, r := range b.wakes {
		w.wake[r>>6] |= 1 << (r & 63)
	}
	if w.track {
		w.stop(b.stops)
	}
	return ok
}

func (w *Walker) consume(md *mode) {
	for _, k := range md.take {
		w.Marking[k.Slot] -= k.N
	}
	for _, s := range md.empty {
		w.Marking[s] = 0
	}
	if md.bump {
		for _, s := range w.m.fresh {
			w.Marking[s+1] += w.Marking[s]
			w.Marking[s] = 0
		}
	}
	if w.track {
		if c := w.m.clock[md.t]; c >= 0 {
			w.Kept[c>>6] &^= 1 << (c & 63)
		}
		// Intermediate semantics (Berthomieu and Diaz 1991): what consuming,
		// resetting and bumping disables starts anew even if producing enables
		// it again.
		w.stop(md.lowers)
	}
}

func (w *Walker) clears(b *branch) {
	for _, s := range b.clears {
		w.Marking[s] = 0
	}
	if w.track {
		w.stop(b.clocks)
	}
}

// stop drops the clocks of transitions that are not enabled now.
func (w *Walker) stop(clocks []int32) {
	for _, c := range clocks {
		if w.Kept[c>>6]>>(c&63)&1 == 1 && !w.m.enabled(w.m.timed[c], w.Marking) {
			w.Kept[c>>6] &^= 1 << (c & 63)
		}
	}
}

func (w *Walker) produce(md *mode, b *branch, s Step) bool {
	for i := range b.put {
		p := &b.put[i]
		w.Marking[p.slot] += p.n
		if p.max == petri.MaxTokens && w.Marking[p.slot] <= petri.MaxTokens {
			continue
		}
		total := int32(0)
		for j := p.first; j < p.last; j++ {
			total += w.Marking[j]
		}
		over := total - p.max
		switch {
		case over <= 0:
		case p.refuse || p.quiet:
			w.refuse(p, over, s)
		case md.assumed:
			return false
		default:
			w.fault(Overfull, int(p.place), s)
			return false
		}
	}
	for _, l := range b.limits {
		if !w.m.limits[l].Holds(w.Marking) {
			return false
		}
	}
	return true
}

func (w *Walker) refuse(p *put, over int32, s Step) {
	over = min(over, p.n)
	w.Marking[p.slot] -= over
	if p.quiet {
		return
	}
	for range over {
		w.Refused = append(w.Refused, Refusal{Place: int(p.place), Step: s})
	}
	if w.Turned != nil && over > 0 {
		w.Turned(Refusal{Place: int(p.place), Step: s})
	}
}

func (w *Walker) fault(kind FaultKind, place int, s Step) {
	if w.faults != nil {
		w.faults(Fault{Kind: kind, Place: place, Step: s, Chain: append([]Step(nil), w.Chain...)})
	}
}
