package life

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
)

var walkSteps = flag.Int("steps", 100_000, "how many inputs TestWalk gives to the net and to the model")

// walkConfig has small limits, so that a walk meets them.
var walkConfig = Config{Backoff: []time.Duration{2 * time.Second, 5 * time.Second}, ParkTimeout: 7 * time.Second,
	calls: 4, queue: 3}

// model is a session's life without a net. It is what TestWalk and the package's documentation expect.
type model struct {
	now, due time.Duration // due is when a retry begins or a park expires; 0: never
	phase    string        // asleep, idle, running, parked, backing_off or over
	paused   bool
	stopping bool
	awaited  int
	retries  int
	waits    map[string]int // inputs that wait
	out      []string       // what was put out
}

func newModel() *model { return &model{phase: "asleep", waits: map[string]int{}} }

func (m *model) say(s Say) { m.out = append(m.out, "said "+s.String()) }

func (m *model) begin(b Begin) {
	m.phase, m.due = "running", 0
	m.out = append(m.out, "turn "+b.String())
}

// rest ends a turn, a park or a retry.
func (m *model) rest(s Say) {
	m.phase, m.due, m.stopping, m.awaited, m.retries = "idle", 0, false, 0, 0
	m.say(s)
}

func (m *model) park(calls int) {
	m.phase, m.awaited, m.retries = "parked", calls, 0
	if calls > 0 {
		m.due = m.now + walkConfig.ParkTimeout
	}
}

func (m *model) backOff(failed int) {
	m.phase, m.retries = "backing_off", failed
	if !m.paused {
		m.due = m.now + walkConfig.Backoff[failed-1]
	}
}

// over ends the session.
func (m *model) over(s Say) {
	m.say(s)
	if m.phase == "running" && !m.stopping {
		m.out = append(m.out, "cancel")
	}
	m.phase = "over"
}

// advance lets time pass. At most one wait ends: a turn begins behind it, or a pause holds it.
func (m *model) advance(to time.Duration) {
	if m.due > 0 && m.due <= to {
		m.now, m.due = m.due, 0
		if m.phase == "backing_off" {
			m.begin(Again)
		} else {
			m.awaited = 0
			m.say(Expired)
			m.settle()
		}
	}
	m.now = to
}

// input gives an input. It reports false if the place of the input is full.
func (m *model) input(p string) bool {
	switch {
	case p == "pause":
		if m.paused = true; m.phase == "backing_off" {
			m.due = 0
		}
	case p == "resume":
		if m.phase == "backing_off" && m.paused {
			m.due = m.now + walkConfig.Backoff[m.retries-1]
		}
		m.paused = false
	case m.waits[p] == walkConfig.queue, m.waits[p] == 1 && p != "message":
		return false
	default:
		m.waits[p]++
	}
	m.settle()
	return true
}

// settle takes what waits.
func (m *model) settle() {
	for m.phase != "asleep" && m.phase != "over" {
		switch {
		case m.waits["archive"] > 0:
			m.over(Archived)
		case m.waits["fail"] > 0:
			m.over(Terminated)
		case m.waits["result"] > 0:
			m.waits["result"]--
			m.result()
		case m.waits["interrupt"] > 0:
			m.waits["interrupt"]--
			m.interrupt()
		case m.paused:
			return
		case m.phase == "parked" && m.awaited == 0:
			m.begin(WithResults)
		case m.phase == "idle" && m.waits["message"] > 0:
			m.waits["message"]--
			m.begin(WithMessage)
		default:
			return
		}
	}
}

func (m *model) result() {
	if m.awaited == 0 {
		return
	}
	if m.awaited--; m.awaited > 0 {
		m.say(IdleWaiting)
	} else {
		m.due = 0
	}
}

func (m *model) interrupt() {
	switch {
	case m.phase == "idle":
		m.say(Undisturbed)
	case m.phase != "running":
		m.rest(IdleStopped)
	case !m.stopping:
		m.stopping = true
		m.out = append(m.out, "cancel")
	}
}

// wake begins the session, once.
func (m *model) wake(s State) {
	if m.phase != "asleep" {
		return
	}
	switch s.Phase {
	case Idle:
		m.phase = "idle"
	case Running:
		m.begin(Recovered)
		m.retries = s.Retries
	case Parked:
		m.park(s.Awaited)
	case BackingOff:
		m.backOff(s.Retries)
	}
	m.settle()
}

// done ends the turn that runs.
func (m *model) done(o petri.Outcome, e End) {
	switch {
	case m.stopping:
		m.rest(IdleStopped)
	case o != petri.Succeeded:
		m.phase = "over"
		m.say(Terminated)
	case e.How == Ended:
		m.rest(IdleEnded)
	case e.How == Waiting:
		if m.park(e.Calls); e.Calls > 0 {
			m.say(IdleWaiting)
		}
	case e.How == Retry && m.retries < len(walkConfig.Backoff):
		m.backOff(m.retries + 1)
		m.say(Rescheduled)
	default:
		m.rest(IdleExhausted)
	}
	m.settle()
}

// marking is what the net should hold, by place.
func (m *model) marking() map[string]int {
	want := map[string]int{m.phase: 1, "awaited": m.awaited, "retries_spent": m.retries}
	for p, n := range m.waits {
		want[p] = n
	}
	for p, is := range map[string]bool{"paused": m.paused, "stopping": m.stopping,
		"turn_in_flight": m.phase == "running" && !m.stopping} {
		if is {
			want[p] = 1
		}
	}
	return want
}

// outputs are the tokens that a machine has put out, as the model writes them.
func outputs(r petri.Ready) (list []string) {
	for _, t := range r.Out {
		if t.Cancel() {
			list = append(list, "cancel")
			continue
		}
		list = append(list, fmt.Sprint(t.Place(), " ", t.Value()))
	}
	return list
}

// TestWalk gives random inputs at random times to the net and to the model, which must put out the same
// and hold the same.
func TestWalk(t *testing.T) {
	p := program(t, walkConfig)
	rnd := rand.New(rand.NewPCG(7, 11))
	machine, m, lives, told := p.Start(), newModel(), 0, map[string]int{}
	var story []string // the last inputs
	for range *walkSteps {
		if m.phase == "over" {
			machine, m, story, lives = p.Start(), newModel(), nil, lives+1
		}
		at := m.now + time.Duration(rnd.IntN(3000))*time.Millisecond
		tok, text, model := draw(rnd, m)
		if len(story) == 12 {
			story = story[1:]
		}
		story = append(story, fmt.Sprintf("%v %s", at, text))
		m.advance(at)
		entered := model()
		if err := machine.Inject(at, tok); (err == nil) != entered || err != nil && !errors.Is(err, petri.ErrFull) {
			t.Fatalf("%v: the net says %v; the model takes it: %v", story, err, entered)
		}
		if got := outputs(machine.Advance(at)); !slices.Equal(got, m.out) {
			t.Fatalf("%v: the net puts out %v, want %v", story, got, m.out)
		}
		for _, o := range m.out {
			told[o]++
		}
		m.out = nil
		if bad := differs(machine, m); m.phase != "over" && bad != "" {
			t.Fatalf("%v: %s", story, bad)
		}
	}
	if want := len(says) + len(begins) + 1; len(told) != want || lives < *walkSteps/1000 {
		t.Errorf("the walk had %d lives and saw %v; want all %d outputs", lives, told, want)
	}
}

// draw draws an input: its token, its name, and the model's answer to it.
func draw(rnd *rand.Rand, m *model) (petri.Token, string, func() bool) {
	yes := func(do func()) func() bool { return func() bool { do(); return true } }
	if m.phase == "asleep" && rnd.IntN(3) == 0 || rnd.IntN(60) == 0 {
		s := State{Phase: Phase(rnd.IntN(len(phases)))}
		switch s.Phase {
		case Parked:
			s.Awaited = rnd.IntN(walkConfig.calls + 1)
		case Running:
			s.Retries = rnd.IntN(len(walkConfig.Backoff) + 1)
		case BackingOff:
			s.Retries = 1 + rnd.IntN(len(walkConfig.Backoff))
		}
		return Wake.Token(s), fmt.Sprintf("wake %+v", s), yes(func() { m.wake(s) })
	}
	if m.phase == "running" && rnd.IntN(3) == 0 {
		r := petri.Result[End]{Value: End{How: How(rnd.IntN(len(hows)))}}
		if r.Value.How == Waiting {
			r.Value.Calls = rnd.IntN(walkConfig.calls + 1)
		}
		if rnd.IntN(20) == 0 {
			r.Outcome = petri.Outcome(1 + rnd.IntN(2))
		}
		return Turn.Done.Token(r), fmt.Sprintf("done %+v", r), yes(func() { m.done(r.Outcome, r.Value) })
	}
	p := []petri.Place[petri.Unit]{Message, Message, Message, Result, Result, Result, Interrupt, Pause, Resume, Resume,
		Archive, Fail}[rnd.IntN(12)]
	if (p == Archive || p == Fail) && rnd.IntN(10) > 0 {
		p = Message
	}
	return p.Token(petri.Unit{}), p.String(), func() bool { return m.input(p.String()) }
}

// differs says in which place a machine does not hold what the model holds.
func differs(machine *petri.Machine, m *model) string {
	want := m.marking()
	for slot, n := range machine.Marking(nil) {
		if name := machine.Program().SlotName(slot); int(n) != want[name] {
			return fmt.Sprintf("the net holds %d tokens in %s, want %d", n, name, want[name])
		}
	}
	return ""
}
