package voicegw_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/transport"
)

// fault is how the writer of a record misbehaves from some moment on.
type fault string

const (
	fails     fault = "fails"      // each write fails
	failsOnce fault = "fails once" // the writer works again after one write that failed half way
	blocks    fault = "blocks"     // a write returns only when the story is over
	stalls    fault = "stalls"     // a write takes 3 s, then the writer works again
	panics    fault = "panics"
)

// badTape is a record whose writer misbehaves.
type badTape struct {
	tape
	fault fault
	at    int // the write that is the first to misbehave; 0: none before spoil

	mu       sync.Mutex
	n        int
	released bool
}

// spoil makes the next write misbehave.
func (b *badTape) spoil() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = b.n + 1
}

// release lets blocked writes return.
func (b *badTape) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.released = true
}

func (b *badTape) free() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.released
}

func (b *badTape) Write(p []byte) (int, error) {
	b.mu.Lock()
	b.n++
	first, bad := b.n == b.at, b.at > 0 && b.n >= b.at
	b.mu.Unlock()
	switch {
	case bad && b.fault == fails:
		return 0, errors.New("disk full")
	case first && b.fault == failsOnce:
		n, _ := b.tape.Write(p[:len(p)/2])
		return n, errors.New("disk full")
	case first && b.fault == stalls:
		time.Sleep(3 * time.Second)
	case bad && b.fault == panics:
		panic("the disk is gone")
	case bad && b.fault == blocks:
		for !b.free() {
			time.Sleep(10 * time.Millisecond)
		}
	}
	return b.tape.Write(p)
}

// lossy is a world whose calls lose their record.
type lossy struct {
	*world
	tape  *badTape
	ended chan voicegw.Record
	logs  *observer.ObservedLogs
}

// losing runs a story for each fault.
func losing(t *testing.T, cfg voicegw.Config, at int, story func(l *lossy)) {
	t.Helper()
	for _, f := range []fault{fails, failsOnce, blocks, stalls, panics} {
		t.Run(string(f), func(t *testing.T) { inLoss(t, plan{gw: cfg}, f, at, story) })
	}
}

func inLoss(t *testing.T, p plan, f fault, at int, story func(l *lossy)) {
	t.Helper()
	l := &lossy{tape: &badTape{fault: f, at: at}}
	p.before = func() { l.ended = make(chan voicegw.Record, 1) }
	core, logs := observer.New(zapcore.WarnLevel)
	p.gw.Log, l.logs = zap.New(core), logs
	p.gw.Archive = func(string) (io.WriteCloser, error) { return l.tape, nil }
	p.gw.Hooks.Ended = func(r voicegw.Record) { l.ended <- r }
	inBubble(t, p, func(w *world) {
		defer l.tape.release()
		l.world = w
		metrics := w.metrics()
		story(l)
		l.check(metrics)
		l.tape.release()
		time.Sleep(5 * time.Second) // for what the writer still does
		l.replayIsRefused()
	})
}

// check wants the loss to be told and counted.
func (l *lossy) check(metrics func(want string, names ...string)) {
	l.t.Helper()
	if r := <-l.ended; !r.ArchiveLost {
		l.t.Errorf("the record of the call does not tell of the loss: %+v", r)
	}
	if n := l.logs.FilterMessage("the archive of the call is incomplete").Len(); n != 1 {
		l.t.Errorf("the loss was logged %d times: %v", n, l.logs.All())
	}
	metrics(`
		# HELP voicegw_archives_lost_total Calls whose archive is incomplete because it could not be written.
		# TYPE voicegw_archives_lost_total counter
		voicegw_archives_lost_total 1
	`, "voicegw_archives_lost_total")
}

// replayIsRefused wants the archive not to look whole: it says that it is incomplete, or does not
// tell of the end of the call.
func (l *lossy) replayIsRefused() {
	l.t.Helper()
	l.tape.tape.mu.Lock()
	data := bytes.Clone(l.tape.buf.Bytes())
	l.tape.tape.mu.Unlock()
	if !l.tape.closed {
		l.t.Error("the writer was not closed")
	}
	r, err := event.NewReader(bytes.NewReader(data))
	if err != nil && l.tape.at == 1 {
		return // not even its header was written
	}
	if err != nil {
		l.t.Fatal(err)
	}
	var last petri.Event
	for err == nil {
		var e petri.Event
		if e, err = r.Next(); err == nil {
			last = e
		}
	}
	works := l.tape.fault == failsOnce || l.tape.fault == stalls || l.tape.fault == blocks
	if works && !errors.Is(err, event.ErrIncomplete) {
		l.t.Errorf("the archive ends with %v; it must say that it is incomplete", err)
	}
	if last.Kind == petri.Ended {
		l.t.Error("the archive tells of the end of the call, as if it were whole")
	}
}

// goesOn wants the call to work: an utterance is answered.
func (l *lossy) goesOn(p *phone) {
	l.t.Helper()
	p.say(speech("hello", 16000))
	reply := p.turn(transport.StateStart)
	p.ended(transport.TurnComplete)
	p.hears(reply.Generation, speech("hello", 24000))
	p.send(transport.Event{Kind: transport.EventBye})
	p.over(transport.ReasonCallerHungUp, "")
}

// endsLost wants the call to end because its record was lost, and everybody to know.
func (l *lossy) endsLost(p *phone) {
	l.t.Helper()
	p.over(transport.ReasonRecordLost, "recorded")
	r := <-l.ended
	if r.Reason != "record_lost" || r.Error == "" {
		l.t.Errorf("the record of the call says %q: %s", r.Reason, r.Error)
	}
	l.ended <- r
}

// TestArchiveLossAllowed: by default a call without consent goes on without its record, whatever
// waited for it.
func TestArchiveLossAllowed(t *testing.T) {
	t.Parallel()
	for _, at := range []int{1, 2, 3, 20, 150} {
		t.Run(fmt.Sprintf("talk %d", at), func(t *testing.T) {
			losing(t, voicegw.Config{}, at, func(l *lossy) {
				p := l.call(hello(), manner{})
				time.Sleep(5 * time.Second)
				l.goesOn(p)
			})
		})
	}
	t.Run("hold", func(t *testing.T) {
		losing(t, voicegw.Config{}, 0, func(l *lossy) {
			p := l.call(hello(), manner{})
			time.Sleep(time.Second)
			l.tape.spoil()
			began := p.now()
			p.send(transport.Event{Kind: transport.EventHold, On: true})
			if h := p.state(transport.MessageHold, transport.StateStart); h.at-began > 2100*time.Millisecond {
				t.Errorf("the caller was told of the hold after %v", h.at-began)
			}
			p.send(transport.Event{Kind: transport.EventHold})
			p.state(transport.MessageHold, transport.StateStop)
			l.goesOn(p)
		})
	})
	t.Run("unhold", func(t *testing.T) {
		losing(t, voicegw.Config{}, 0, func(l *lossy) {
			p := l.call(hello(), manner{})
			p.send(transport.Event{Kind: transport.EventHold, On: true})
			p.state(transport.MessageHold, transport.StateStart)
			l.tape.spoil()
			p.send(transport.Event{Kind: transport.EventHold})
			p.state(transport.MessageHold, transport.StateStop)
			l.goesOn(p)
		})
	})
	t.Run("consent", func(t *testing.T) {
		cfg := voicegw.Config{ArchiveLoss: voicegw.ArchiveLossAllowed}
		cfg.Net.Consent = true
		losing(t, cfg, 0, func(l *lossy) {
			p := l.call(hello(), manner{})
			p.state(transport.MessageConsent, transport.StateStart)
			l.tape.spoil()
			p.send(transport.Event{Kind: transport.EventConsent, On: true})
			p.state(transport.MessageConsent, transport.StateStop)
			l.goesOn(p)
		})
	})
}

// TestArchiveLossEnds: a call that must be recorded ends with the reason when its record is lost,
// and what waited for the record does not happen.
func TestArchiveLossEnds(t *testing.T) {
	t.Parallel()
	for _, at := range []int{1, 2, 3, 20, 150} {
		t.Run(fmt.Sprintf("talk %d", at), func(t *testing.T) {
			losing(t, voicegw.Config{ArchiveLoss: voicegw.ArchiveLossEnds}, at, func(l *lossy) {
				c, tap, err := l.try(hello())
				if err != nil { // lost before the call stood
					r, ok := asRefused(err)
					if !ok || r.Reason != transport.ReasonRecordLost {
						t.Errorf("the call was refused: %v", err)
					}
					return
				}
				l.endsLost(l.phone(c, tap, hello(), manner{}))
			})
		})
	}
	t.Run("hold", func(t *testing.T) {
		losing(t, voicegw.Config{ArchiveLoss: voicegw.ArchiveLossEnds}, 0, func(l *lossy) {
			p := l.call(hello(), manner{})
			time.Sleep(time.Second)
			l.tape.spoil()
			// The call may end before the hold is sent: its record is written at any time.
			_ = p.client.SendEvent(context.Background(), &transport.Event{Kind: transport.EventHold, On: true})
			l.endsLost(p)
		})
	})
	for name, loss := range map[string]voicegw.ArchiveLoss{"consent": voicegw.ArchiveLossDefault,
		"explicit": voicegw.ArchiveLossEnds} {
		t.Run(name, func(t *testing.T) {
			cfg := voicegw.Config{ArchiveLoss: loss}
			cfg.Net.Consent = true
			losing(t, cfg, 0, unrecordedConsent)
		})
	}
}

// unrecordedConsent agrees while the record is lost: nobody listens, because the agreement is not
// on record.
func unrecordedConsent(l *lossy) {
	p := l.call(hello(), manner{})
	p.state(transport.MessageConsent, transport.StateStart)
	time.Sleep(time.Second)
	p.say(speech("long", 16000))
	l.tape.spoil()
	p.send(transport.Event{Kind: transport.EventConsent, On: true})
	l.endsLost(p)
	if n := l.heardOf(); n != 0 {
		l.t.Errorf("the model heard %d samples of a caller whose consent is not on record", n)
	}
	for _, h := range p.all() {
		if h.Kind == transport.MessageConsent && h.State == transport.StateStop {
			l.t.Errorf("the caller was told of a consent that is not on record\n%s", p.story())
		}
	}
}

// TestRecordWait: a slow disk delays what the caller says after a hold until its end is on record,
// and nothing else: the model is dialled again while the caller waits to hear that it was lost.
func TestRecordWait(t *testing.T) {
	t.Parallel()
	t.Run("unhold", func(t *testing.T) {
		inLoss(t, plan{}, blocks, 0, func(l *lossy) {
			p := l.call(hello(), manner{})
			p.send(transport.Event{Kind: transport.EventHold, On: true})
			p.state(transport.MessageHold, transport.StateStart)
			l.tape.spoil()
			p.say(speech("long", 16000))
			p.send(transport.Event{Kind: transport.EventHold})
			time.Sleep(1800 * time.Millisecond)
			if n := l.heardOf(); n != 0 {
				t.Errorf("the model heard %d samples before the end of the hold was on record", n)
			}
			time.Sleep(time.Second)
			if l.heardOf() == 0 {
				t.Error("the model heard nothing after the record was lost")
			}
			p.send(transport.Event{Kind: transport.EventBye})
			p.over(transport.ReasonCallerHungUp, "")
		})
	})
	t.Run("model lost", func(t *testing.T) {
		s, err := sim.ParseScenario("lost", "connection 1\non text 1: drop")
		if err != nil {
			t.Fatal(err)
		}
		inLoss(t, plan{model: sim.Config{Scenario: s}}, blocks, 0, func(l *lossy) {
			p := l.call(hello(), manner{})
			time.Sleep(time.Second)
			l.tape.spoil()
			p.send(transport.Event{Kind: transport.EventText, Text: "Hello?"})
			l.eventually("the model is dialled again", func() bool { return len(l.model.Connections()) == 2 })
			for _, h := range p.all() {
				if h.Kind == transport.MessageModel {
					t.Error("the caller was told before that was on record; the test shows nothing")
				}
			}
			p.state(transport.MessageModel, transport.StateBack)
			p.send(transport.Event{Kind: transport.EventBye})
			p.over(transport.ReasonCallerHungUp, "")
		})
	})
}

// TestRecordOpenBlocks: a call does not wait for Config.Archive, and writers that are blocked are
// limited.
func TestRecordOpenBlocks(t *testing.T) {
	t.Parallel()
	free := make(chan struct{})
	var mu sync.Mutex
	asked := 0
	core, logs := observer.New(zapcore.ErrorLevel)
	cfg := voicegw.Config{CallsMax: 1, Log: zap.New(core), Archive: func(string) (io.WriteCloser, error) {
		mu.Lock()
		asked++
		mu.Unlock()
		<-free
		return nil, errors.New("disk gone")
	}}
	p := plan{gw: cfg, before: func() { free = make(chan struct{}) }}
	inBubble(t, p, func(w *world) {
		defer close(free)
		for range 4 {
			p := w.call(hello(), manner{})
			p.say(speech("hello", 16000))
			p.turn(transport.StateStart)
			p.turn(transport.StateEnd)
			p.send(transport.Event{Kind: transport.EventBye})
			p.over(transport.ReasonCallerHungUp, "")
			w.settled()
		}
		mu.Lock()
		defer mu.Unlock()
		if asked != 2 {
			t.Errorf("Config.Archive was called %d times while it blocked, want 2", asked)
		}
		if n := logs.FilterMessage("the archive of the call is incomplete").Len(); n != 4 {
			t.Errorf("%d losses were logged, want 4", n)
		}
	})
}

// watcher is a store of the integrator's own that never stores anything.
type watcher struct{ err error }

func (watcher) Append([]petri.Event) {}
func (watcher) Stored() uint64       { return 0 }
func (w watcher) Err() error         { return w.err }

// TestWatchFails: a store of the integrator's own that fails, or stores nothing, silences no call:
// it ends the call with the reason, or holds nothing up.
func TestWatchFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		store event.Store
		ends  bool
	}{
		"stores nothing":         {watcher{}, true},
		"fails":                  {watcher{errors.New("database gone")}, true},
		"fails, and is optional": {event.Optional(watcher{errors.New("database gone")}), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := voicegw.Config{Watch: func(string, *petri.Program) event.Store { return test.store }}
			inBubble(t, plan{gw: cfg}, func(w *world) {
				c, tap, err := w.try(hello())
				if r, refused := asRefused(err); refused && test.ends && r.Reason == transport.ReasonRecordLost {
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				p := w.phone(c, tap, hello(), manner{})
				p.send(transport.Event{Kind: transport.EventHold, On: true})
				if test.ends {
					began := p.now()
					p.over(transport.ReasonRecordLost, "recorded")
					if took := p.now() - began; took > 6*time.Second {
						t.Errorf("the call was silent for %v", took)
					}
					return
				}
				p.state(transport.MessageHold, transport.StateStart)
				p.send(transport.Event{Kind: transport.EventBye})
				p.over(transport.ReasonCallerHungUp, "")
			})
		})
	}
}
