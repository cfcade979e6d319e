package petri

import "time"

// Program is a compiled net: immutable, and shared by every Machine that runs
// it and every proof about it. Both read the same tables: what is proved is
// what runs.
//
// A marking is a vector of counts, one per slot. A place has one slot for each
// kind of token it tells apart: each key, twice if its colour has a
// generation (fresh, stale). A transition has one mode for each combination of
// token kinds that its arcs and its guard allow, and a mode one branch for
// each alternative of its output.
type Program struct {
	name        string
	places      []PlaceInfo
	byName      map[string]int32
	transitions []TransitionInfo
	slotPlace   []int32
	initial     []int32
	init        []Token
	final       int32 // slot of the final place, or -1
	ranks       []int32
	timed       int
	genPlaces   []int32
	gates       []gate
	conds       []Bound   // of gates
	watchers    [][]int32 // by slot: transitions whose enabling depends on it
	tasks       []TaskInfo
	notes       []string
	runnable    error
	closed      bool
	whole       *Program // of a slice
	limits      []Limit
}

// PlaceInfo describes a place of a Program.
type PlaceInfo struct {
	Name  string   // qualified: subnet/place
	Group string   // the subnet it is private to; "" at the top
	Type  string   // Go type of its colour
	Keys  []string // nil if its tokens have no key
	Gen   bool     // its tokens are fresh or stale
	Slot  int      // its first slot
	Slots int      // how many slots it has
	Max   int      // capacity; MaxTokens if none was declared

	Env     bool // tokens enter here
	Policy  Policy
	Payload bool // an environment place whose tokens decide nothing
	Out     bool // tokens leave here; it is never marked
	Durable bool
	Sink    bool
	Final   bool

	col  *colour
	task int32 // 1 + the task it belongs to; 0 if to none
}

// SlotName is the place's name with key and age of slot i of the place:
// "edge[start]", "chunk[fresh]", "idle".
func (p *PlaceInfo) SlotName(i int) string {
	if s := p.col.slotName(i); s != "" {
		return p.Name + "[" + s + "]"
	}
	return p.Name
}

// TransitionInfo describes a transition of a Program.
type TransitionInfo struct {
	Name     string // qualified: subnet/transition
	Group    string // the subnet it belongs to
	When     Interval
	Priority int
	Free     bool // its branch is chosen by a payload
	Bump     bool
	Frame    bool // moves payload tokens only: fires without changing what decides
	Outside  bool // of an automaton that Close put around the open net
	// Projected marks a move of a slice that stands for a transition which the
	// slice does not have exactly; see Program.Slice.
	Projected bool
	// Yields is how far a projected move waits: it fires only where none of the
	// first Yields transitions of Order is enabled.
	Yields int
	Arcs   []ArcInfo
	Modes  []Mode

	arcs []flatArc
	outs []outPlace

	branches int
	peeks    []int32 // read arcs whose place the firing resets or bumps
	action   func(*Firing)
	rank     int32 // among at-once transitions; -1 when timed
	clock    int32 // among timed transitions; -1 when at once
}

// ArcKind tells the arcs of a transition apart.
type ArcKind uint8

// The kinds of arc.
const (
	InArc ArcKind = iota
	ReadArc
	InhibitArc
	ResetArc
	OutArc
)

// ArcInfo describes an arc, for diagrams and exports.
type ArcInfo struct {
	Kind   ArcKind
	Place  int
	Count  int
	All    bool   // takes all tokens, at least Count
	Label  string // keys and age it is narrowed to; ""
	Branch int    // of an OutArc
}

// Mode is one way a transition can fire.
type Mode struct {
	Label    string // the kinds of token it takes, "" if there is only one mode
	Conds    []Cond
	Take     []Count // consumed
	Drain    []int32 // slots consumed entirely
	Reset    []int32 // slots emptied
	Branches []Branch

	arcSlot []int32  // by arc: the slot taken or read; -1 when it is no single one
	picks   [][]take // by arc: what it takes or reads
	needs   Needs
	down    []int32 // timed transitions that need what is taken or emptied
	branch  int32   // chosen by keys; -1 when free
	takes   []take
	empties []empty
	quick   bool    // it only moves tokens: see move
	cancels []int32 // in-flight places whose task this mode cancels
}

// Cond is a condition on a marking: Min <= sum of the slots, and sum < Max
// unless Max is 0.
type Cond struct {
	Slots    []int32
	Min, Max int32
}

// Count is a number of tokens in a slot.
type Count struct {
	Slot int32
	N    int32
}

// Branch is one alternative of what a firing produces.
type Branch struct {
	Put  []Count // tokens put into the marking
	Emit []Emit  // tokens that leave

	outs     []out
	moves    []move
	affected []int32 // transitions to look at again
}

// Emit is a number of tokens that leave through an output place.
type Emit struct {
	Place int
	N     int
}

// TaskInfo names the places of a task.
type TaskInfo struct{ Start, InFlight, Done int }

// gate is what a machine looks at to see whether a transition is enabled: the
// conditions of its mode in Program.conds or, if it is not simple, its modes.
type gate struct {
	from, to    int32
	rank, clock int32
	simple      bool
}

type take struct{ slot, place, ring, n int32 }

type empty struct {
	slot, place, ring int32
	input             bool
}

// flatArc is an arc as the machine needs it: local is the name the net's own
// code uses, which need not be the place's qualified name.
type flatArc struct {
	local string
	place int32
	kind  ArcKind
	slots []int32 // the kinds of token it accepts
	n     int32
	all   bool
}

type outPlace struct {
	local string
	place int32
}

type out struct {
	place, slot, ring, n int32
	from                 int32 // arc whose token is passed on; -1
	value                any   // of an enum colour, when nothing is passed on
	emit                 bool
	limited              bool // the place has a capacity
	checked              bool // the place tells tokens apart
}

// Name returns the name of the net.
func (p *Program) Name() string { return p.name }

// Places returns the places in declaration order. The caller must not change
// the slice.
func (p *Program) Places() []PlaceInfo { return p.places }

// Transitions returns the transitions in declaration order. The caller must
// not change the slice.
func (p *Program) Transitions() []TransitionInfo { return p.transitions }

// Tasks returns the tasks of the net.
func (p *Program) Tasks() []TaskInfo { return p.tasks }

// Place returns the index of the place with a qualified name, or -1.
func (p *Program) Place(name string) int {
	if i, ok := p.byName[name]; ok {
		return int(i)
	}
	return -1
}

// Slots is the length of a marking.
func (p *Program) Slots() int { return len(p.slotPlace) }

// SlotPlace returns the place a slot belongs to.
func (p *Program) SlotPlace(slot int) int { return int(p.slotPlace[slot]) }

// SlotName names a slot: "edge[start]".
func (p *Program) SlotName(slot int) string {
	pl := &p.places[p.slotPlace[slot]]
	return pl.SlotName(slot - pl.Slot)
}

// Initial returns a copy of the initial marking.
func (p *Program) Initial() []int32 { return append([]int32(nil), p.initial...) }

// FinalSlot returns the slot of the final place, or -1.
func (p *Program) FinalSlot() int { return int(p.final) }

// Order returns the at-once transitions in the order in which they are tried:
// larger priority first, then declaration order.
func (p *Program) Order() []int32 { return append([]int32(nil), p.ranks...) }

// Notes lists what is odd but allowed, such as parts of an imported net that
// can never work.
func (p *Program) Notes() []string { return p.notes }

// Closed reports whether the net was composed by Close: automata of its
// environment are part of it.
func (p *Program) Closed() bool { return p.closed }

// Runnable returns nil, or why no Machine can run the net: it waits for proper
// intervals, which belong to environment automata.
func (p *Program) Runnable() error { return p.runnable }

// Enabled reports whether the mode may fire in a marking. A marked final place
// disables everything; that is for the caller to see.
func (m *Mode) Enabled(marking []int32) bool { return m.needs.Hold(marking) }

// Needs is what Enabled asks. The caller must not change it.
func (m *Mode) Needs() *Needs { return &m.needs }

// Choice returns the branch that keys choose, or -1 when any branch may be
// taken.
func (m *Mode) Choice() int { return int(m.branch) }

// Holds reports whether the condition holds in a marking.
func (c *Cond) Holds(marking []int32) bool {
	var sum int32
	for _, s := range c.Slots {
		sum += marking[s]
	}
	return sum >= c.Min && (c.Max == 0 || sum < c.Max)
}

// Enabled reports whether some mode of the transition may fire.
func (t *TransitionInfo) Enabled(marking []int32) bool {
	for i := range t.Modes {
		if t.Modes[i].needs.Hold(marking) {
			return true
		}
	}
	return false
}

// Wait is how long a point interval waits.
func (t *TransitionInfo) wait() time.Duration { return t.When.Earliest }
