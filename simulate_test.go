//go:build !race

package voicegw_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws/wstest"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/monitor"
)

// TestSimulate runs whole calls at random, several in one gateway, and holds
// them to the proofs and to what callers may expect: see docs/development.md.
// VOICEGW_SIM_SEED and VOICEGW_SIM_CALLS are those of `make sim`; without them
// a fixed set runs, and a few more.
func TestSimulate(t *testing.T) {
	t.Parallel()
	const fresh = 4 // worlds
	calls, _ := strconv.Atoi(os.Getenv("VOICEGW_SIM_CALLS"))
	seed, err := strconv.ParseUint(os.Getenv("VOICEGW_SIM_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64N(1e9)
	}
	sums := newSimSums(seed)
	snd := newSimSounds()
	if calls > 0 {
		before := simHeap()
		sums.simulate(t, snd, func(yield func(uint64) bool) {
			for ; sums.planned < calls && yield(seed); seed++ {
			}
		})
		left := simHeap() - before
		t.Logf("%d KiB are left of the calls", left>>10)
		if left > simLeftMax {
			t.Errorf("that is more than %d KiB", simLeftMax>>10)
		}
	} else {
		sums.simulate(t, snd, func(yield func(uint64) bool) {
			for _, known := range simKnown {
				if !yield(known) {
					return
				}
			}
			for i := range uint64(fresh) {
				if !yield(seed + i) {
					return
				}
			}
		})
	}
	sums.report(t)
}

// simLeftMax is the most memory that may be left of all calls together.
const simLeftMax = 4 << 20

// simHeap is the memory in use, in bytes.
func simHeap() int64 {
	runtime.GC()
	runtime.GC() // what finalizers held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// simKnown are the seeds that always run: some of every kind, and those that found something.
var simKnown = []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
	1000174, 2000029, 2000562, // storms of dials; a late answer to a clear
	2000514, 2000543, // frames that waited when a connection ended
	2000126, 2000733, // what the simulation itself had wrong
	5013,      // what typed text left of a reply
	19732164,  // a timer that kept a call
	582829595, // a function that worked on while the peer heard the last of its call
}

// simSums counts what was simulated.
type simSums struct {
	began   time.Time
	first   uint64 // seed that is not one of simKnown
	planned int

	calls, events, asked, voided, heard, worlds, failed, called, replied, sent atomic.Int64

	talked atomic.Int64 // ns of calls

	mu       sync.Mutex
	slowest  time.Duration // of all worlds
	slowSeed uint64
}

func newSimSums(first uint64) *simSums { return &simSums{began: time.Now(), first: first} }

func (s *simSums) report(t *testing.T) {
	took := time.Since(s.began)
	calls := s.calls.Load()
	t.Logf("%d calls in %d worlds from seed %d, %d of them wrong; %v of talk in %v: %.0f calls a minute", calls,
		s.worlds.Load(), s.first, s.failed.Load(), time.Duration(s.talked.Load()).Round(time.Second),
		took.Round(time.Millisecond), float64(calls)/took.Minutes())
	t.Logf("the slowest seed was %d with %v", s.slowSeed, s.slowest.Round(time.Millisecond))
	t.Logf("%d events were right; %d questions, %d of them before deaf ears; %v of speech went up; "+
		"%d functions were called and %d answered", s.events.Load(), s.asked.Load(), s.voided.Load(),
		time.Duration(s.heard.Load())*time.Second/16000, s.called.Load(), s.replied.Load())
}

// slow notes the world that took longest.
func (s *simSums) slow(seed uint64, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if took > s.slowest {
		s.slowest, s.slowSeed = took, seed
	}
}

// simulate runs the worlds of the seeds, as many at a time as there are processors.
func (s *simSums) simulate(t *testing.T, snd *simSounds, seeds iter.Seq[uint64]) {
	plans := make(chan *simPlan)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for p := range plans {
				s.world(t, p, snd)
			}
		})
	}
	for seed := range seeds {
		p := newSimPlan(seed, snd)
		if s.planned += len(p.calls); s.planned/simTold > (s.planned-len(p.calls))/simTold {
			fmt.Fprintf(os.Stderr, "%d calls are over, %d worlds were wrong, after %v\n", s.calls.Load(), s.failed.Load(),
				time.Since(s.began).Round(time.Second))
		}
		plans <- p
	}
	close(plans)
	workers.Wait()
}

// simTold is after how many calls something is said about them.
const simTold = 500

// simStuckMax is the longest that a world may take: many times what any does. Then it is stuck where no time passes.
const simStuckMax = 5 * time.Minute

// world runs a world.
func (s *simSums) world(t *testing.T, p *simPlan, snd *simSounds) {
	t.Run(fmt.Sprintf("seed=%d", p.seed), func(t *testing.T) {
		w := &simWorld{t: t, plan: p, snd: snd, sums: s, seen: map[string]*simSeen{},
			watched: map[*petri.Program][]*verify.Property{}, admitted: map[*petri.Program]map[string]bool{}}
		began := time.Now()
		stuck := time.AfterFunc(simStuckMax, func() {
			debug.SetTraceback("all")
			panic(fmt.Sprintf("seed %d is stuck; again: make sim SEED=%d CALLS=1", p.seed, p.seed))
		})
		synctest.Test(t, func(t *testing.T) { w.run() })
		stuck.Stop()
		if p.seed%simMemoryEvery == 0 {
			w.judgeMemory()
		}
		s.worlds.Add(1)
		s.slow(p.seed, time.Since(began))
		w.tell()
	})
}

// simMemoryEvery is after how many worlds one is asked what it keeps.
const simMemoryEvery = 4

// simWorld is a gateway and those who call it.
type simWorld struct {
	t       *testing.T
	plan    *simPlan
	snd     *simSounds
	sums    *simSums
	callers []*simCaller
	log     *simLog
	gw      *voicegw.Gateway

	mu       sync.Mutex
	sessions []simSession
	seen     map[string]*simSeen // by the call's id
	records  []voicegw.Record
	watched  map[*petri.Program][]*verify.Property
	admitted map[*petri.Program]map[string]bool
	wrongs   []string
}

// simSeen is what was seen of the net of a call.
type simSeen struct {
	prog    *petri.Program
	monitor *monitor.Monitor
	tape    bytes.Buffer // the archive
	ledger  simLedger
	ends    simEnds
	private simPrivate

	admitted map[string]bool // what may be injected
	foreign  string          // what was, and may not
	turns    []time.Time     // when a turn of the caller's began

	taped  bool
	opens  []bool // by transition: it begins a turn of the caller's
	broken *monitor.Violation
	stored uint64
}

// Append follows events. It is called by the net's loop.
func (s *simSeen) Append(events []petri.Event) {
	if s.monitor != nil && s.broken == nil {
		var v *monitor.Violation
		if errors.As(s.monitor.Append(events), &v) {
			s.broken = v
		}
	}
	for _, e := range events {
		if s.broken == nil {
			s.ledger.note(e)
			s.ends.note(e)
			s.private.note(e)
			if e.Kind == petri.Injected {
				if what := s.prog.Places()[e.Index].SlotName(int(e.Slot)); !s.admitted[what] {
					s.foreign = what
				}
			}
			if e.Kind == petri.Fired && s.opens[e.Index] {
				s.turns = append(s.turns, time.Now())
			}
		}
		atomic.StoreUint64(&s.stored, e.Seq)
	}
}

func (s *simSeen) Stored() uint64 { return atomic.LoadUint64(&s.stored) }

// simSounds are what callers say, and prompts.
type simSounds struct {
	words  map[simWord][]int16
	prompt []int16 // below zero, unlike what a model says
}

type simWord struct {
	word string
	rate int
}

func newSimSounds() *simSounds {
	s := &simSounds{words: map[simWord][]int16{}, prompt: make([]int16, 24*2000)}
	for _, name := range audiotest.SpeechNames() {
		for _, rate := range []int{24000, 16000, 8000} {
			s.words[simWord{name, rate}] = speech(name, rate)
		}
	}
	for _, rate := range []int{16000, 8000} {
		s.words[simWord{"short", rate}] = speech("hello", rate)[:rate*3/10]
	}
	for i := range s.prompt {
		s.prompt[i] = -7
	}
	return s
}

// run runs the world, in a bubble.
func (w *simWorld) run() {
	w.log = newSimLog()
	cfg := w.plan.gw
	cfg.Log = zap.New(w.log)
	cfg.Dialer = live.Wire{BaseURL: "ws://nobody"} // each call has its own
	cfg.Watch, cfg.Record = w.watch, w.tape
	cfg.Hooks = voicegw.Hooks{Begin: w.begin, Running: w.running, Ended: w.ended}
	for _, p := range w.plan.calls {
		s := newSimCaller(p, w.snd)
		s.model.greeting = w.plan.gw.Greeting
		w.callers = append(w.callers, s)
	}
	gw, err := voicegw.New(cfg)
	if err != nil {
		w.wrong("no gateway: %v", err)
		return
	}
	w.gw = gw
	var going sync.WaitGroup
	for i, s := range w.callers {
		going.Go(func() {
			time.Sleep(s.plan.after)
			w.call(gw, s, newChance(w.plan.seed, uint64(i)+1000))
		})
	}
	if w.plan.closes > 0 {
		time.Sleep(w.plan.closes)
		began := time.Now()
		_ = gw.Close()
		if took := time.Since(began); took > simCloseMax {
			w.wrong("Close took %v", took)
		}
	}
	going.Wait()
	w.judgeGoroutines()
	w.forgets()
	_ = gw.Close()
	if n := gw.Calls(); n != 0 {
		w.wrong("%d calls are left", n)
	}
}

// simCloseMax is the longest that closing a gateway may take: that of a call, and of a function that does not look at
// its context.
const simCloseMax = simEndMax + simWriteTimeout + toolDeaf

// call makes one call, with a model of its own.
func (w *simWorld) call(gw *voicegw.Gateway, s *simCaller, c chance) {
	s.plan.model.Greeting, s.plan.model.GreetingText = w.snd.words[simWord{"over", 24000}], "Hello there."
	model, err := sim.New(s.plan.model)
	if err != nil {
		w.wrong("no model: %v", err)
		return
	}
	back := wstest.New()
	stop := serve(back, model)
	s.model.Dialer = live.Wire{BaseURL: "ws://model",
		HTTPClient: &http.Client{Transport: &http.Transport{DialContext: back.Dial, DisableKeepAlives: true}}}
	s.line.began, s.model.box = time.Now(), w.plan.box
	if len(w.plan.gw.Tools) > 0 || w.plan.gw.Net.ToolSlots > 0 {
		s.model.patience = w.plan.gw.Net.ToolTimeout + time.Second
		if s.plan.manner.deaf > 0 { // it takes a while to leave
			s.model.patience += simEndMax + simWriteTimeout
		}
	}
	s.calls(gw, c)
	_ = model.Close()
	stop()
}

func (w *simWorld) wrong(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrongs = append(w.wrongs, fmt.Sprintf(format, args...))
}

// begin gives a call its model.
func (w *simWorld) begin(_ context.Context, h *transport.Hello) (*voicegw.Plan, error) {
	n, err := strconv.Atoi(h.Params["n"])
	if err != nil {
		return nil, err
	}
	return &voicegw.Plan{Dialer: w.callers[n].model, Labels: h.Params}, nil
}

func (w *simWorld) running(s *voicegw.Session) {
	n, _ := strconv.Atoi(s.Hello().Params["n"])
	w.keeps(n, s)
	w.callers[n].session <- s
}

func (w *simWorld) ended(r voicegw.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.records = append(w.records, r)
}

// watch follows the net of a call.
func (w *simWorld) watch(call string, prog *petri.Program) event.Store {
	s := &simSeen{prog: prog, ledger: newSimLedger(prog), ends: newSimEnds(prog), private: newSimPrivate(prog),
		opens: make([]bool, len(prog.Transitions()))}
	for i, t := range prog.Transitions() {
		s.opens[i] = strings.HasPrefix(t.Name, "turns/") && slices.ContainsFunc(
			[]string{"start_turn", "cut_in_before_reply", "cut_in_for_reply", "barge_in"},
			func(name string) bool { return strings.Contains(t.Name, name) })
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var err error
	if s.monitor, err = monitor.New(prog, w.properties(prog)...); err != nil {
		w.wrongs = append(w.wrongs, fmt.Sprintf("no monitor: %v", err))
	} else if n := len(s.monitor.Watched()); n < simWatched {
		w.wrongs = append(w.wrongs, fmt.Sprintf("a monitor sees too little: %d properties", n))
	}
	s.admitted = w.admitted[prog]
	w.seen[call] = s
	return s
}

// tape records every eighth world.
func (w *simWorld) tape(call string) (io.WriteCloser, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.plan.seed%8 != 0 || w.seen[call] == nil {
		return nopTape{io.Discard}, nil
	}
	w.seen[call].taped = true
	return nopTape{&w.seen[call].tape}, nil
}

type nopTape struct{ io.Writer }

func (nopTape) Close() error { return nil }
