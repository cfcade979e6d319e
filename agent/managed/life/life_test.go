package life

import (
	"flag"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/petritest"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// usual retries twice and lets parks expire.
var usual = Config{Backoff: []time.Duration{time.Second, 2 * time.Second}, ParkTimeout: time.Minute}

// program compiles the net.
func program(t *testing.T, c Config) *petri.Program {
	t.Helper()
	n, err := Net(c)
	if err != nil {
		t.Fatal(err)
	}
	p, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestProve proves each kind of configuration.
func TestProve(t *testing.T) {
	for _, c := range []Config{{}, {Backoff: usual.Backoff}, {ParkTimeout: time.Minute}, usual,
		{Backoff: usual.Backoff, ParkTimeout: time.Minute, Eager: true}} {
		r, err := Prove(t.Context(), c, verify.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Outcome() != verify.Proved {
			t.Errorf("%+v is not proved:\n%s", c, r)
		}
	}
}

var whole = flag.Bool("whole", false, "prove the net with all the calls and messages that it has room for: minutes")

// TestProveWhole proves the net that runs: with as many calls and messages as it has room for. Without -whole it has
// room for fewer, but for more than Prove looks at.
func TestProveWhole(t *testing.T) {
	sizes, kinds := []int{5, 4}, []Config{usual}
	if *whole {
		sizes = []int{CallsMax, QueueMax}
		kinds = []Config{{}, {Backoff: []time.Duration{time.Second, time.Second, time.Second}}, usual}
	}
	for _, c := range kinds {
		c.calls, c.queue, c.anytime = sizes[0], sizes[1], true
		n, err := Net(c)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		r, err := prove(t.Context(), c, n, verify.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Outcome() != verify.Proved {
			t.Errorf("%+v is not proved:\n%s", c, r)
		}
		t.Logf("%d calls, %d messages, %d retries: %d claims in %v", c.calls, c.queue, len(c.Backoff),
			len(r.Reports[0].Results), time.Since(began))
	}
}

// TestRulesName: a rule about something that the net does not have would hold of everything.
func TestRulesName(t *testing.T) {
	c := usual
	c.calls, c.queue, c.anytime = proofCalls, proofQueue, true
	n, err := Net(c)
	if err != nil {
		t.Fatal(err)
	}
	if n, err = closing(n); err != nil {
		t.Fatal(err)
	}
	p, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, prop := range claims(c) {
		if names[prop.Name] || prop.Doc == "" {
			t.Errorf("the claim %q is there twice, or says nothing", prop.Name)
		}
		names[prop.Name] = true
		if m, ok := prop.Claim.(claim.Move); ok {
			if err := m.Strict(netmodel.New(p, netmodel.RunToCompletion)); err != nil {
				t.Error(err)
			}
		}
	}
}

// holds is what a machine holds, by place.
func holds(m *petri.Machine) map[string]int {
	list := map[string]int{}
	for slot, n := range m.Marking(nil) {
		if n > 0 {
			list[m.Program().SlotName(slot)] = int(n)
		}
	}
	return list
}

// inject gives tokens at once.
func inject(t *testing.T, m *petri.Machine, tokens ...petri.Token) {
	t.Helper()
	for _, tok := range tokens {
		if err := m.Inject(m.Now(), tok); err != nil {
			t.Fatal(err)
		}
	}
}

func done(e End) petri.Token { return Turn.Done.Token(petri.Result[End]{Value: e}) }

// TestStates: a session that goes on in a state holds what one holds that began idle and got there by its
// turns, for every state that Check accepts.
func TestStates(t *testing.T) {
	p := program(t, usual)
	states := 0
	for _, s := range allStates() {
		if usual.Check(s) != nil {
			continue
		}
		states++
		woken, lived := p.Start(), p.Start()
		inject(t, woken, Wake.Token(s))
		inject(t, lived, Wake.Token(State{}))
		if s.Phase != Idle {
			inject(t, lived, Message.Token(petri.Unit{}))
		}
		for k := 1; k <= s.Retries; k++ {
			inject(t, lived, done(End{How: Retry}))
			if s.Phase == Running || k < s.Retries {
				lived.Advance(lived.Wake())
			}
		}
		if s.Phase == Parked && s.Awaited > 0 {
			inject(t, lived, done(End{How: Waiting, Calls: s.Awaited}))
		} else if s.Phase == Parked {
			inject(t, lived, Pause.Token(petri.Unit{}), done(End{How: Waiting}))
			inject(t, woken, Pause.Token(petri.Unit{}))
			inject(t, lived, Resume.Token(petri.Unit{}))
			inject(t, woken, Resume.Token(petri.Unit{}))
		}
		if got, want := holds(woken), holds(lived); !maps.Equal(got, want) {
			t.Errorf("%+v holds %v, want %v", s, got, want)
		}
	}
	if want := 1 + 3 + CallsMax + 1 + 2; states != want {
		t.Errorf("Check accepts %d states, want %d", states, want)
	}
}

// TestNoRetry: a session that backed off and may retry no more begins its turn at once.
func TestNoRetry(t *testing.T) {
	c, s := Config{}, State{Phase: BackingOff}
	if err := c.Check(s); err != nil {
		t.Fatal(err)
	}
	m := program(t, c).Start()
	inject(t, m, Wake.Token(s))
	if got := outputs(m.Advance(0)); len(got) != 1 || got[0] != "turn again" {
		t.Errorf("the net puts out %v, want a turn", got)
	}
}

// allStates are states, right and wrong.
func allStates() (list []State) {
	for phase := range Phase(len(phases) + 1) {
		for awaited := -1; awaited <= CallsMax+1; awaited++ {
			for retries := -1; retries <= 3; retries++ {
				list = append(list, State{Phase: phase, Awaited: awaited, Retries: retries})
			}
		}
	}
	return list
}

// TestCheck: what is wrong with a state or a configuration is named.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		state State
		want  string
	}{
		{State{Phase: 4}, "Phase is 4"}, {State{Awaited: 1}, "Awaited is 1"}, {State{Phase: Parked, Awaited: 65}, "up to 64"},
		{State{Phase: Parked, Retries: 1}, "Retries is 1"}, {State{Phase: Running, Retries: 3}, "up to 2"},
		{State{Phase: BackingOff}, "Retries is 0"},
	} {
		if err := usual.Check(c.state); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.state, err, c.want)
		}
	}
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{Backoff: make([]time.Duration, BackoffMax+1)}, "17 waits"},
		{Config{Backoff: []time.Duration{1, 0}}, "[1] is 0s"},
		{Config{ParkTimeout: -1}, "ParkTimeout is -1ns"},
	} {
		if _, err := Net(c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.config, err, c.want)
		}
	}
}

// TestStories plays a story for each rule.
func TestStories(t *testing.T) { petritest.Run(t, "testdata/stories", program(t, usual)) }
