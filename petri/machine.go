package petri

import (
	"fmt"
	"time"
)

// MaxChain is the most firings that may follow one another at one instant
// without an injection between them. More is a fault: the net has a loop.
const MaxChain = 1000

// Machine runs one Program. It has no clock and no goroutine: time enters by
// parameter, and the same stamped injections give the same events. It is not
// safe for concurrent use; package runner puts it in a goroutine.
type Machine struct {
	prog   *Program
	now    time.Duration
	seq    uint64
	gen    Gen
	count  []int32
	on     []bool // by transition: enabled
	stores []store
	ready  readySet
	timers timers
	f      Firing

	events  []Event
	out     []Token
	working []bool // by task: started, and no result yet
	silent  bool   // record no events
	handed  bool   // events and out were given to the caller
	busy    bool   // inside a call; stays true after a panic
	ended   bool
}

// Ready is what a caller must do next: append Events, act on Out in order, and
// call Advance again at Wake, or with the next injection. Its slices are valid
// until the next call.
type Ready struct {
	Events []Event
	Out    []Token
	Wake   time.Duration // Forever: nothing is due
	Ended  bool
}

// Start makes a machine in the initial marking, at net time 0, and lets what
// is enabled at once fire. It panics if the program is not Runnable; its
// first Advance returns the events of the start.
func (p *Program) Start() *Machine {
	if p.runnable != nil {
		panic(p.runnable)
	}
	m := p.machine()
	m.busy = true
	m.record(Event{Kind: Started})
	for _, t := range p.init {
		i := p.byName[t.place]
		slot := int32(p.places[i].col.slotOfValue(t.value, 0))
		if s := m.stores[i]; s != nil {
			s.pushAny(slot, owned(t.value))
		}
	}
	copy(m.count, p.initial)
	m.endIfFinal()
	for i := range p.transitions {
		m.review(int32(i))
	}
	m.settle()
	m.busy = false
	return m
}

// machine makes an empty machine.
func (p *Program) machine() *Machine {
	m := &Machine{
		prog: p, count: make([]int32, len(p.slotPlace)), on: make([]bool, len(p.transitions)),
		stores: make([]store, len(p.places)), working: make([]bool, len(p.tasks)),
		ready: newReadySet(len(p.ranks)), timers: newTimers(p),
	}
	for i := range p.places {
		pl := &p.places[i]
		if !pl.col.unit {
			m.stores[i] = pl.col.newStore(pl.Slots)
		}
	}
	m.f.m = m
	return m
}

// Silent stops (or resumes) the recording of events; a run without a record
// costs a little less and cannot be replayed.
func (m *Machine) Silent(off bool) { m.silent = off }

// Program returns the program the machine runs.
func (m *Machine) Program() *Program { return m.prog }

// Now is the net time of the last thing that happened or was asked for.
func (m *Machine) Now() time.Duration { return m.now }

// Gen is the current generation.
func (m *Machine) Gen() Gen { return m.gen }

// Wake is when the next timer is due; Forever if none runs.
func (m *Machine) Wake() time.Duration { return m.timers.next() }

// Ended reports whether the final place is marked.
func (m *Machine) Ended() bool { return m.ended }

// Marking appends the token count of every slot to to.
func (m *Machine) Marking(to []int32) []int32 { return append(to, m.count...) }

// Inject puts a token into an environment place at net time at, after every
// timer due until then has fired, and lets everything fire that it enables at
// once. at must not be before the last call's time. A full place refuses with
// ErrFull, or makes room, as it declares. Every error is an *InjectError.
func (m *Machine) Inject(at time.Duration, t Token) error {
	i, ok := m.prog.byName[t.place]
	if !ok || !m.prog.places[i].Env {
		return &InjectError{Place: t.place, Reason: ErrPlace, Detail: "net " + m.prog.name}
	}
	pl := &m.prog.places[i]
	if !fits(t.value, pl.col.typ) {
		return &InjectError{Place: t.place, Reason: ErrColour, Detail: valueType(t.value) + ", not " + pl.Type}
	}
	if at < m.now {
		return &InjectError{Place: t.place, Reason: ErrPast, Detail: fmt.Sprintf("%v before %v", at, m.now)}
	}
	if m.busy {
		return &InjectError{Place: t.place, Reason: ErrFaulted}
	}
	m.begin()
	m.fireDue(min(at, Forever-1))
	err := m.enter(i, pl, t.value)
	m.busy = false
	return err
}

// begin starts a call: what was handed out before is void now.
func (m *Machine) begin() {
	m.busy = true
	if m.handed {
		m.events = m.events[:0]
		clear(m.out)
		m.out = m.out[:0]
		m.handed = false
	}
}

// enter places an injected token.
func (m *Machine) enter(i int32, pl *PlaceInfo, v any) error {
	if m.ended {
		return &InjectError{Place: pl.Name, Reason: ErrEnded}
	}
	kind, problem := pl.col.kindOf(v, m.gen)
	if problem != "" {
		return &InjectError{Place: pl.Name, Reason: ErrColour, Detail: problem}
	}
	slot := int32(kind)
	e := Event{Index: i, Slot: slot, Kind: Injected}
	if !pl.col.secret {
		e.Size = int32(sizeOf(v))
	}
	if m.prog.marked(m.count, pl) >= pl.Max && !m.makeRoom(i, pl) {
		e.Kind = Refused
		m.record(e)
		return &InjectError{Place: pl.Name, Reason: ErrFull, Detail: fmt.Sprintf("capacity %d", pl.Max)}
	}
	m.record(e)
	if pl.task > 0 {
		m.working[pl.task-1] = false
	}
	if s := m.stores[i]; s != nil {
		s.pushAny(slot, v)
	}
	m.count[int32(pl.Slot)+slot]++
	m.endIfFinal()
	m.reviewPlace(int32(pl.Slot) + slot)
	m.settle()
	return nil
}

// makeRoom drops a token of a full payload place.
func (m *Machine) makeRoom(i int32, pl *PlaceInfo) bool {
	slot := int32(0)
	s := m.stores[i]
	switch {
	case pl.Policy == Refuse:
		return false
	case s == nil:
	case pl.Policy == DropOldest:
		slot = s.oldest(nil, 0)
		s.popOldest()
	default:
		slot = s.newest()
		s.popNewest()
	}
	m.record(Event{Kind: Dropped, Index: i, Slot: slot})
	m.count[int32(pl.Slot)+slot]--
	return true
}

// Advance fires every timer that is due until now, each at its own due time,
// and returns what has happened since the last Advance. A now before the last
// call's time is read as that time, and Forever as the instant before.
func (m *Machine) Advance(now time.Duration) Ready {
	if m.busy {
		return Ready{Wake: Forever}
	}
	m.begin()
	m.fireDue(min(max(now, m.now), Forever-1))
	m.busy = false
	m.handed = true
	return Ready{Events: m.events, Out: m.out, Wake: m.timers.next(), Ended: m.ended}
}

// fireDue fires timers until now, then sets the time.
func (m *Machine) fireDue(now time.Duration) {
	for {
		due := m.timers.next()
		if due > now {
			break
		}
		m.now = due
		m.fire(m.timers.heap[0].transition)
		m.settle()
	}
	m.now = now
}

// settle runs to completion: at-once transitions fire in order of priority and
// declaration until none is enabled.
func (m *Machine) settle() {
	for n := 0; ; n++ {
		r := m.ready.first()
		if r < 0 {
			return
		}
		if n == MaxChain {
			t := &m.prog.transitions[m.prog.ranks[r]]
			panic(&Fault{Net: m.prog.name, Transition: t.Name,
				Problem: fmt.Sprintf("more than %d firings at one instant; the net has a loop without a wait", MaxChain)})
		}
		m.fire(m.prog.ranks[r])
	}
}

// reviewPlace looks again at the transitions that an injection can change.
func (m *Machine) reviewPlace(slot int32) {
	for _, u := range m.prog.watchers[slot] {
		m.review(u)
	}
}

// review brings one transition's state up to date.
func (m *Machine) review(u int32) {
	g := &m.prog.gates[u]
	on := !m.ended && m.enabled(g, u)
	if on == m.on[u] {
		return
	}
	m.on[u] = on
	switch {
	case g.rank >= 0 && on:
		m.ready.add(g.rank)
	case g.rank >= 0:
		m.ready.remove(g.rank)
	case on:
		m.timers.start(timer{m.later(m.prog.transitions[u].wait()), u, g.clock})
	default:
		m.timers.stop(g.clock)
	}
}

// later is the time d from now; a wait past the end of time never ends.
func (m *Machine) later(d time.Duration) time.Duration {
	if d > Forever-m.now {
		return Forever
	}
	return m.now + d
}

func (m *Machine) enabled(g *gate, u int32) bool {
	if !g.simple {
		return m.prog.transitions[u].Enabled(m.count)
	}
	for i := g.from; i < g.to; i++ {
		c := &m.prog.conds[i]
		if n := m.count[c.Slot]; n < c.Min || n >= c.Max {
			return false
		}
	}
	return true
}

func (m *Machine) record(e Event) {
	m.seq++
	if m.silent {
		return
	}
	e.Seq, e.At = m.seq, m.now
	m.events = append(m.events, e)
}

// endIfFinal stops everything when the final place is marked.
func (m *Machine) endIfFinal() {
	s := m.prog.final
	if s < 0 || m.count[s] == 0 || m.ended {
		return
	}
	m.ended = true
	for i := range m.on {
		if m.on[i] {
			m.review(int32(i))
		}
	}
	m.record(Event{Kind: Ended, Index: -1})
}
