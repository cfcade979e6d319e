package managed

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal/jetstream"
)

// passiveTotal says how many sessions TestPassive makes; default 300. VOICEGW_PASSIVE=100000 takes minutes.
const passiveTotal = "VOICEGW_PASSIVE"

// resident is the memory of the process after a garbage collection, in bytes: what the heap has, and what the
// operating system sees, which is 0 where there is no /proc.
func resident() (heap, rss int64) {
	runtime.GC()
	debug.FreeOSMemory()
	heap = heapNow()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return heap, 0
	}
	pages, _ := strconv.ParseInt(strings.Fields(string(b))[1], 10, 64)
	return heap, pages * int64(os.Getpagesize())
}

// TestPassive begins many sessions that nobody uses. The runtime keeps nothing of them: no entry and no goroutine. It
// logs what the process uses in the end, nearly all of it in the engine, and how long it takes to wake one.
func TestPassive(t *testing.T) {
	total := 300
	if n, err := strconv.Atoi(os.Getenv(passiveTotal)); err == nil {
		total = n
	}
	dir := t.TempDir()
	heap, rss := resident()
	say := func(when string) {
		h, r := resident()
		t.Logf("%s: %d MB resident, %d MB on the heap, so %d and %d B a session", when, r>>20, h>>20,
			(r-rss)/int64(total), (h-heap)/int64(total))
	}
	engine, rt := passive(t, dir)
	heap, rss = resident()
	t.Logf("the runtime and its engine alone: %d MB resident, %d MB on the heap", rss>>20, heap>>20)
	a, err := rt.CreateAgent(t.Context(), ada, Definition{Name: "desk", Model: ModelRef{ID: "script"}})
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, total)
	goroutines, began := runtime.NumGoroutine(), time.Now()
	var work sync.WaitGroup
	for g := range 64 {
		work.Go(func() {
			for i := g; i < total; i += 64 {
				s, err := rt.StartSession(t.Context(), ada, SessionRequest{Agent: a.ID})
				if err != nil {
					t.Error(err)
					return
				}
				ids[i] = s.ID
			}
		})
	}
	work.Wait()
	t.Logf("%d sessions were made in %v", total, time.Since(began).Round(time.Second))
	if n := len(rt.living()); n != 0 {
		t.Errorf("%d of the sessions are in memory", n)
	}
	if n := runtime.NumGoroutine(); n > goroutines+50 {
		t.Errorf("there were %d goroutines, and now %d", goroutines, n)
	}
	say("after making them")
	_ = rt.Close(context.Background())
	_ = engine.Close()
	say("with the engine closed")
	began = time.Now()
	engine, rt = passive(t, dir)
	t.Logf("the engine was open again in %v", time.Since(began).Round(time.Millisecond))
	say("after opening it again")
	var wakes, claims []time.Duration
	order := rand.Perm(total)
	for i := range min(total/2, 1000) {
		began := time.Now()
		err := rt.with(t.Context(), ids[order[2*i]], func(*owned) error { return nil })
		woken := time.Now()
		if err == nil {
			_, err = engine.Open(t.Context(), logKey(ids[order[2*i+1]]), "bench")
		}
		if err != nil {
			t.Fatal(err)
		}
		wakes, claims = append(wakes, woken.Sub(began)), append(claims, time.Since(woken))
	}
	for what, times := range map[string][]time.Duration{"waking a session": wakes, "claiming a log alone": claims} {
		slices.Sort(times)
		t.Logf("%s: median %v, 99th percentile %v", what, times[len(times)/2], times[len(times)*99/100])
	}
	say(fmt.Sprintf("with %d awake", len(rt.living())))
}

// passive opens a directory.
func passive(t *testing.T, dir string) (*jetstream.Engine, *Runtime) {
	t.Helper()
	engine, err := jetstream.Open(t.Context(), jetstream.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	models := provider.NewResolver()
	models.Add("script", func(provider.Ref) (model.LLM, error) { return &provider.Script{}, nil })
	rt, err := New(Config{Journal: engine, Models: models})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rt.Close(context.Background()) })
	return engine, rt
}
