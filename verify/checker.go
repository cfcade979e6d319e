package verify

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// checker goes through a certificate. It reads the tables of the program and
// fires by the letter of the semantics, one step after the other; zones are
// closed in full (Floyd and Warshall). Simple where exploration is fast.
type checker struct {
	p      *petri.Program
	m      *Model
	cert   *Certificate
	atOnce []bool
	order  []int32
	rank   []int   // by transition: where it stands in order
	moves  []int32 // projected, that may interrupt a chain
	waits  []petri.Interval
	needs  [][]*petri.Needs // by transition: of its modes
	token  []int32          // by transition: a slot without a token of which it is not enabled; -1
	final  int
	bad    []func([]int32) bool
	pass   []PassingCond // of passing markings
	claims []string
	strict bool     // refusals break a claim,
	may    []string // but not of these places
	listed map[string][][]int64
	list   []listing
	key    []byte
	spare  [][]int32       // markings, one for each firing under way
	deep   int             // how many are
	done   map[string]bool // markings passed in the chain being followed
	eye    *eye            // of a claim about time; nil: there is none
}

// listing is a class of the list: its marking, and the zone of the enabled
// clocks whose interval is not [0,inf).
type listing struct {
	marking []int32
	zone    []int64
}

// noBound is the entry of a zone without a bound.
const noBound = int64(math.MaxInt64)

func newChecker(c *Certificate, m *Model, props []*Property) (*checker, error) {
	k := &checker{p: m.prog, m: m, cert: c, listed: map[string][][]int64{}, done: map[string]bool{}}
	for i, t := range k.p.Transitions() {
		once := m.semantics == RunToCompletion && t.When == petri.Interval{}
		k.atOnce = append(k.atOnce, once)
		w := t.When
		if c.Relax && !once && !kept(c.Keep, t.Name) {
			w = petri.Anytime()
		}
		k.waits = append(k.waits, w)
		if once {
			k.order = append(k.order, int32(i))
		}
		k.index(t.Modes)
	}
	k.final = k.p.FinalSlot()
	slices.SortStableFunc(k.order, func(a, b int32) int {
		return k.p.Transitions()[b].Priority - k.p.Transitions()[a].Priority
	})
	k.rankMoves()
	if len(props) == 1 && props[0].Watch != nil {
		if err := k.watch(props[0].Watch); err != nil {
			return nil, err
		}
	}
	if err := k.read(); err != nil {
		return nil, err
	}
	if !m.Layered() && c.Method != "markings" {
		return nil, refusal("classes do not say what moves in the midst of a chain")
	}
	return k, k.conditions(props)
}

// conditions binds what the properties call bad.
func (k *checker) conditions(props []*Property) error {
	waits := k.waiting()
	for _, p := range props {
		k.claims = append(k.claims, p.Claim)
		if k.eye != nil {
			k.bad = append(k.bad, k.eye.bad(k.p))
			continue
		}
		if p.Bad == nil {
			k.strict, k.may = true, p.MayRefuse
			k.bad = append(k.bad, func([]int32) bool { return false })
			continue
		}
		bad, err := p.Bad(k.m)
		if err != nil {
			return err
		}
		k.bad = append(k.bad, bad)
		if p.BadPassing == nil {
			continue
		}
		pass, err := p.BadPassing(k.m, waits)
		if err != nil {
			return err
		}
		if pass != nil {
			k.pass = append(k.pass, pass)
		}
	}
	return nil
}

// waiting are the kinds of frame that wait in some listed marking.
func (k *checker) waiting() func(slot int32) bool {
	rests := map[int32]bool{}
	for i := range k.list {
		k.m.Rests(k.list[i].marking, func(slot int32) { rests[slot] = true })
	}
	return func(slot int32) bool { return rests[slot] }
}

func kept(keep []string, name string) bool {
	return slices.ContainsFunc(keep, func(s string) bool { return s == name || strings.HasSuffix(name, "/"+s) })
}

// read reads the list.
func (k *checker) read() error {
	markings, err := inflate(k.cert.Markings)
	if err != nil {
		return err
	}
	zones, err := inflate(k.cert.Zones)
	if k.cert.Method == "markings" {
		zones, err = nil, nil
	}
	switch {
	case err != nil:
		return err
	case k.cert.Method != "markings" && k.cert.Method != "classes":
		return refusal("its method %q is unknown", k.cert.Method)
	case k.cert.Count < 1 || k.cert.Count > classesMax:
		return refusal("it lists %d classes", k.cert.Count)
	}
	for range k.cert.Count {
		l := listing{marking: make([]int32, len(k.initial()))}
		for s := range l.marking {
			v, n := binary.Uvarint(markings)
			if n <= 0 || v > math.MaxInt32 {
				return refusal("the list of markings is damaged")
			}
			markings, l.marking[s] = markings[n:], int32(v)
		}
		if k.cert.Method == "classes" {
			d := len(k.rows(l.marking)) + 1
			for range d * d {
				v, n := binary.Varint(zones)
				if n <= 0 {
					return refusal("the list of zones is damaged")
				}
				zones, l.zone = zones[n:], append(l.zone, v)
			}
		}
		key := string(k.pack(l.marking, nil))
		k.listed[key] = append(k.listed[key], l.zone)
		k.list = append(k.list, l)
	}
	if len(markings)+len(zones) > 0 {
		return refusal("its lists are longer than its count")
	}
	return nil
}

// rows lists the transitions with a row in zones of a marking.
func (k *checker) rows(marking []int32) []int32 {
	var out []int32
	for t := range k.waits {
		if !k.atOnce[t] && k.waits[t] != petri.Anytime() && k.on(int32(t), marking) {
			out = append(out, int32(t))
		}
	}
	return out
}

// index notes what the modes of the next transition need.
func (k *checker) index(modes []petri.Mode) {
	var all []*petri.Needs
	var token []int32 // slots of which each mode needs a token
	for i := range modes {
		n := modes[i].Needs()
		all = append(all, n)
		var mine []int32
		for _, b := range n.Bounds {
			if b.Min > 0 && (i == 0 || slices.Contains(token, b.Slot)) {
				mine = append(mine, b.Slot)
			}
		}
		token = mine
	}
	k.needs, k.token = append(k.needs, all), append(k.token, append(token, -1)[0])
}

// on reports whether a transition is enabled.
func (k *checker) on(t int32, marking []int32) bool {
	if k.final >= 0 && marking[k.final] > 0 {
		return false
	}
	if k.eye != nil && t == k.eye.timer {
		return marking[k.eye.waits] > 0
	}
	if s := k.token[t]; s >= 0 && marking[s] == 0 {
		return false
	}
	for _, n := range k.needs[t] {
		if n.Hold(marking) {
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
	if err := k.rest(start, 0, func(o outcome) error { return k.contained(o, nil) }); err != nil {
		return err
	}
	for i := range k.list {
		if i%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("verify: check certificate of %s: %w", k.p.Name(), err)
			}
		}
		if err := k.class(&k.list[i]); err != nil {
			return err
		}
	}
	return nil
}

// class checks one listed class: the claims, and where each firing leads.
func (k *checker) class(l *listing) error {
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
	for t := range k.waits {
		if k.atOnce[t] || !k.on(int32(t), l.marking) {
			continue
		}
		var z *zoneCheck
		if l.zone != nil {
			if z = k.firstToFire(l, int32(t)); z == nil {
				continue
			}
		}
		before := outcome{marking: l.marking}
		if z != nil {
			before.run = make([]bool, len(k.waits))
		}
		for u := range before.run {
			before.run[u] = !k.atOnce[u] && k.on(int32(u), l.marking)
		}
		err := k.fire(before, int32(t), func(o outcome) error {
			return k.rest(o, 0, func(o outcome) error { return k.contained(o, z) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// pack turns a marking, and clocks, into bytes that k owns until the next call.
func (k *checker) pack(marking []int32, run []bool) []byte {
	key := k.key[:0]
	for _, n := range marking {
		key = binary.LittleEndian.AppendUint32(key, uint32(n))
	}
	for _, on := range run {
		if on {
			key = append(key, 1)
		} else {
			key = append(key, 0)
		}
	}
	k.key = key
	return key
}

// outcome is a marking with the clocks that have run on since the class.
type outcome struct {
	marking []int32
	run     []bool
	stopped bool // an observer that ran on since the class
}

// fire fires a transition every way it can: consume, reset, bump, produce.
func (k *checker) fire(o outcome, t int32, then func(outcome) error) error {
	if k.eye != nil && t == k.eye.timer {
		return then(k.eye.expire(o))
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
			if err == nil {
				k.deep++
				err = then(n)
				k.deep--
			}
			if err != nil && !errors.Is(err, errElsewhere) {
				return err
			}
		}
	}
	return nil
}

// copyOf copies a marking for as long as the firing that follows is under way.
func (k *checker) copyOf(marking []int32) []int32 {
	if k.deep == len(k.spare) {
		k.spare = append(k.spare, make([]int32, len(marking)))
	}
	copy(k.spare[k.deep], marking)
	return k.spare[k.deep]
}

func (k *checker) after(o outcome, t int32, md *petri.Mode, b *petri.Branch) (outcome, error) {
	n := outcome{marking: k.copyOf(o.marking), run: slices.Clone(o.run), stopped: o.stopped}
	if err := k.eye.stops(&n, t, md, b); err != nil {
		return n, err
	}
	for _, c := range md.Take {
		n.marking[c.Slot] -= c.N
	}
	for _, s := range append(slices.Clone(md.Drain), md.Reset...) {
		n.marking[s] = 0
	}
	if k.p.Transitions()[t].Bump {
		for _, p := range k.p.Places() {
			for s := p.Slot; p.Gen && s < p.Slot+p.Slots; s += 2 {
				n.marking[s+1] += n.marking[s]
				n.marking[s] = 0
			}
		}
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
	k.eye.starts(&n, t, md, b)
	for u := range n.run {
		n.run[u] = n.run[u] && k.on(int32(u), n.marking)
	}
	for _, l := range k.p.Limits() {
		if len(b.Put) > 0 && !l.Holds(n.marking) {
			return n, errElsewhere
		}
	}
	return n, nil
}

// fed reports whether a transition has what it needs, inhibitors aside.
func (k *checker) fed(t int32, marking []int32) bool {
	if k.eye != nil && t == k.eye.timer {
		return marking[k.eye.waits] > 0
	}
	return slices.ContainsFunc(k.p.Transitions()[t].Modes, func(md petri.Mode) bool {
		return !slices.ContainsFunc(md.Conds, func(c petri.Cond) bool {
			c.Max = 0
			return !c.Holds(marking)
		})
	})
}

// put produces tokens. A full environment place refuses what comes from
// outside; anything else beyond a capacity is a fault.
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
			return errElsewhere // or the whole faults: it goes no further
		}
		return refusal("%s exceeds the capacity of %s", info.Name, p.Name)
	}
	if k.strict && !kept(k.may, p.Name) {
		return refusal("%s refuses a token of %s", p.Name, info.Name)
	}
	marking[c.Slot] -= min(over, c.N)
	return nil
}

// contained checks that a class that was reached is within a listed one. z is
// the class before, with the condition that the firing was first; nil at the
// start and without zones.
func (k *checker) contained(o outcome, z *zoneCheck) error {
	if len(k.m.given) > 0 && k.first(o.marking) < 0 && !k.m.keepsGiven(o.marking) {
		return nil // the whole net is never there
	}
	zones, ok := k.listed[string(k.pack(o.marking, nil))]
	if !ok {
		return refusal("%s is reached, and not listed", k.m.Format(o.marking))
	}
	if k.cert.Method == "markings" {
		return nil
	}
	if z != nil && k.eye.early(&o, z) {
		return refusal("a stop may come too soon: %s", k.m.Format(o.marking))
	}
	next := k.successor(o, z)
	for _, listed := range zones {
		if within(next, listed) {
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
