package simulate

import (
	"fmt"
	"iter"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// summary counts what was simulated, over all worlds.
type summary struct {
	began   time.Time
	first   uint64 // seed that is not one of knownSeeds
	planned int

	calls, worlds, failed atomic.Int64
	events, asked, voided atomic.Int64 // voided: questions that began no turn
	called, replied       atomic.Int64 // functions
	samples, sent         atomic.Int64 // of the callers', and items, that went to the models

	talked atomic.Int64 // ns of calls

	mu       sync.Mutex
	slowest  time.Duration // of all worlds
	slowSeed uint64
}

func newSummary(first uint64) *summary { return &summary{began: time.Now(), first: first} }

// report logs the summary.
func (s *summary) report(t *testing.T) {
	took := time.Since(s.began)
	calls := s.calls.Load()
	t.Logf("%d calls in %d worlds from seed %d, %d of them wrong; %v of talk in %v: %.0f calls a minute", calls,
		s.worlds.Load(), s.first, s.failed.Load(), time.Duration(s.talked.Load()).Round(time.Second),
		took.Round(time.Millisecond), float64(calls)/took.Minutes())
	t.Logf("the slowest seed was %d with %v", s.slowSeed, s.slowest.Round(time.Millisecond))
	t.Logf("%d events were right; %d questions, %d of them at a closed gate; %v of speech went up; "+
		"%d functions were called and %d answered", s.events.Load(), s.asked.Load(), s.voided.Load(),
		time.Duration(s.samples.Load())*time.Second/16000, s.called.Load(), s.replied.Load())
}

// add counts a call that is over.
func (s *summary) add(c *caller) {
	s.calls.Add(1)
	s.talked.Add(int64(c.record.Duration))
	s.samples.Add(int64(c.mic.heard))
	s.called.Add(int64(c.model.called))
	s.replied.Add(int64(c.model.replied))
}

// slow keeps the world that took longest.
func (s *summary) slow(seed uint64, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if took > s.slowest {
		s.slowest, s.slowSeed = took, seed
	}
}

// simulate runs the worlds of the seeds, as many at a time as there are processors.
func (s *summary) simulate(t *testing.T, all *sounds, seeds iter.Seq[uint64]) {
	plans := make(chan *worldPlan)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for p := range plans {
				s.world(t, p, all)
			}
		})
	}
	for seed := range seeds {
		p := newWorldPlan(seed, all)
		if s.planned += len(p.calls); s.planned/progressEvery > (s.planned-len(p.calls))/progressEvery {
			fmt.Fprintf(os.Stderr, "%d calls are over, %d worlds were wrong, after %v\n", s.calls.Load(), s.failed.Load(),
				time.Since(s.began).Round(time.Second))
		}
		plans <- p
	}
	close(plans)
	workers.Wait()
}

// progressEvery is after how many calls the progress is printed.
const progressEvery = 500

// stuckMax is how long a world may take in real time: many times what any does. A world that takes
// longer is stuck where no virtual time passes.
const stuckMax = 5 * time.Minute

// world runs a world.
func (s *summary) world(t *testing.T, p *worldPlan, all *sounds) {
	t.Run(fmt.Sprintf("seed=%d", p.seed), func(t *testing.T) {
		w := &world{t: t, plan: p, sounds: all, summary: s, traces: map[string]*trace{},
			proved: map[*petri.Program][]*verify.Property{}, inputs: map[*petri.Program]map[string]bool{}}
		began := time.Now()
		stuck := time.AfterFunc(stuckMax, func() {
			debug.SetTraceback("all")
			panic(fmt.Sprintf("seed %d is stuck; again: make sim SEED=%d CALLS=1", p.seed, p.seed))
		})
		synctest.Test(t, func(t *testing.T) { w.run() })
		stuck.Stop()
		if p.seed%memoryEvery == 0 {
			w.judgeMemory()
		}
		s.worlds.Add(1)
		s.slow(p.seed, time.Since(began))
		w.judge()
		w.report()
	})
}

// memoryEvery is of how many worlds one is judged by judgeMemory.
const memoryEvery = 4
