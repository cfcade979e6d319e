package monitor_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/monitor"
	"github.com/voicegw/voicegw/voicenets"
	"github.com/voicegw/voicegw/voicenets/claims"
)

const ms = time.Millisecond

// call is a run of a voice net that a test injects into.
type call struct {
	tb   testing.TB
	prog *petri.Program
	m    *petri.Machine
	at   time.Duration
	log  []petri.Event
}

func newCall(tb testing.TB, c voicenets.Config) *call {
	tb.Helper()
	net, err := voicenets.Session(c)
	if err != nil {
		tb.Fatal(err)
	}
	prog, err := petri.Compile(net)
	if err != nil {
		tb.Fatal(err)
	}
	w := &call{tb: tb, prog: prog, m: prog.Start()}
	w.wait(0)
	return w
}

// wait lets time pass.
func (w *call) wait(d time.Duration) {
	w.at += d
	w.log = append(w.log, w.m.Advance(w.at).Events...)
}

// put injects a token after a while; a full place may refuse it.
func (w *call) put(d time.Duration, t petri.Token) {
	w.tb.Helper()
	w.at += d
	if err := w.m.Inject(w.at, t); err != nil && !errors.Is(err, petri.ErrFull) && !errors.Is(err, petri.ErrEnded) {
		w.tb.Fatal(err)
	}
	w.wait(0)
}

func (w *call) frame() petri.Token {
	return voicenets.CallerAudio.Token(&voicenets.CallerFrame{PCM: make([]int16, 320)})
}

func (w *call) reply() petri.Token {
	return voicenets.ModelAudio.Token(&voicenets.ModelFrame{PCM: make([]int16, 480)})
}

func (w *call) ack() petri.Token { return voicenets.PeerAck.Token(voicenets.Ack{Gen: w.m.Gen()}) }

// scripted is a call with a turn, a reply that is interrupted, and an end.
func scripted(tb testing.TB) *call {
	w := newCall(tb, voicenets.Config{Greeting: true})
	speech := func(e voicenets.Edge) petri.Token { return voicenets.SpeechEdge.Token(e) }
	say := func() {
		w.put(10*ms, speech(voicenets.SpeechStart))
		for i := range 20 {
			w.put(20*ms, w.frame())
			if i%5 == 4 {
				w.put(0, speech(voicenets.SpeechMore))
			}
			if i == 12 {
				w.put(0, speech(voicenets.SpeechConfirm))
			}
		}
		w.put(20*ms, speech(voicenets.SpeechStop))
	}
	say()
	for i := range 40 {
		w.put(5*ms, w.reply())
		if i%3 == 0 {
			w.put(5*ms, w.ack())
		}
	}
	w.put(0, voicenets.ModelSignal.Token(voicenets.GenerationComplete))
	say() // over the reply
	w.put(5*ms, voicenets.ModelSignal.Token(voicenets.Interrupted))
	w.put(5*ms, w.reply())
	w.put(5*ms, voicenets.ModelSignal.Token(voicenets.TurnComplete))
	w.put(5*ms, w.reply())
	w.put(0, voicenets.ModelSignal.Token(voicenets.TurnComplete))
	w.put(0, w.ack())
	w.wait(10 * time.Second)
	w.put(0, voicenets.PeerMute.Token(voicenets.On))
	w.put(20*ms, w.frame())
	w.put(0, voicenets.Over.Token(voicenets.HungUp))
	return w
}

// claimsOf are those proved of a session that speak of the session alone.
func claimsOf(tb testing.TB, prog *petri.Program, c voicenets.Config) []*verify.Property {
	tb.Helper()
	n, err := claims.Hostile(c)
	if err != nil {
		tb.Fatal(err)
	}
	closed, err := petri.Compile(n)
	if err != nil {
		tb.Fatal(err)
	}
	var list []*verify.Property
	for _, part := range claims.Proofs(c, closed) {
		for _, p := range part.Props {
			if _, err := monitor.New(prog, p); err == nil {
				list = append(list, p)
			}
		}
	}
	return list
}

func watch(tb testing.TB, w *call, props ...*verify.Property) *monitor.Monitor {
	tb.Helper()
	m, err := monitor.New(w.prog, props...)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// TestRecordedCall: a run of the machine is a run of the net, and keeps what was proved.
func TestRecordedCall(t *testing.T) {
	w := scripted(t)
	m := watch(t, w, claimsOf(t, w.prog, voicenets.Config{})...)
	if len(m.Watched()) < 5 {
		t.Errorf("watched: %q", m.Watched())
	}
	for part := range slices.Chunk(w.log, 7) {
		if err := m.Append(part); err != nil {
			t.Fatalf("%v\n%s", err, err.(*monitor.Violation).Story)
		}
	}
	if err := m.End(); err != nil || m.Events() != uint64(len(w.log)) || len(w.log) < 200 {
		t.Errorf("%d of %d events: %v", m.Events(), len(w.log), err)
	}
}

// TestRandomCalls does the same with anything at any time, in each variant.
func TestRandomCalls(t *testing.T) {
	for seed := range uint64(40) {
		c := voicenets.Config{Greeting: seed%2 == 0, HalfDuplex: seed%4 < 2, BudgetFrames: 3, ReplyFramesMax: 5}
		if seed%8 < 4 {
			c.Detection = voicenets.ModelVAD
		}
		w := random(t, c, seed, 400)
		m := watch(t, w, claimsOf(t, w.prog, c)...)
		err := m.Append(w.log)
		if err == nil {
			err = m.End()
		}
		var v *monitor.Violation
		if errors.As(err, &v) {
			t.Fatalf("seed %d: %v\n%s", seed, v, v.Story)
		}
	}
}

func random(tb testing.TB, c voicenets.Config, seed uint64, n int) *call {
	w := newCall(tb, c)
	r := rand.New(rand.NewPCG(seed, 1))
	waits := []time.Duration{0, 0, 1, 20 * ms, 20 * ms, 100 * ms, 600 * ms, 3 * time.Second}
	for range n {
		var tok petri.Token
		switch r.IntN(9) {
		case 0, 1:
			tok = voicenets.SpeechEdge.Token(voicenets.Edge(r.IntN(4)))
		case 2:
			tok = voicenets.ModelSignal.Token(voicenets.Signal(r.IntN(3)))
		case 3, 4:
			tok = w.reply()
		case 5:
			tok = voicenets.PeerAck.Token(voicenets.Ack{Gen: w.m.Gen() - min(w.m.Gen(), petri.Gen(r.IntN(2)))})
		case 6:
			tok = voicenets.PeerMute.Token(voicenets.Switch(r.IntN(2)))
		case 7:
			tok = voicenets.Transcript.Token(&voicenets.TranscriptFragment{Who: voicenets.Speaker(r.IntN(2)), Text: "words"})
		default:
			tok = w.frame()
		}
		w.put(waits[r.IntN(len(waits))], tok)
		if w.m.Ended() {
			break
		}
	}
	return w
}

// TestTampered: whatever is changed in a log is found, at that event or soon after it.
func TestTampered(t *testing.T) {
	w := scripted(t)
	at := func(kind petri.EventKind, name string) int {
		i := slices.IndexFunc(w.log, func(e petri.Event) bool {
			return e.Kind == kind && strings.Contains(w.prog.Describe(e), name)
		})
		if i < 0 {
			t.Fatalf("the log has no %v %s", kind, name)
		}
		return i
	}
	remove := func(i int) []petri.Event {
		log := append(slices.Clone(w.log[:i]), w.log[i+1:]...)
		for ; i < len(log); i++ {
			log[i].Seq--
		}
		return log
	}
	edit := func(i int, change func(e *petri.Event)) []petri.Event {
		log := slices.Clone(w.log)
		change(&log[i])
		return log
	}
	shift := func(i int, by time.Duration) []petri.Event {
		log := slices.Clone(w.log)
		for ; i < len(log); i++ {
			log[i].At += by
		}
		return log
	}
	timer := at(petri.Fired, "turns/") // any firing of the turns
	for _, test := range []struct {
		name string
		log  []petri.Event
		want string
	}{
		{"a missing arrival", remove(at(petri.Injected, "speech_edge[start]")), "is not enabled"},
		{"a missing firing", remove(timer), "turns/"},
		{"a missing number", slices.Delete(slices.Clone(w.log), 5, 6), "event 6 is due"},
		{"another transition", edit(timer, func(e *petri.Event) {
			e.Index = (e.Index + 1) % int32(len(w.prog.Transitions()))
		}), ""},
		{"an arrival of another kind", edit(at(petri.Injected, "speech_edge[start]"), func(e *petri.Event) { e.Slot++ }), ""},
		{"an arrival at a private place", edit(at(petri.Injected, "speech_edge"), func(e *petri.Event) {
			e.Index, e.Slot = int32(w.prog.Place("over")), 99
		}), "no tokens of kind 99"},
		{"a firing later", edit(timer, func(e *petri.Event) { e.At += ms }), "fires at once"},
		{"time that stands", shift(at(petri.Injected, "peer_mute"), -20*time.Second), "before"},
		{"time that runs", shift(at(petri.Injected, "model_signal[interrupted]"), time.Hour), "was due at"},
		{"no start", w.log[1:], "event 1 is due"},
		{"after the end", append(slices.Clone(w.log), petri.Event{Seq: uint64(len(w.log)) + 1, At: w.at,
			Kind: petri.Injected}), "the run is over"},
		{"a fault", edit(30, func(e *petri.Event) { e.Kind = petri.Faulted }), "broke an invariant"},
		{"a kind that is none", edit(30, func(e *petri.Event) { e.Kind = 77 }), "kind 77"},
		{"a refusal", edit(at(petri.Injected, "model_audio"), func(e *petri.Event) { e.Kind = petri.Refused }),
			"would have taken it"},
		{"a drop", edit(at(petri.Injected, "caller_audio"), func(e *petri.Event) { e.Kind = petri.Dropped }), "without need"},
		{"a cut", w.log[:timer], "the log ends where"},
		{"no end", w.log[:len(w.log)-1], "the log ends where the final place is marked"},
	} {
		m := watch(t, w)
		err := m.Append(test.log)
		if err == nil {
			err = m.End()
		}
		var v *monitor.Violation
		if !errors.As(err, &v) {
			t.Errorf("%s: not found", test.name)
			continue
		}
		if !strings.Contains(v.Error(), test.want) || !strings.Contains(v.Story, v.Reason) ||
			!strings.Contains(v.Story, "marking: ") {
			t.Errorf("%s: %v\n%s", test.name, v, v.Story)
		}
		if again := m.Append(w.log); again != err {
			t.Errorf("%s: then %v", test.name, again)
		}
	}
}

// TestProperty: a run that breaks a property is a run of the net, and is reported.
func TestProperty(t *testing.T) {
	w := scripted(t)
	p := verify.Never("in_turn")
	p.Name = "nobody speaks"
	m := watch(t, w, verify.DeadlockFree(), p)
	var v *monitor.Violation
	if err := m.Append(w.log); !errors.As(err, &v) || v.Property != p.Name || !strings.Contains(v.Story, "speech_edge") {
		t.Errorf("%v", err)
	}
	if len(m.Watched()) != 1 {
		t.Errorf("watched: %q", m.Watched())
	}
	_, err := monitor.New(w.prog, verify.Never("no_such_place"))
	if err == nil || !strings.Contains(err.Error(), "nearest") {
		t.Errorf("an unknown place: %v", err)
	}
}
