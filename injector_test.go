package voicegw

import (
	"errors"
	"testing"
	"testing/synctest"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/runner"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// TestInputWithoutPart: an input that the net of a call has no part for is logged once, and the call
// goes on.
func TestInputWithoutPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.InfoLevel)
		p, m := newFarEnd(), newMind()
		wait := run(t, Config{Log: zap.New(core)}, p, m) // without Net.Consent
		<-p.ready
		for range 3 {
			p.events <- transport.Event{Kind: transport.EventConsent, On: true}
		}
		synctest.Wait()
		found := logs.FilterField(zap.String("place", "consent")).Len()
		if found != 1 {
			t.Errorf("three inputs without a part were logged %d times, want once", found)
		}
		p.events <- bye()
		if err := wait(); err != nil || p.reason != transport.ReasonCallerHungUp {
			t.Errorf("the call ended by %s: %v", p.reason, err)
		}
	})
}

// TestEndWithoutPart: a net that does not take the end of a call is stopped, and the call ends by a
// fault. Before, it went on.
func TestEndWithoutPart(t *testing.T) {
	const in petri.Place[petri.Unit] = "in"
	prog, err := petri.Compile(&petri.Net{Name: "deaf", Env: []petri.Env{{Place: in, Capacity: 1}},
		Transitions: []petri.Transition{{Name: "take", In: petri.Arcs{in}}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, end := range map[string]func(*ender, *injector){
		"asked later":  func(e *ender, in *injector) { e.attach(in); e.askFor(voicenets.Done) },
		"asked before": func(e *ender, in *injector) { e.askFor(voicenets.Done); e.attach(in) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net, err := runner.Start(prog, runner.Config{})
				if err != nil {
					t.Fatal(err)
				}
				e := newEnder(func() {})
				end(e, &injector{net: net})
				synctest.Wait()
				select {
				case <-net.Done():
				default:
					t.Error("the net goes on")
					net.Stop()
				}
				e.mu.Lock()
				decided := e.decided
				e.mu.Unlock()
				if decided == nil || decided.reason != transport.ReasonInternal || !errors.Is(decided.err, petri.ErrPlace) {
					t.Errorf("the call ends by %+v, want %s", decided, transport.ReasonInternal)
				}
			})
		})
	}
}

// TestBadScheduling: a result with an unknown scheduling counts with that of its tool, and the log
// says so.
func TestBadScheduling(t *testing.T) {
	for scheduling, want := range map[string]struct {
		kind   live.Scheduling
		logged int
	}{"": {}, "SILENT": {kind: live.ScheduleSilent}, "SOON": {logged: 1}} {
		core, logs := observer.New(zap.WarnLevel)
		tools, answer := newToolCalls(nil), make(chan toolAnswer, 1)
		tools.log, tools.answers["1"] = zap.New(core), answer
		if !tools.answered(&transport.Event{Kind: transport.EventToolResult, ID: "1", Text: "1", Scheduling: scheduling}) {
			t.Errorf("a result with the scheduling %q is for no tool call", scheduling)
		}
		if a := <-answer; a.scheduling != want.kind || string(a.output) != "1" {
			t.Errorf("%q gives the answer %+v", scheduling, a)
		}
		if n := logs.FilterField(zap.String("scheduling", scheduling)).Len(); n != want.logged {
			t.Errorf("%q was logged %d times, want %d", scheduling, n, want.logged)
		}
	}
}
