package petri

import "time"

// Program is a compiled net. It is immutable and safe for concurrent use: every Machine that runs
// it and every proof about it reads the same tables.
//
// A marking is a vector of token counts, one for each slot. A place has one slot for each kind of
// token that it distinguishes: one for each key, and twice as many if its colour has a generation
// (fresh, stale). A transition has one mode for each combination of token kinds that its arcs and
// its guard allow. A mode has one branch for each alternative of its output.
type Program struct {
	name        string
	places      []PlaceInfo
	byName      map[string]int32
	transitions []TransitionInfo
	slotPlace   []int32
	initial     []int32
	begins      []int32 // transitions that the initial marking enables or wakes
	init        []Token
	final       int32 // slot of the final place, or -1
	ranks       []int32
	timed       int
	genPlaces   []int32
	gates       []gate
	conds       []Bound   // of gates
	sums        []Cond    // of gates
	watchers    [][]int32 // by slot: transitions whose enabling depends on it
	crowds      []crowd
	crowdAt     []int32 // by slot: 1 + index of its crowd; 0: none
	tasks       []TaskInfo
	runnable    error
	closed      bool
	whole       *Program // the program of which this one is a slice
	limits      []Limit
}

// PlaceInfo describes a place of a Program.
type PlaceInfo struct {
	Name  string   // qualified: subnet/place
	Group string   // subnet to which it is private; "" at the top
	Type  string   // Go type of its colour
	Keys  []string // nil if its tokens have no key
	Gen   bool     // its tokens are fresh or stale
	Slot  int      // its first slot
	Slots int      // number of its slots
	Max   int      // capacity; MaxTokens if none is declared

	Env     bool   // tokens enter here
	Policy  Policy // of an environment place
	Payload bool   // an environment place whose tokens decide nothing
	Out     bool   // tokens leave here; it is never marked
	Durable bool   // its tokens wait until their events are stored
	Sink    bool   // its tokens may rest for ever
	Final   bool   // marking it ends the run

	col  *colour
	task int32 // 1 + index of its task; 0: none
}

// SlotName returns the name of slot i of the place, with its key and age: "edge[start]",
// "chunk[fresh]", "idle".
func (p *PlaceInfo) SlotName(i int) string {
	if s := p.col.slotName(i); s != "" {
		return p.Name + "[" + s + "]"
	}
	return p.Name
}

// TransitionInfo describes a transition of a Program.
type TransitionInfo struct {
	Name     string // qualified: subnet/transition
	Group    string // subnet to which it belongs; "" at the top
	When     Interval
	Priority int
	Free     bool // a payload chooses its branch
	Bump     bool // it begins the next generation
	Frame    bool // it moves payload tokens only, and changes nothing that decides
	Outside  bool // it belongs to an automaton that Close added
	// Projected marks a move of a slice that represents a transition of the whole program which the
	// slice does not have exactly. See Program.Slice.
	Projected bool
	// Yields restricts a projected move: it fires only if none of the first Yields transitions of
	// Program.Order is enabled.
	Yields int
	Arcs   []ArcInfo
	Modes  []Mode

	arcs []flatArc
	outs []outPlace

	branches int
	peeks    []int32 // read arcs whose place the firing resets or bumps
	action   func(*Firing)
	rank     int32 // among at-once transitions; -1 if timed
	clock    int32 // among timed transitions; -1 if at once
}

// ArcKind is the kind of an arc.
type ArcKind uint8

// The kinds of arc.
const (
	InArc ArcKind = iota
	ReadArc
	InhibitArc
	ResetArc
	OutArc
)

// ArcInfo describes an arc, for drawings and exports.
type ArcInfo struct {
	Kind   ArcKind
	Place  int    // index of Program.Places
	Count  int    // number of tokens
	All    bool   // takes all tokens, at least Count
	Label  string // keys and age to which it is narrowed; "" if it is not
	Branch int    // of an OutArc
}

// Mode is one way in which a transition can fire.
type Mode struct {
	Label    string // the token kinds that it takes; "" if the arcs leave no choice
	Conds    []Cond
	Take     []Count // consumed
	Drain    []int32 // slots from which it consumes every token
	Reset    []int32 // slots that it empties
	Branches []Branch

	arcSlot []int32  // by arc: the slot taken or read; -1 if there is not exactly one
	picks   [][]take // by arc: what it takes or reads
	needs   Needs
	down    []int32 // timed transitions that need what is taken or emptied
	branch  int32   // chosen by keys; -1 if free
	takes   []take
	empties []empty
	quick   bool    // it only moves tokens: see move
	plain   bool    // after it fires, it is enough to review the affected transitions
	cancels []int32 // in-flight places whose task this mode cancels
}

// Cond is a condition on a marking: the sum of the slots is at least Min, and less than Max unless
// Max is 0.
type Cond struct {
	Slots    []int32
	Min, Max int32
}

// Count is a number of tokens of a slot.
type Count struct {
	Slot int32
	N    int32
}

// Branch is one alternative of what a firing produces.
type Branch struct {
	Put  []Count // tokens put into the marking
	Emit []Emit  // tokens that leave the net

	outs     []out
	moves    []move
	affected []int32 // transitions to review after the firing
	crowds   []int32 // crowds to review after the firing
}

// Emit is a number of tokens that leave through an output place.
type Emit struct {
	Place int
	N     int
}

// TaskInfo holds the indexes of the places of a task.
type TaskInfo struct{ Start, InFlight, Done int }

// gate says whether a transition is enabled: by the conditions Program.conds[from:to] and
// Program.sums[sumFrom:sumTo], or by its modes if it has several. The conditions come in the
// order in which a machine checks them.
type gate struct {
	from, to       int32
	sumFrom, sumTo int32
	rank, clock    int32
	kind           gateKind
}

type gateKind uint8

const (
	simple  gateKind = iota
	sleepy           // simple, and Machine.awake says whether its first condition is met
	several          // it has several modes
)

type take struct{ slot, place, ring, n int32 }

type empty struct {
	slot, place, ring int32
	input             bool
}

// flatArc is an arc with resolved places. local is the place's name in the net that declares the
// arc, which may differ from its qualified name.
type flatArc struct {
	local string
	place int32
	kind  ArcKind
	slots []int32 // the token kinds that it accepts
	n     int32
	all   bool
}

type outPlace struct {
	local string
	place int32
}

type out struct {
	place, slot, ring, n int32
	from                 int32 // arc whose token is passed on, or -1
	value                any   // of an enum colour, if nothing is passed on
	emit                 bool
	limited              bool // the place has a capacity
	checked              bool // the place distinguishes token kinds
}

// Name returns the name of the net.
func (p *Program) Name() string { return p.name }

// Places returns the places in declaration order. The caller must not change the slice.
func (p *Program) Places() []PlaceInfo { return p.places }

// Transitions returns the transitions in declaration order. The caller must not change the slice.
func (p *Program) Transitions() []TransitionInfo { return p.transitions }

// Tasks returns the tasks of the net. The caller must not change the slice.
func (p *Program) Tasks() []TaskInfo { return p.tasks }

// Place returns the index of the place with a qualified name, or -1.
func (p *Program) Place(name string) int {
	if i, ok := p.byName[name]; ok {
		return int(i)
	}
	return -1
}

// Slots returns the length of a marking.
func (p *Program) Slots() int { return len(p.slotPlace) }

// SlotPlace returns the index of the place to which a slot belongs.
func (p *Program) SlotPlace(slot int) int { return int(p.slotPlace[slot]) }

// SlotName returns the name of a slot: "edge[start]".
func (p *Program) SlotName(slot int) string {
	pl := &p.places[p.slotPlace[slot]]
	return pl.SlotName(slot - pl.Slot)
}

// Initial returns a copy of the initial marking.
func (p *Program) Initial() []int32 { return append([]int32(nil), p.initial...) }

// FinalSlot returns the slot of the final place, or -1.
func (p *Program) FinalSlot() int { return int(p.final) }

// Order returns the at-once transitions in the order in which a machine tries them: by priority,
// largest first, then by declaration.
func (p *Program) Order() []int32 { return append([]int32(nil), p.ranks...) }

// Closed reports whether Close composed the net, so that automata of its environment are part of
// it.
func (p *Program) Closed() bool { return p.closed }

// Runnable returns nil if a Machine can run the net, and otherwise the reason: a transition waits
// for a proper interval, or the program is a slice.
func (p *Program) Runnable() error { return p.runnable }

// Enabled reports whether the mode may fire in a marking. It does not check whether the final place
// is marked, which disables every mode.
func (m *Mode) Enabled(marking []int32) bool { return m.needs.Hold(marking) }

// Needs returns the condition that Enabled checks. The caller must not change it.
func (m *Mode) Needs() *Needs { return &m.needs }

// Choice returns the branch that the keys choose, or -1 if any branch may be taken.
func (m *Mode) Choice() int { return int(m.branch) }

// Holds reports whether the condition holds in a marking.
func (c *Cond) Holds(marking []int32) bool {
	var sum int32
	for _, s := range c.Slots {
		sum += marking[s]
	}
	return sum >= c.Min && (c.Max == 0 || sum < c.Max)
}

// Enabled reports whether some mode of the transition may fire in a marking.
func (t *TransitionInfo) Enabled(marking []int32) bool {
	for i := range t.Modes {
		if t.Modes[i].needs.Hold(marking) {
			return true
		}
	}
	return false
}

// wait returns the wait of a transition whose interval is a single instant.
func (t *TransitionInfo) wait() time.Duration { return t.When.Earliest }
