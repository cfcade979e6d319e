package walk

import (
	"math/bits"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// Steps returns the firings that end in the fault.
func (f *Fault) Steps() []netmodel.Step {
	if len(f.Chain) > 0 {
		return f.Chain
	}
	return []netmodel.Step{f.Step}
}

// Walker fires steps of a Model, each with everything that fires at once after it. It has its own
// scratch memory and is not safe for concurrent use.
type Walker struct {
	// Marking is the reached marking, valid during a visit.
	Marking []int32
	// Chain is the steps since the marking that Fire began with. It is maintained only while Record
	// is set.
	Chain  []netmodel.Step
	Record bool
	// Merge treats ways that meet in the middle of a chain as one from there on: a visit then has
	// only the firings of the first of them. Without Merge, ways with different firings, if they
	// are recorded, are each followed, however many there are.
	Merge bool
	// Passing, if not nil, is called before each firing at one instant with the rank of the
	// transition that fires: its position in the order of such transitions.
	Passing func(rank int32)
	// Seen, if not nil, is called for every firing.
	Seen func(netmodel.Step)
	// Amid, if not nil, is called in the middle of each firing, after it has consumed and reset and
	// before it produces.
	Amid func()
	// Kept marks the clocks that have run on since that marking: clock i of the model is bit i%64
	// of word i/64. It is maintained only if clocks are tracked.
	Kept []uint64
	// Until is the value of Kept when the run ended, during the visit of a marking in which it has
	// ended.
	Until []uint64
	// Stopped reports that a firing since that marking stopped an observer whose clock had run on
	// until then. It is maintained only if clocks are tracked.
	Stopped bool
	// Refused lists the tokens that full environment places turned away on the way.
	Refused []Refusal
	// Turned, if not nil, is called for each token when it is turned away. A visit has only the
	// tokens on the first of several ways to a marking in the middle of a chain.
	Turned func(Refusal)
	// Cut reports that some firing led through more than vanishingMax markings in which something
	// fires at once, so that not all of them were followed.
	Cut bool
	// Amidst reports, during a visit, that the net does not rest: a projected move of a slice may
	// fire before the chain continues.
	Amidst bool

	M      *netmodel.Model
	track  bool
	wake   []uint64 // ranks that may be enabled
	visit  func()
	faults func(Fault)
	steps  []netmodel.Step
	memo   map[string]int
	saved  []snapshot
	depth  int
	key    []byte
}

// vanishingMax is the most markings with a choice that one firing passes.
const vanishingMax = 1 << 12

// Refusal is a token that a full environment place turned away.
type Refusal struct {
	Place int
	Step  netmodel.Step
}

// FaultKind is the way in which a machine would fault.
type FaultKind uint8

// The kinds of fault.
const (
	Overfull FaultKind = iota // a place beyond its capacity
	Endless                   // a chain of more than petri.MaxChain firings
)

// Fault is a firing at which a machine would panic.
type Fault struct {
	Kind  FaultKind
	Place int // of an overfull place; otherwise -1
	Step  netmodel.Step
	Chain []netmodel.Step // the firings before it, if recorded
}

type snapshot struct {
	marking []int32
	kept    []uint64
	wake    []uint64
	chain   int
	refused int
	stopped bool
}

// NewWalker makes a walker. It calls visit for each tangible marking reached (the same may come
// more than once) and fault for each way in which a machine would fault.
func NewWalker(m *netmodel.Model, visit func(), fault func(Fault)) *Walker {
	return &Walker{
		M: m, Marking: make([]int32, m.Slots()), visit: visit, faults: fault,
		wake: make([]uint64, (len(m.Order)+63)/64),
	}
}

// Track makes the walker maintain Kept.
func (w *Walker) Track() {
	w.track = true
	w.Kept = make([]uint64, (len(w.M.Timed())+63)/64)
	w.Until = make([]uint64, len(w.Kept))
}

// Start runs the initial marking to completion. It returns the length of the longest chain of
// firings.
func (w *Walker) Start() int {
	copy(w.Marking, w.M.Initial())
	w.begin()
	w.wakeAll()
	return w.settle(0)
}

func (w *Walker) wakeAll() {
	for r := range w.M.Order {
		w.wake[r>>6] |= 1 << (r & 63)
	}
}

// Fire fires one enabled step in marking from and runs everything to completion that it enables. It
// returns the length of the longest chain of firings after the step.
func (w *Walker) Fire(from []int32, s netmodel.Step) int {
	copy(w.Marking, from)
	w.begin()
	if w.track {
		w.keepEnabled()
	}
	return w.fire(s)
}

// Once fires one enabled step in marking from, and nothing after it. It reports whether a machine
// would continue.
func (w *Walker) Once(from []int32, s netmodel.Step) bool {
	copy(w.Marking, from)
	w.begin()
	return w.Apply(s)
}

// FireKept is Fire for a walker that tracks clocks: running marks the clocks that run in the
// marking, as Kept does.
func (w *Walker) FireKept(from []int32, running []uint64, s netmodel.Step) int {
	copy(w.Marking, from)
	w.begin()
	copy(w.Kept, running)
	return w.fire(s)
}

func (w *Walker) fire(s netmodel.Step) int {
	if len(w.M.Amidst) > 0 {
		w.wakeAll() // in the middle of a chain others may wait
	}
	if !w.Apply(s) {
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

// Running sets to to the clocks that run in a marking, in the format of Kept.
func Running(m *netmodel.Model, marking []int32, to []uint64) {
	clear(to)
	if m.Ended(marking) {
		return
	}
	for c, t := range m.Timed() {
		if m.Ready(t, marking) {
			to[c>>6] |= 1 << (c & 63)
		}
	}
}

func (w *Walker) keepEnabled() { Running(w.M, w.Marking, w.Kept) }

// settle fires what is enabled at once, in order, until nothing is. Where there is a choice it
// tries every way. It returns the length of the longest chain.
func (w *Walker) settle(depth int) int {
	for h := 0; ; h++ {
		if w.M.Ended(w.Marking) {
			copy(w.Until, w.Kept)
			clear(w.Kept)
			if w.M.Given == nil || w.M.KeepsGiven(w.Marking) {
				w.visit()
			}
			return h
		}
		t := w.next()
		if t < 0 {
			if w.M.Given == nil || w.M.KeepsGiven(w.Marking) {
				w.visit()
			}
			return h
		}
		if w.Passing != nil {
			w.Passing(w.M.Ranks[t])
		}
		if len(w.M.Amidst) > 0 && w.M.Interrupted(w.M.Ranks[t], w.Marking) {
			w.Amidst = true
			w.visit()
			w.Amidst = false
			return h
		}
		at := len(w.steps)
		w.steps = w.M.Steps(t, w.Marking, w.steps)
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
		if !w.Apply(s) {
			return h + 1
		}
	}
}

// next is the first enabled transition that runs to completion, or -1.
func (w *Walker) next() int32 {
	for i, word := range w.wake {
		for word != 0 {
			bit := bits.TrailingZeros64(word)
			t := w.M.Order[i<<6+bit]
			if w.M.Ready(t, w.Marking) {
				return t
			}
			word &^= 1 << bit
			w.wake[i] = word
		}
	}
	return -1
}

// branch tries every step from index at on. It explores a vanishing marking once for each set of
// clocks kept.
func (w *Walker) branch(depth, at int) int {
	w.pack()
	if w.memo == nil {
		w.memo = map[string]int{}
	}
	if h, ok := w.memo[string(w.key)]; ok {
		if h < 0 || depth+h > petri.MaxChain { // the longest continuation may be too long from here
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
		if w.Apply(w.steps[i]) {
			longest = max(longest, w.settle(depth+1))
		}
	}
	w.depth--
	w.memo[key] = longest + 1
	return longest + 1
}

// pack encodes what decides the rest of the chain.
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

// packFired encodes which steps fired, one bit each.
func (w *Walker) packFired() {
	at := len(w.key)
	w.key = append(w.key, make([]byte, w.M.StepCount()/8+1)...)
	for _, s := range w.Chain {
		i := w.M.StepIndex(s)
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

// Apply fires one step: consume, reset, bump, produce. It reports whether the machine would
// continue, and in a slice whether the whole net may do the same.
func (w *Walker) Apply(s netmodel.Step) bool {
	md := &w.M.Modes[w.M.First[s.Transition]+s.Mode]
	b := &md.Branches[s.Branch]
	if w.Record {
		w.Chain = append(w.Chain, s)
	}
	if w.Seen != nil {
		w.Seen(s)
	}
	if b.Stop && w.track {
		c := len(w.M.Timed()) - 1 // the clock of an observer is the last
		w.Stopped = w.Stopped || w.Kept[c>>6]>>(c&63)&1 == 1
	}
	w.consume(md)
	if len(b.Clears) > 0 {
		w.clears(b)
	}
	if w.Amid != nil {
		w.Amid()
	}
	ok := w.produce(md, b, s)
	for _, r := range b.Wakes {
		w.wake[r>>6] |= 1 << (r & 63)
	}
	if w.track {
		w.stop(b.Stops)
	}
	return ok
}

func (w *Walker) consume(md *netmodel.Mode) {
	for _, k := range md.Take {
		w.Marking[k.Slot] -= k.N
	}
	for _, s := range md.Empty {
		w.Marking[s] = 0
	}
	if md.Bump {
		for _, s := range w.M.Fresh {
			w.Marking[s+1] += w.Marking[s]
			w.Marking[s] = 0
		}
	}
	if w.track {
		if c := w.M.Clocks[md.Transition]; c >= 0 {
			w.Kept[c>>6] &^= 1 << (c & 63)
		}
		// Intermediate semantics (Berthomieu and Diaz 1991): a clock that consuming, resetting or
		// bumping disables starts anew even if producing enables it again.
		w.stop(md.Lowers)
	}
}

func (w *Walker) clears(b *netmodel.Branch) {
	for _, s := range b.Clears {
		w.Marking[s] = 0
	}
	if w.track {
		w.stop(b.Clocks)
	}
}

// stop drops the clocks of transitions that are not enabled now.
func (w *Walker) stop(clocks []int32) {
	for _, c := range clocks {
		if w.Kept[c>>6]>>(c&63)&1 == 1 && !w.M.Ready(w.M.Timed()[c], w.Marking) {
			w.Kept[c>>6] &^= 1 << (c & 63)
		}
	}
}

func (w *Walker) produce(md *netmodel.Mode, b *netmodel.Branch, s netmodel.Step) bool {
	for i := range b.Put {
		p := &b.Put[i]
		w.Marking[p.Slot] += p.N
		if p.Max == petri.MaxTokens && w.Marking[p.Slot] <= petri.MaxTokens {
			continue
		}
		total := int32(0)
		for j := p.First; j < p.Last; j++ {
			total += w.Marking[j]
		}
		over := total - p.Max
		switch {
		case over <= 0:
		case p.Refuse || p.Quiet:
			w.refuse(p, over, s)
		case md.Assumed:
			return false
		default:
			w.fault(Overfull, int(p.Place), s)
			return false
		}
	}
	for _, l := range b.Limits {
		if !w.M.Limits[l].Holds(w.Marking) {
			return false
		}
	}
	return true
}

func (w *Walker) refuse(p *netmodel.Put, over int32, s netmodel.Step) {
	over = min(over, p.N)
	w.Marking[p.Slot] -= over
	if p.Quiet {
		return
	}
	for range over {
		w.Refused = append(w.Refused, Refusal{Place: int(p.Place), Step: s})
	}
	if w.Turned != nil && over > 0 {
		w.Turned(Refusal{Place: int(p.Place), Step: s})
	}
}

func (w *Walker) fault(kind FaultKind, place int, s netmodel.Step) {
	if w.faults != nil {
		w.faults(Fault{Kind: kind, Place: place, Step: s, Chain: append([]netmodel.Step(nil), w.Chain...)})
	}
}
