//go:build linux && !race

package voicegw_test

import (
	"context"
	"errors"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
)

// brokenDialer is a model that cannot be reached.
type brokenDialer struct{}

func (brokenDialer) Dial(context.Context, live.Setup) (live.Conn, error) {
	return nil, errors.New("the model is broken")
}

// modelOfNow dials the model of now, so that what a model remembers of its connections goes with it.
type modelOfNow struct{ url atomic.Pointer[string] }

func (m *modelOfNow) Dial(ctx context.Context, setup live.Setup) (live.Conn, error) {
	return live.Wire{BaseURL: *m.url.Load()}.Dial(ctx, setup)
}

// start starts the model of now, of a scenario, and returns what ends it.
func (m *modelOfNow) start(t *testing.T, scenario string) (end func()) {
	t.Helper()
	s, err := sim.ParseScenario("soak", scenario)
	if err != nil {
		t.Fatal(err)
	}
	model, err := sim.New(sim.Config{Greeting: speech("hello", 24000), GreetingText: "Hello there.", Scenario: s})
	if err == nil {
		err = model.Start("127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	url := model.URL()
	m.url.Store(&url)
	return func() { _ = model.Close() }
}

// soakModels are the models of a soak by kind of call: one that works, and those that fail in the greeting.
type soakModels map[int]*modelOfNow

// serve runs the models while do runs.
func (m soakModels) serve(t *testing.T, do func()) {
	t.Helper()
	for kind, scenario := range map[int]string{
		soakHangUp:      "about A model that works.",
		soakModelCut:    "on chunk 3 of reply 1: drop",
		soakModelFails:  "on chunk 3 of reply 1: close 1011 Internal error encountered.",
		soakModelGoes:   "on chunk 3 of reply 1: go_away 100ms",
		soakModelSilent: "on chunk 3 of reply 1: freeze",
	} {
		defer m[kind].start(t, scenario)()
	}
	do()
}

// of is the model of a call's client.
func (m soakModels) of(client string) live.Dialer {
	kind, err := strconv.Atoi(client)
	if err != nil || m[kind] == nil {
		return m[soakHangUp]
	}
	return m[kind]
}

// soak is a gateway that takes many calls.
type soak struct {
	*world
	calls [soakKinds]atomic.Int64 // by kind, those that came up
	lost  atomic.Int64            // connections to models
}

// Kinds of calls of a soak.
const (
	soakHangUp      = iota // hangs up at once
	soakTalk               // says something first
	soakCut                // its connection breaks
	soakSlow               // reads nothing
	soakModelCut           // the connection to its model breaks in the greeting
	soakModelFails         // its model ends with an error
	soakModelGoes          // its model announces its end, and ends
	soakModelSilent        // its model says no more
	soakModel              // its model cannot be reached
	soakKinds
)

// soakListens is how long a call listens to a model that fails: it is dialled anew meanwhile.
const soakListens = 800 * time.Millisecond

// one makes a call.
func (s *soak) one(kind int) {
	var conn net.Conn
	cfg := ws.DialConfig{ReadyTimeout: patience}
	cfg.DialContext = func(ctx context.Context, network, addr string) (c net.Conn, err error) {
		c, err = narrowly(ctx, network, addr)
		conn = c
		return c, err
	}
	h := hello()
	h.Client = strconv.Itoa(kind)
	c, err := ws.Dial(context.Background(), s.url, h, cfg)
	if err != nil {
		return
	}
	defer c.Close()
	s.calls[kind].Add(1)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var m transport.Message
	switch kind {
	case soakTalk:
		for range 25 {
			_ = c.SendAudio(ctx, make([]int16, h.InputRateHz/50))
		}
		_ = c.Recv(ctx, &m)
	case soakCut:
		_ = conn.Close()
	case soakSlow:
		for range 5 {
			_ = c.SendAudio(ctx, make([]int16, h.InputRateHz/50))
		}
	case soakModel:
		_ = c.Recv(ctx, &m)
	case soakModelCut, soakModelFails, soakModelGoes, soakModelSilent:
		listens, stop := context.WithTimeout(ctx, soakListens)
		defer stop()
		for c.Recv(listens, &m) == nil {
		}
	}
}

// long makes a call that speaks now and then and listens, until ctx is done. It keeps nothing of what it hears.
func (s *soak) long(ctx context.Context, running *sync.WaitGroup) {
	s.t.Helper()
	h := hello()
	c, err := ws.Dial(ctx, s.url, h, ws.DialConfig{ReadyTimeout: patience})
	if err != nil {
		s.t.Fatal(err)
	}
	running.Go(func() {
		defer c.Close()
		for m := (transport.Message{}); c.Recv(ctx, &m) == nil; m = (transport.Message{}) {
		}
	})
	running.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		said := speech("over", h.InputRateHz)
		for at := 0; ctx.Err() == nil; at = (at + h.InputRateHz/50) % (len(said) - h.InputRateHz/50) {
			_ = c.SendAudio(ctx, said[at:at+h.InputRateHz/50])
			<-tick.C
		}
	})
}

// round makes n calls, 16 at a time.
func (s *soak) round(n int) {
	kinds := make(chan int)
	var callers sync.WaitGroup
	for range 16 {
		callers.Go(func() {
			for kind := range kinds {
				s.one(kind)
			}
		})
	}
	for i := range n {
		kinds <- i % soakKinds
	}
	close(kinds)
	callers.Wait()
}

// footprint is what a process holds.
type footprint struct {
	heap              int64 // bytes
	goroutines, files int
}

func (w *world) footprint() (f footprint) {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		w.t.Fatal(err)
	}
	return footprint{int64(m.HeapAlloc), runtime.NumGoroutine(), len(list)}
}

// TestSoak makes many short calls with faults beside long ones. When they are over, memory, goroutines and descriptors
// are what they were. VOICEGW_SOAK_CALLS is that of `make soak`. It runs beside no other test of the package.
func TestSoak(t *testing.T) {
	const heapGrowthMax = 4 << 20
	n, err := strconv.Atoi(os.Getenv("VOICEGW_SOAK_CALLS"))
	if err != nil {
		n = 150
	}
	model := soakModels{soakHangUp: {}, soakModelCut: {}, soakModelFails: {}, soakModelGoes: {}, soakModelSilent: {}}
	p := plan{gw: voicegw.Config{Greeting: greetCaller}}
	p.gw.Hooks.Begin = func(_ context.Context, h *transport.Hello) (*voicegw.Plan, error) {
		if h.Client == strconv.Itoa(soakModel) {
			return &voicegw.Plan{Dialer: brokenDialer{}}, nil
		}
		return &voicegw.Plan{Dialer: model.of(h.Client)}, nil
	}
	p.gw.Dialer = model[soakHangUp]
	s := &soak{}
	p.gw.Hooks.Ended = func(r voicegw.Record) { s.lost.Add(int64(r.LinksLost)) }
	s.world = onLoopback(t, p)
	idle := func() bool { return s.gw.Calls() == 0 }
	model.serve(t, func() {
		s.round(5 * soakKinds)
		s.eventually("the first calls end", idle)
	})
	before, began, during := s.footprint(), time.Now(), 0
	model.serve(t, func() {
		var long sync.WaitGroup
		hangUp, done := context.WithCancel(context.Background())
		for range 4 {
			s.long(hangUp, &long)
		}
		during = s.gw.Calls()
		s.round(n)
		done()
		long.Wait()
		s.eventually("all calls end", idle)
	})
	var after footprint
	s.eventually("goroutines and descriptors are as before", func() bool {
		after = s.footprint()
		return after.goroutines <= before.goroutines && after.files <= before.files
	})
	t.Logf("%d calls beside %d long ones in %v; %d connections to models were lost", n, during,
		time.Since(began).Round(time.Second), s.lost.Load())
	t.Logf("heap: %d KiB before, %d KiB after; goroutines: %d and %d; descriptors: %d and %d", before.heap>>10,
		after.heap>>10, before.goroutines, after.goroutines, before.files, after.files)
	if growth := after.heap - before.heap; growth > heapGrowthMax {
		t.Errorf("%d KiB are left of the calls, more than %d KiB", growth>>10, heapGrowthMax>>10)
	}
	for kind := range soakModel {
		if s.calls[kind].Load() == 0 {
			t.Errorf("no call of kind %d came up", kind)
		}
	}
	if lost := s.lost.Load(); lost < int64(n/soakKinds) {
		t.Errorf("%d connections to models were lost in calls with models that fail", lost)
	}
}
