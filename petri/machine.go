package petri

import (
	"fmt"
	"time"
)

// MaxChain is the largest number of firings that may follow one another at one instant without an
// injection or a timer between them. A longer chain is a fault, because the net has a loop without
// a wait.
const MaxChain = 1000

// Machine runs one Program. It has no clock and no goroutine: the caller passes the time, and the
// same stamped injections give the same events. Program.Start and Program.Restore make one. It is
// not safe for concurrent use; package runner runs a Machine in a goroutine.
type Machine struct {
	prog   *Program
	now    time.Duration
	seq    uint64
	gen    Gen
	count  []int32
	on     []bool   // by transition: enabled
	awake  []uint64 // bit set: the sleepy transitions whose first condition is met; nil without crowds
	queues []*queue
	ready  readySet
	timers timers
	f      Firing

	events  []Event
	out     []Token
	working []bool // by task: started, without a result yet
	silent  bool   // do not record events
	handed  bool   // the caller has received events and out
	busy    bool   // inside a call; stays true after a panic
	ended   bool
}

// Ready says what the caller must do next: store Events, act on Out in order, and call Advance
// again at Wake or after the next injection. The slices are valid until the next call of a method
// of the Machine.
type Ready struct {
	Events []Event
	Out    []Token
	Wake   time.Duration // due time of the next timer; Forever if no timer runs
	Ended  bool          // the final place is marked
}

// Start returns a machine in the initial marking at net time 0, after all transitions that are
// enabled at once have fired. Its first Advance returns the events of the start. Start panics if
// the program is not Runnable.
func (p *Program) Start() *Machine {
	if p.runnable != nil {
		panic(p.runnable)
	}
	m := p.machine()
	m.start()
	return m
}

// start begins a run on a machine without tokens.
func (m *Machine) start() {
	p := m.prog
	m.busy = true
	m.record(Event{Kind: Started})
	for _, t := range p.init {
		i := p.byName[t.place]
		slot := int32(p.places[i].col.slotOfValue(t.value, 0))
		if s := m.queues[i]; s != nil {
			s.pushAny(slot, owned(t.value))
		}
	}
	copy(m.count, p.initial)
	m.endIfFinal()
	for _, u := range p.begins {
		m.review(u)
	}
	m.settle()
	m.busy = false
}

// machine returns a machine without tokens.
func (p *Program) machine() *Machine {
	m := &Machine{
		prog: p, count: make([]int32, len(p.slotPlace)), on: make([]bool, len(p.transitions)),
		queues: make([]*queue, len(p.places)), working: make([]bool, len(p.tasks)),
		ready: newReadySet(len(p.ranks)), timers: newTimers(p),
	}
	if len(p.crowds) > 0 {
		m.awake = make([]uint64, (len(p.transitions)+63)/64)
	}
	for i := range p.places {
		pl := &p.places[i]
		if !pl.col.unit {
			m.queues[i] = newQueue(pl.Slots, pl.col)
		}
	}
	m.f.m = m
	return m
}

// Silent stops or resumes the recording of events. A silent run is slightly cheaper and cannot be
// replayed.
func (m *Machine) Silent(off bool) { m.silent = off }

// Program returns the program that the machine runs.
func (m *Machine) Program() *Program { return m.prog }

// Now returns the net time of the last Inject or Advance.
func (m *Machine) Now() time.Duration { return m.now }

// Gen returns the current generation.
func (m *Machine) Gen() Gen { return m.gen }

// Wake returns the due time of the next timer, or Forever if no timer runs.
func (m *Machine) Wake() time.Duration { return m.timers.next() }

// Ended reports whether the final place is marked.
func (m *Machine) Ended() bool { return m.ended }

// Marking appends the token count of every slot to dst, in the order of Program.SlotName, and
// returns the extended slice.
func (m *Machine) Marking(dst []int32) []int32 { return append(dst, m.count...) }

// Inject puts a token into an environment place at net time at. Before that it fires every timer
// that is due until at, and afterwards every transition that is enabled at once. at must not be
// earlier than Now. A full place rejects the token with ErrFull or makes room, as its Policy says.
// The net owns the value afterwards. Every error is an *InjectError.
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

// begin starts a call and drops the events and outputs that the caller has received.
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
	if s := m.queues[i]; s != nil {
		s.pushAny(slot, v)
	}
	m.count[int32(pl.Slot)+slot]++
	m.endIfFinal()
	m.reviewPlace(int32(pl.Slot) + slot)
	m.settle()
	return nil
}

// makeRoom drops a token of a full payload place. It reports false if the place refuses instead.
func (m *Machine) makeRoom(i int32, pl *PlaceInfo) bool {
	slot := int32(0)
	s := m.queues[i]
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

// Advance fires every timer that is due until now, each at its own due time, and returns the events
// and outputs since the last Advance. If now is earlier than Now, Advance uses Now. Forever means
// the instant before the end of time.
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

// fireDue fires the timers that are due until now, then sets the time.
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

// settle fires at-once transitions, in order of priority and declaration, until none is enabled.
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

// reviewPlace reviews the transitions that depend on a slot.
func (m *Machine) reviewPlace(slot int32) {
	for _, u := range m.prog.watchers[slot] {
		m.review(u)
	}
}

// review updates whether transition u is enabled, and starts or stops its clock.
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

// later returns the time d after now. A wait beyond the end of time never ends.
func (m *Machine) later(d time.Duration) time.Duration {
	if d > Forever-m.now {
		return Forever
	}
	return m.now + d
}

// enabled reports whether the tokens enable transition u.
func (m *Machine) enabled(g *gate, u int32) bool {
	if g.kind != simple {
		if g.kind == several {
			return m.prog.transitions[u].Enabled(m.count)
		}
		if !m.rouse(g, u) {
			return false
		}
	}
	for i := g.from; i < g.to; i++ {
		c := &m.prog.conds[i]
		if n := m.count[c.Slot]; n < c.Min || n >= c.Max {
			return false
		}
	}
	for i := g.sumFrom; i < g.sumTo; i++ {
		if !m.prog.sums[i].Holds(m.count) {
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

// endIfFinal ends the run if the final place is marked.
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
