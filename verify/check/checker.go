package check

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// checker verifies a certificate. It reads the tables of the program and fires by the letter of the
// semantics, one step after the other. It closes zones in full (Floyd and Warshall). It is simple
// where exploration is fast.
type checker struct {
	p        *petri.Program
	m        *netmodel.Model
	cert     *Certificate
	atOnce   []bool
	order    []int32 // transitions that fire at once, in the order they are tried
	timed    []int32 // all others
	rank     []int   // by transition: its position in order
	moves    []int32 // projected moves that may interrupt a chain
	waits    []petri.Interval
	gates    [][]gate         // by transition: its modes
	always   []gate           // modes that fire at once and need no token
	byInput  inputIndex       // all other modes that fire at once, by one slot that they need
	limits   [][]*petri.Limit // by slot: the limits that include it
	final    int
	bad      []func([]int32) bool
	pass     []netmodel.PassingCond // on passing markings
	claims   []string
	strict   bool             // a refusal violates a claim,
	may      []string         // except at these places
	listed   map[string]int32 // by marking, as pack writes it: its last listing
	list     []listing
	slots    int // length of a marking
	key      []byte
	spare    [][]int32       // markings, one for each firing in progress
	deep     int             // number of firings in progress
	done     map[string]bool // markings passed in the chain being followed
	observer *observer       // observer of a claim about time; nil: there is none
	acts     *acts           // claims about moves; nil: there are none
	applied  []bool          // by claim: it applies to something that the net has or does
}

// class is a listing under examination.
type class struct {
	marking []int32
	zone    []int64
}

// noBound is the entry of a zone without a bound.
const noBound = int64(math.MaxInt64)

func newChecker(c *Certificate, m *netmodel.Model, claims []claim.Claim) (*checker, error) {
	k := &checker{p: m.Program(), m: m, cert: c, done: map[string]bool{}}
	for i, t := range k.p.Transitions() {
		once := m.Semantics == netmodel.RunToCompletion && t.When == petri.Interval{}
		k.atOnce = append(k.atOnce, once)
		w := t.When
		if c.Relax && !once && !netmodel.NamedBy(c.Keep, t.Name) {
			w = petri.Anytime()
		}
		k.waits = append(k.waits, w)
		if once {
			k.order = append(k.order, int32(i))
		} else {
			k.timed = append(k.timed, int32(i))
		}
	}
	k.limits = make([][]*petri.Limit, k.p.Slots())
	for i, l := range k.p.Limits() {
		for _, c := range l.Sum {
			k.limits[c.Slot] = append(k.limits[c.Slot], &k.p.Limits()[i])
		}
	}
	k.final = k.p.FinalSlot()
	slices.SortStableFunc(k.order, func(a, b int32) int {
		return k.p.Transitions()[b].Priority - k.p.Transitions()[a].Priority
	})
	k.rankMoves()
	k.gate()
	if w := watchOf(claims); w != nil {
		if err := k.watch(*w); err != nil {
			return nil, err
		}
	}
	k.slots = len(k.initial())
	if err := k.read(); err != nil {
		return nil, err
	}
	if !m.Layered() && c.Method != "markings" {
		return nil, refusal("classes do not say what moves in the midst of a chain")
	}
	return k, k.conditions(claims)
}

// conditions binds what the claims call bad.
func (k *checker) conditions(claims []claim.Claim) error {
	waits := k.waiting()
	k.applied = slices.Repeat([]bool{true}, len(claims))
	for _, c := range claims {
		k.claims = append(k.claims, c.Text())
		bad, err := k.condition(c)
		if err != nil {
			return err
		}
		k.bad = append(k.bad, bad)
		pass, err := claim.BadPassing(c, k.m, waits)
		if err != nil {
			return err
		}
		if pass != nil {
			k.pass = append(k.pass, pass)
		}
	}
	return nil
}

// condition reports the markings that violate a claim.
func (k *checker) condition(c claim.Claim) (func([]int32) bool, error) {
	none := func([]int32) bool { return false }
	switch c := c.(type) {
	case claim.Watch:
		return k.observer.bad(k.p), nil
	case claim.Move:
		return none, k.judgeMoves(c)
	case claim.Capacity:
		k.refuses(c.MayRefuse)
		return none, nil
	case claim.Never:
		return k.never(c)
	case claim.Marking:
		return c.Bad(k.m)
	}
	return nil, refusal("it cannot prove a claim like %#v", c)
}

// refuses makes a refusal violate the claims, except at places that every claim allows.
func (k *checker) refuses(may []string) {
	if !k.strict {
		k.strict, k.may = true, may
		return
	}
	k.may = slices.DeleteFunc(slices.Clone(k.may), func(name string) bool { return !netmodel.NamedBy(may, name) })
}

// rows lists the transitions that have a row in the zones of a marking.
func (k *checker) rows(marking []int32) []int32 {
	var out []int32
	for _, t := range k.timed {
		if k.waits[t] != petri.Anytime() && k.on(t, marking) {
			out = append(out, t)
		}
	}
	return out
}

// ended reports whether the final place is marked.
func (k *checker) ended(marking []int32) bool { return k.final >= 0 && marking[k.final] > 0 }

// on reports whether a transition is enabled.
func (k *checker) on(t int32, marking []int32) bool {
	if k.ended(marking) {
		return false
	}
	if k.observer != nil && t == k.observer.timer {
		return marking[k.observer.waits] > 0
	}
	for i := range k.gates[t] {
		if k.gates[t][i].open(marking) {
			return true
		}
	}
	return false
}

func (k *checker) run(ctx context.Context) error {
	start := outcome{marking: k.initial()}
	if k.cert.Method == "classes" {
		start.run = make([]bool, len(k.waits))
	}
	k.acts.begin(start.marking)
	if err := k.rest(start, 0, nil); err != nil {
		return err
	}
	marking := make([]int32, k.slots)
	for i := range k.list {
		if i%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("verify: check certificate of %s: %w", k.p.Name(), err)
			}
		}
		unpack(k.list[i].key, marking)
		if err := k.class(&class{marking, k.list[i].zone}); err != nil {
			return err
		}
	}
	return nil
}

// class checks one listed class: the claims, and where each firing leads.
func (k *checker) class(l *class) error {
	if len(k.moves) > 0 {
		if r := k.first(l.marking); r >= 0 {
			return k.amidst(l, r)
		}
	}
	for i, bad := range k.bad {
		if bad(l.marking) {
			return refusal("%s breaks the claim %s", k.m.Format(l.marking), k.claims[i])
		}
	}
	for _, t := range k.timed {
		if !k.on(t, l.marking) {
			continue
		}
		before := outcome{marking: l.marking}
		var z *zoneCheck
		if l.zone != nil {
			if z = k.firstToFire(l, t); z == nil {
				continue
			}
			before.run = make([]bool, len(k.waits))
		}
		for u := range before.run {
			before.run[u] = !k.atOnce[u] && k.on(int32(u), l.marking)
		}
		k.acts.begin(l.marking)
		if err := k.fire(before, t, 0, z); err != nil {
			return err
		}
	}
	return nil
}

// outcome is a marking with the clocks that have run on since the class.
type outcome struct {
	marking []int32
	run     []bool
	stopped bool // an observer stopped that had run on since the class
}

// fire fires a transition in every possible way (consume, reset, bump, produce) and continues from
// there. depth is the number of firings at this instant, including this one. For z see contained.
func (k *checker) fire(o outcome, t int32, depth int, z *zoneCheck) error {
	if k.observer != nil && t == k.observer.timer {
		return k.rest(k.observer.expire(o), depth, z)
	}
	info := &k.p.Transitions()[t]
	for i := range info.Modes {
		md := &info.Modes[i]
		if !md.Enabled(o.marking) {
			continue
		}
		for b := range md.Branches {
			if md.Choice() >= 0 && md.Choice() != b {
				continue
			}
			n, err := k.after(o, t, md, &md.Branches[b])
			if err == nil && k.observer.early(&n, z) {
				// Check here, not where the chain ends: another way to the same marking may have no
				// stop.
				err = refusal("a stop may come too soon: %s", k.m.Format(n.marking))
			}
			if err == nil {
				k.deep++
				k.acts.fire(netmodel.Step{Transition: t, Mode: int32(i), Branch: int32(b)})
				err = k.rest(n, depth, z)
				k.acts.back()
				k.deep--
			}
			if err != nil && !errors.Is(err, errElsewhere) {
				return err
			}
		}
	}
	return nil
}

// copyOf copies a marking for the duration of the firing that follows.
func (k *checker) copyOf(marking []int32) []int32 {
	if k.deep == len(k.spare) {
		k.spare = append(k.spare, make([]int32, len(marking)))
	}
	copy(k.spare[k.deep], marking)
	return k.spare[k.deep]
}

func (k *checker) after(o outcome, t int32, md *petri.Mode, b *petri.Branch) (outcome, error) {
	n := outcome{marking: k.copyOf(o.marking), run: slices.Clone(o.run), stopped: o.stopped}
	if err := k.observer.stops(&n, t, md, b); err != nil {
		return n, err
	}
	for _, c := range md.Take {
		n.marking[c.Slot] -= c.N
	}
	for _, s := range md.Drain {
		n.marking[s] = 0
	}
	for _, s := range md.Reset {
		n.marking[s] = 0
	}
	if k.p.Transitions()[t].Bump {
		k.bump(n.marking)
	}
	if n.run != nil {
		n.run[t] = false
	}
	for u := range n.run {
		n.run[u] = n.run[u] && k.fed(int32(u), n.marking)
	}
	for _, c := range b.Put {
		if err := k.put(n.marking, c, t); err != nil {
			return n, err
		}
	}
	k.observer.starts(&n, t, md, b)
	for u := range n.run {
		n.run[u] = n.run[u] && k.on(int32(u), n.marking)
	}
	for _, c := range b.Put {
		for _, l := range k.limits[c.Slot] {
			if !l.Holds(n.marking) {
				return n, errElsewhere
			}
		}
	}
	return n, nil
}

// bump makes all fresh tokens stale.
func (k *checker) bump(marking []int32) {
	places := k.p.Places()
	for i := range places {
		p := &places[i]
		for s := p.Slot; p.Gen && s < p.Slot+p.Slots; s += 2 {
			marking[s+1] += marking[s]
			marking[s] = 0
		}
	}
}

// fed reports whether a transition has what it needs, ignoring inhibitors.
func (k *checker) fed(t int32, marking []int32) bool {
	if k.observer != nil && t == k.observer.timer {
		return marking[k.observer.waits] > 0
	}
	return slices.ContainsFunc(k.p.Transitions()[t].Modes, func(md petri.Mode) bool {
		return !slices.ContainsFunc(md.Conds, func(c petri.Cond) bool {
			c.Max = 0
			return !c.Holds(marking)
		})
	})
}

// put produces tokens. A full environment place refuses tokens from outside; any other token beyond
// a capacity is a fault.
func (k *checker) put(marking []int32, c petri.Count, t int32) error {
	p := &k.p.Places()[k.p.SlotPlace(int(c.Slot))]
	marking[c.Slot] += c.N
	total := int32(0)
	for s := p.Slot; s < p.Slot+p.Slots; s++ {
		total += marking[s]
	}
	over := total - int32(p.Max)
	if over <= 0 {
		return nil
	}
	info := &k.p.Transitions()[t]
	if !p.Env || !info.Outside {
		if info.Projected || k.p.Whole() != nil && !k.strict {
			return errElsewhere // or the whole net faults and goes no further
		}
		return refusal("%s exceeds the capacity of %s", info.Name, p.Name)
	}
	if k.strict && !netmodel.NamedBy(k.may, p.Name) {
		return refusal("%s refuses a token of %s", p.Name, info.Name)
	}
	marking[c.Slot] -= min(over, c.N)
	return nil
}

// contained checks that a reached class lies within a listed class. z is the class before, with the
// condition that the firing was first; nil at the start and without zones.
func (k *checker) contained(o outcome, z *zoneCheck) error {
	at, ok := k.listed[string(k.pack(o.marking, nil))]
	if !ok {
		return refusal("%s is reached, and not listed", k.m.Format(o.marking))
	}
	if claim, broken := k.acts.broken(o.marking); broken {
		return refusal("a move to %s breaks the claim %s", k.m.Format(o.marking), claim)
	}
	if k.cert.Method == "markings" {
		return nil
	}
	next := k.successor(o, z)
	for ; at >= 0; at = k.list[at].more {
		if within(next, k.list[at].zone) {
			return nil
		}
	}
	return refusal("a class of %s is reached, and not listed", k.m.Format(o.marking))
}

// within reports whether zone a is part of zone b.
func within(a, b []int64) bool {
	if len(a) != len(b) {
		return false
	}
	for i, v := range a {
		if v > b[i] {
			return false
		}
	}
	return true
}
