// Package life is the net of a managed session's life. It decides when a turn begins and ends, and
// which events clients get. It handles interrupts, pauses and results that are missing.
//
// The net decides and carries no content. A turn is a task of the net; what answers it is outside
// this package. Every input is stored before it enters, and the result of a turn before it is
// delivered. The first input, at Wake, is the State in which the session goes on: Idle at its
// beginning, and after a crash whatever the journal tells.
//
//	n, err := life.Net(life.Config{Backoff: []time.Duration{time.Second}})
//
// Prove proves what the package says of it.
package life

import (
	"fmt"
	"slices"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// Places through which inputs enter.
const (
	Wake      petri.Place[State]      = "wake"      // where the session goes on; nothing else is taken before it
	Message   petri.Place[petri.Unit] = "message"   // a message of the user is accepted; it waits here for its turn
	Result    petri.Place[petri.Unit] = "result"    // a call of a parked turn has its result
	Interrupt petri.Place[petri.Unit] = "interrupt" // what goes on is to stop
	Pause     petri.Place[petri.Unit] = "pause"     // nothing is to begin
	Resume    petri.Place[petri.Unit] = "resume"    // the pause is over
	Archive   petri.Place[petri.Unit] = "archive"   // the session is over
	Fail      petri.Place[petri.Unit] = "fail"      // the session cannot go on
)

// Said is what the session tells.
const Said petri.Place[Say] = "said"

// Turn is the task of a turn.
var Turn = petri.Task[Begin, End]{Start: "turn", InFlight: "turn_in_flight", Done: "turn_done"}

// The private places. Exactly one of asleep, idle, running, parked, backingOff and over is marked whenever
// the net rests.
const (
	asleep       petri.Place[petri.Unit] = "asleep"        // the session does not know yet where it goes on
	idle         petri.Place[petri.Unit] = "idle"          // no turn runs, and none is open
	running      petri.Place[petri.Unit] = "running"       // a turn runs
	parked       petri.Place[petri.Unit] = "parked"        // a turn is open, and calls of it wait for the client
	backingOff   petri.Place[petri.Unit] = "backing_off"   // a turn has failed and is tried again later
	over         petri.Place[petri.Unit] = "over"          // the session has ended
	paused       petri.Place[petri.Unit] = "paused"        // nothing begins
	stopping     petri.Place[petri.Unit] = "stopping"      // the turn that runs was interrupted
	awaited      petri.Place[petri.Unit] = "awaited"       // one token for each call that waits for the client
	retriesSpent petri.Place[petri.Unit] = "retries_spent" // one token for each failed attempt of the open turn
	concluded    petri.Place[End]        = "concluded"     // how the turn ended, for an instant
)

// Begin is why a turn begins. It is its own key.
type Begin uint8

// Why a turn begins.
const (
	WithMessage Begin = iota // with the oldest message that waits
	WithResults              // all calls have their results
	Again                    // another attempt
	Recovered                // where the process stopped
)

var begins = []string{"with_message", "with_results", "again", "recovered"}

// Key returns b as a key.
func (b Begin) Key() petri.Key { return petri.Key(b) }

// KeyNames returns the names of the values.
func (Begin) KeyNames() []string { return begins }

// String returns the name.
func (b Begin) String() string { return begins[b] }

// How says how a turn ended.
type How uint8

// The ways in which a turn ends.
const (
	Ended   How = iota // with an answer
	Waiting            // calls wait for the client
	Retry              // it failed, and another attempt may succeed
	Failed             // it failed
)

var hows = []string{"ended", "waiting", "retry", "failed"}

// Key returns h as a key.
func (h How) Key() petri.Key { return petri.Key(h) }

// KeyNames returns the names of the values.
func (How) KeyNames() []string { return hows }

// String returns the name.
func (h How) String() string { return hows[h] }

// End is the end of a turn. An error in place of an End ends the session.
type End struct {
	How   How
	Calls int // of Waiting: how many have no result yet, up to CallsMax
}

// Key returns the way as a key.
func (e End) Key() petri.Key { return e.How.Key() }

// KeyNames returns the names of the ways.
func (End) KeyNames() []string { return hows }

// Say is what the session tells. It is its own key.
type Say uint8

// What the session tells.
const (
	IdleEnded     Say = iota // idle: the turn has ended
	IdleWaiting              // idle: calls wait for the client; said again for each result but the last
	IdleExhausted            // idle: the turn has failed for good
	IdleStopped              // idle: the turn was interrupted; calls that wait are cancelled
	Undisturbed              // an interrupt found nothing to stop
	Rescheduled              // the turn has failed and is tried again later
	Expired                  // the calls that wait have no result in time
	Terminated               // the session has failed
	Archived                 // the session is archived
)

var says = []string{"idle_ended", "idle_waiting", "idle_exhausted", "idle_stopped", "undisturbed", "rescheduled",
	"expired", "terminated", "archived"}

// Key returns s as a key.
func (s Say) Key() petri.Key { return petri.Key(s) }

// KeyNames returns the names of the values.
func (Say) KeyNames() []string { return says }

// String returns the name.
func (s Say) String() string { return says[s] }

// Limits of a Config.
const (
	CallsMax   = 64  // calls that wait for the client at a time
	QueueMax   = 256 // messages that wait at a time; an input of any other kind waits for the beginning alone
	BackoffMax = 16  // retries of a turn
)

// Config configures the net. Its zero value retries nothing and waits for results for ever.
type Config struct {
	// Backoff is how long the session waits before each retry of a turn, up to BackoffMax of them.
	Backoff []time.Duration
	// ParkTimeout is how long calls may wait for the client; 0 means for ever. A restart of the process
	// begins the time anew.
	ParkTimeout time.Duration
	// Eager lets a parked turn go on with each result, instead of all results together. It parks again if others
	// are still missing.
	Eager bool

	anytime bool // waits may take any time, for a proof
	calls   int  // in place of CallsMax, for a proof
	queue   int  // likewise, of QueueMax
}

// Phase is what a session does. It is the key of a State.
type Phase uint8

// The phases.
const (
	Idle Phase = iota
	Running
	Parked
	BackingOff
)

var phases = []string{"idle", "running", "parked", "backing_off"}

// Key returns p as a key.
func (p Phase) Key() petri.Key { return petri.Key(p) }

// String returns the name.
func (p Phase) String() string { return phases[p] }

// State is where a session goes on. A pause is an input of its own.
type State struct {
	Phase   Phase
	Awaited int // of Parked: calls without a result, up to CallsMax
	Retries int // of Running and BackingOff: failed attempts of the open turn, up to the length of Config.Backoff
}

// Key returns the phase as a key.
func (s State) Key() petri.Key { return s.Phase.Key() }

// KeyNames returns the names of the phases.
func (State) KeyNames() []string { return phases }

// Net returns the net. The error names what is wrong with the configuration.
func Net(c Config) (*petri.Net, error) {
	if c.calls == 0 {
		c.calls, c.queue = CallsMax, QueueMax
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	n := &petri.Net{
		Name: "life",
		Ports: []petri.AnyPlace{Wake, Message, Result, Interrupt, Pause, Resume, Archive, Fail, Said, Turn.Start,
			Turn.InFlight, Turn.Done},
		Env: []petri.Env{{Place: Wake}, {Place: Message, Capacity: c.queue}, {Place: Result}, {Place: Interrupt},
			{Place: Pause}, {Place: Resume}, {Place: Archive}, {Place: Fail}},
		Out:   []petri.Output{{Place: Said}},
		Tasks: []petri.AnyTask{Turn},
		Final: over,
		Caps: []petri.Cap{{Place: asleep, Max: 1}, {Place: idle, Max: 1}, {Place: running, Max: 1}, {Place: parked, Max: 1},
			{Place: paused, Max: 1}, {Place: stopping, Max: 1}, {Place: concluded, Max: 1}, {Place: awaited, Max: c.calls}},
		Init: []petri.Token{asleep.Token(petri.Unit{})},
	}
	if len(c.Backoff) > 0 {
		n.Caps = append(n.Caps, petri.Cap{Place: backingOff, Max: 1}, petri.Cap{Place: retriesSpent, Max: len(c.Backoff)})
	}
	parts := []func(Config) []petri.Transition{wakings, beginnings, endings, parking, interrupts, pauses, ends}
	for _, part := range parts {
		n.Transitions = append(n.Transitions, part(c)...)
	}
	return n, nil
}

func (c *Config) check() error {
	switch {
	case len(c.Backoff) > BackoffMax:
		return fmt.Errorf("life: Config.Backoff has %d waits; at most %d are allowed", len(c.Backoff), BackoffMax)
	case c.ParkTimeout < 0:
		return fmt.Errorf("life: Config.ParkTimeout is %v; give a time, or 0 to wait for ever", c.ParkTimeout)
	}
	for i, d := range c.Backoff {
		if d <= 0 {
			return fmt.Errorf("life: Config.Backoff[%d] is %v; it must be positive", i, d)
		}
	}
	return nil
}

// Check reports what is wrong with a state. The net breaks if it gets a wrong one.
func (c *Config) Check(s State) error {
	switch {
	case s.Phase > BackingOff:
		return fmt.Errorf("life: State.Phase is %d, which is none", s.Phase)
	case s.Awaited < 0 || s.Awaited > CallsMax || s.Awaited > 0 && s.Phase != Parked:
		return fmt.Errorf("life: State.Awaited is %d; it may be up to %d if the phase is parked, else 0", s.Awaited,
			CallsMax)
	case s.Retries < 0 || s.Retries > len(c.Backoff) || s.Retries > 0 && s.Phase != Running && s.Phase != BackingOff:
		return fmt.Errorf("life: State.Retries is %d; it may be up to %d if a turn is open, else 0", s.Retries,
			len(c.Backoff))
	case s.Phase == BackingOff && s.Retries == 0 && len(c.Backoff) > 0:
		return fmt.Errorf("life: State.Retries is 0; a turn that is tried again has failed at least once")
	}
	return nil
}

// wakings take the state in which the session goes on.
func wakings(c Config) []petri.Transition {
	tries := len(c.Backoff)
	list := []petri.Transition{
		{Name: "wake_idle", In: petri.Arcs{asleep, Wake.Is(Idle)}, Out: petri.And(idle)},
		wake(Running, 0, tries, retriesSpent, Recovered, running, Turn.Start.Is(Recovered), Turn.InFlight),
		wake(Parked, 0, c.calls, awaited, Recovered, parked),
		{Name: "ignore_wake", In: petri.Arcs{Wake}, Inhibit: petri.Arcs{asleep}},
	}
	if tries == 0 { // such a turn is tried again at once
		return append(list, wake(BackingOff, 0, 0, retriesSpent, Again, running, Turn.Start.Is(Again), Turn.InFlight))
	}
	return append(list, wake(BackingOff, 1, tries, retriesSpent, Again, backingOff))
}

// wake goes on in a phase, with from to most tokens in a place.
func wake(p Phase, from, most int, counts petri.Place[petri.Unit], b Begin, out ...petri.AnyArc) petri.Transition {
	var ways []petri.Arcs
	for k := from; k <= most; k++ {
		way := slices.Clone(petri.Arcs(out))
		if k > 0 {
			way = append(way, counts.Exactly(k))
		}
		ways = append(ways, way)
	}
	split := petri.And(ways[0]...)
	if len(ways) > 1 {
		split = petri.Free(ways...)
	}
	return petri.Transition{Name: "wake_" + p.String(), In: petri.Arcs{asleep, Wake.Is(p)}, Out: split,
		Action: func(f *petri.Firing) {
			s := Wake.Get(f)
			n := s.Awaited + s.Retries
			if len(ways) > 1 {
				f.Choose(n - from)
				for range n {
					counts.Put(f, petri.Unit{})
				}
			}
			if slices.Contains(out, petri.AnyArc(running)) {
				Turn.Start.Put(f, b)
			}
		}}
}

// say returns an action that tells something.
func say(s Say) func(*petri.Firing) { return func(f *petri.Firing) { Said.Put(f, s) } }

// start returns an action that starts a turn.
func start(b Begin) func(*petri.Firing) { return func(f *petri.Firing) { Turn.Start.Put(f, b) } }

// attempts are the failed attempts of the open turn, if any can be.
func (c *Config) attempts(more ...petri.AnyArc) petri.Arcs {
	if len(c.Backoff) == 0 {
		return more
	}
	return append(more, retriesSpent)
}

// wait is the interval of a wait.
func (c *Config) wait(d time.Duration) petri.Interval {
	if c.anytime {
		return petri.Anytime()
	}
	return petri.After(d)
}

// beginnings begin turns. Each message begins one. What stops the session comes first.
func beginnings(c Config) []petri.Transition {
	begin := func(name string, b Begin, t petri.Transition) petri.Transition {
		t.Name, t.Out, t.Action = name, petri.And(running, Turn.Start.Is(b), Turn.InFlight), start(b)
		t.Inhibit = append(t.Inhibit, paused)
		return t
	}
	list := []petri.Transition{
		begin("begin_with_message", WithMessage, petri.Transition{In: petri.Arcs{idle, Message}, Priority: -1}),
		begin("begin_with_results", WithResults, petri.Transition{In: petri.Arcs{parked}, Inhibit: petri.Arcs{awaited},
			Priority: -1}),
	}
	for i, d := range c.Backoff {
		t := petri.Transition{In: petri.Arcs{backingOff}, Read: petri.Arcs{retriesSpent.AtLeast(i + 1)}, When: c.wait(d)}
		if i+1 < len(c.Backoff) {
			t.Inhibit = petri.Arcs{retriesSpent.AtLeast(i + 2)}
		}
		list = append(list, begin(fmt.Sprintf("retry_%d", i+1), Again, t))
	}
	return list
}

// endings end turns.
func endings(c Config) []petri.Transition {
	var ways []petri.Arcs
	for h := range How(len(hows)) {
		ways = append(ways, petri.Arcs{concluded.Is(h)})
	}
	waiting := []petri.Arcs{{parked}}
	for k := 1; k <= c.calls; k++ {
		waiting = append(waiting, petri.Arcs{parked, awaited.Exactly(k), Said.Is(IdleWaiting)})
	}
	list := []petri.Transition{
		{Name: "conclude", In: petri.Arcs{Turn.Done.Is(petri.Succeeded), Turn.InFlight, running}, Out: petri.Free(ways...),
			Action: func(f *petri.Firing) {
				end := Turn.Done.Get(f).Value
				f.Choose(int(end.How))
				concluded.Put(f, end)
			}},
		{Name: "end_turn", In: petri.Arcs{concluded.Is(Ended)}, Reset: c.attempts(),
			Out: petri.And(idle, Said.Is(IdleEnded)), Action: say(IdleEnded)},
		{Name: "park_turn", In: petri.Arcs{concluded.Is(Waiting)}, Reset: c.attempts(), Out: petri.Free(waiting...),
			Action: func(f *petri.Firing) {
				calls := concluded.Get(f).Calls
				f.Choose(calls)
				for range calls {
					awaited.Put(f, petri.Unit{})
				}
				if calls > 0 {
					Said.Put(f, IdleWaiting)
				}
			}},
		{Name: "fail_turn", In: petri.Arcs{concluded.Is(Failed)}, Reset: c.attempts(),
			Out: petri.And(idle, Said.Is(IdleExhausted)), Action: say(IdleExhausted)},
		{Name: "break_down", In: petri.Arcs{Turn.Done.Is(petri.Failed, petri.Cancelled), Turn.InFlight, running},
			Out: petri.And(over, Said.Is(Terminated)), Action: say(Terminated)},
		{Name: "stop_turn", In: petri.Arcs{Turn.Done, running, stopping}, Reset: c.attempts(),
			Out: petri.And(idle, Said.Is(IdleStopped)), Action: say(IdleStopped)},
	}
	spent := petri.Transition{Name: "exhaust_retries", In: petri.Arcs{concluded.Is(Retry)}, Reset: c.attempts(),
		Out: petri.And(idle, Said.Is(IdleExhausted)), Action: say(IdleExhausted)}
	if len(c.Backoff) == 0 {
		return append(list, spent)
	}
	spent.Read = petri.Arcs{retriesSpent.AtLeast(len(c.Backoff))}
	return append(list, spent, petri.Transition{Name: "reschedule", In: petri.Arcs{concluded.Is(Retry)},
		Inhibit: petri.Arcs{retriesSpent.AtLeast(len(c.Backoff))},
		Out:     petri.And(backingOff, retriesSpent, Said.Is(Rescheduled)), Action: say(Rescheduled)})
}

// parking takes results while calls wait. A result that nothing waits for is dropped. So is one that comes
// while a turn runs, for it would be taken for a call of the next park: a turn that parks counts the calls
// without a result itself, and a result that it has not counted must enter after IdleWaiting.
func parking(c Config) []petri.Transition {
	list := []petri.Transition{
		{Name: "take_result", In: petri.Arcs{Result, awaited}, Read: petri.Arcs{parked, awaited.AtLeast(2)},
			Out: petri.And(Said.Is(IdleWaiting)), Action: say(IdleWaiting)},
		{Name: "take_last_result", In: petri.Arcs{Result, awaited}, Read: petri.Arcs{parked},
			Inhibit: petri.Arcs{awaited.AtLeast(2)}},
		{Name: "drop_result_parked", In: petri.Arcs{Result}, Read: petri.Arcs{parked}, Inhibit: petri.Arcs{awaited}},
		{Name: "drop_result_idle", In: petri.Arcs{Result}, Read: petri.Arcs{idle}},
		{Name: "drop_result_running", In: petri.Arcs{Result}, Read: petri.Arcs{running}},
	}
	if c.Eager {
		list = append(list[2:], petri.Transition{Name: "take_last_result", In: petri.Arcs{Result},
			Read: petri.Arcs{parked, awaited}, Reset: petri.Arcs{awaited}})
	}
	if len(c.Backoff) > 0 {
		list = append(list, petri.Transition{Name: "drop_result_backing_off", In: petri.Arcs{Result},
			Read: petri.Arcs{backingOff}})
	}
	if c.ParkTimeout > 0 {
		list = append(list, petri.Transition{Name: "expire", Read: petri.Arcs{parked, awaited}, Reset: petri.Arcs{awaited},
			When: c.wait(c.ParkTimeout), Out: petri.And(Said.Is(Expired)), Action: say(Expired)})
	}
	return list
}

// interrupts stop what goes on. An interrupt overtakes everything that waits.
func interrupts(c Config) []petri.Transition {
	stopped := petri.And(idle, Said.Is(IdleStopped))
	list := []petri.Transition{
		{Name: "interrupt_turn", In: petri.Arcs{Interrupt, Turn.InFlight}, Read: petri.Arcs{running},
			Out: petri.And(stopping)},
		{Name: "interrupt_again", In: petri.Arcs{Interrupt}, Read: petri.Arcs{stopping}},
		{Name: "interrupt_parked", In: petri.Arcs{Interrupt, parked}, Reset: petri.Arcs{awaited}, Out: stopped,
			Action: say(IdleStopped)},
		{Name: "interrupt_idle", In: petri.Arcs{Interrupt}, Read: petri.Arcs{idle}, Out: petri.And(Said.Is(Undisturbed)),
			Action: say(Undisturbed)},
	}
	if len(c.Backoff) > 0 {
		list = append(list, petri.Transition{Name: "interrupt_backing_off", In: petri.Arcs{Interrupt, backingOff},
			Reset: c.attempts(), Out: stopped, Action: say(IdleStopped)})
	}
	return list
}

// pauses hold the beginning of turns.
func pauses(Config) []petri.Transition {
	return []petri.Transition{
		{Name: "pause", In: petri.Arcs{Pause}, Inhibit: petri.Arcs{paused}, Out: petri.And(paused), Priority: 1},
		{Name: "pause_again", In: petri.Arcs{Pause}, Read: petri.Arcs{paused}, Priority: 1},
		{Name: "resume", In: petri.Arcs{Resume, paused}, Inhibit: petri.Arcs{Pause}, Priority: 1},
		{Name: "resume_again", In: petri.Arcs{Resume}, Inhibit: petri.Arcs{paused, Pause}, Priority: 1},
	}
}

// ends end the session, whatever it does.
func ends(c Config) []petri.Transition {
	var list []petri.Transition
	end := func(name string, by petri.Place[petri.Unit], from petri.Place[petri.Unit], reset petri.Arcs, s Say) {
		list = append(list, petri.Transition{Name: name, In: petri.Arcs{by, from}, Reset: reset,
			Out: petri.And(over, Said.Is(s)), Action: say(s), Priority: 2})
	}
	for by, s := range []struct {
		place petri.Place[petri.Unit]
		say   Say
	}{{Archive, Archived}, {Fail, Terminated}} {
		name := []string{"archive_", "fail_"}[by]
		end(name+"idle", s.place, idle, nil, s.say)
		end(name+"running", s.place, running, c.attempts(Turn.InFlight, stopping), s.say)
		end(name+"parked", s.place, parked, petri.Arcs{awaited}, s.say)
		if len(c.Backoff) > 0 {
			end(name+"backing_off", s.place, backingOff, petri.Arcs{retriesSpent}, s.say)
		}
	}
	return list
}
