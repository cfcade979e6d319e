package managed

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/jetstream"
)

// bench is a runtime with an agent that answers any message, on an embedded JetStream that syncs every write.
type bench struct {
	*testing.B
	engine journal.Engine
	cfg    Config
	rt     *Runtime
	agent  string
}

func newBench(b *testing.B) *bench {
	b.Helper()
	engine, err := jetstream.Open(b.Context(), jetstream.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = engine.Close() })
	return newBenchOn(b, engine)
}

func newBenchOn(b *testing.B, engine journal.Engine) *bench {
	b.Helper()
	models := provider.NewResolver()
	script := &provider.Script{Repeat: true, Turns: []provider.ScriptTurn{says("Hello. How can I help you today?")}}
	models.Add("script", func(provider.Ref) (model.LLM, error) { return script, nil })
	k := &bench{B: b, engine: engine, cfg: Config{Journal: engine, Models: models}}
	k.open()
	b.Cleanup(func() { _ = k.rt.Close(context.Background()) })
	a, err := k.rt.CreateAgent(b.Context(), ada, Definition{Name: "desk", Model: ModelRef{ID: "script"}})
	if err != nil {
		b.Fatal(err)
	}
	k.agent = a.ID
	return k
}

// open starts a runtime in place of the one before.
func (k *bench) open() {
	k.Helper()
	if k.rt != nil {
		_ = k.rt.Close(context.Background())
	}
	rt, err := New(k.cfg)
	if err != nil {
		k.Fatal(err)
	}
	k.rt = rt
}

// start begins sessions, some at a time.
func (k *bench) start(n int) []string {
	k.Helper()
	ids := make([]string, n)
	k.each(n, func(i int) error {
		s, err := k.rt.StartSession(k.Context(), ada, SessionRequest{Agent: k.agent})
		if err == nil {
			ids[i] = s.ID
		}
		return err
	})
	return ids
}

// each calls do for every number below n, 64 at a time.
func (k *bench) each(n int, do func(i int) error) {
	k.Helper()
	var work sync.WaitGroup
	for g := range min(n, 64) {
		work.Go(func() {
			for i := g; i < n; i += 64 {
				if err := do(i); err != nil {
					k.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
}

// turn sends a message and waits for the end of its turn.
func (k *bench) turn(id string) error {
	if _, err := k.rt.Send(k.Context(), ada, id, Once{}, Text("Where is my order?")); err != nil {
		return err
	}
	return k.rests(id)
}

// quantiles reports the median and the 99th percentile of times. It returns the latter.
func (k *bench) quantiles(what string, times []time.Duration) time.Duration {
	slices.Sort(times)
	p99 := times[len(times)*99/100]
	k.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1e6, what+"-p50-ms")
	k.ReportMetric(float64(p99.Nanoseconds())/1e6, what+"-p99-ms")
	return p99
}

// processorTime is what the process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSend compares a Send with appending a record of the same size to the journal, in turn. The session
// rests before each. Both are confirmed when they are synced.
func BenchmarkSend(b *testing.B) {
	k := newBench(b)
	id := k.start(1)[0]
	w, err := k.engine.Open(b.Context(), "bench", "bench")
	if err == nil {
		err = k.turn(id)
	}
	if err != nil {
		b.Fatal(err)
	}
	size := 0
	for rec, err := range k.engine.Read(b.Context(), logKey(id), 1, false) {
		if one, derr := decodeRecord(rec); err == nil && derr == nil && one.Kind == recordInput {
			size = len(rec.Data)
		}
	}
	record := make([]byte, size)
	var sends, appends []time.Duration
	for b.Loop() {
		began := time.Now()
		seq, err := w.Append(record)
		if err == nil {
			err = w.Await(b.Context(), seq)
		}
		appended := time.Now()
		if err != nil {
			b.Fatal(err)
		}
		_, err = k.rt.Send(b.Context(), ada, id, Once{}, Text("Where is my order?"))
		sends, appends = append(sends, time.Since(appended)), append(appends, appended.Sub(began))
		if err == nil {
			err = k.rests(id)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(k.quantiles("send", sends))/float64(k.quantiles("append", appends)), "p99-ratio")
	b.ReportMetric(float64(size), "record-B")
}

// send sends a message, again and again if too many wait.
func (k *bench) send(id string) error {
	for {
		_, err := k.rt.Send(k.Context(), ada, id, Once{}, Text("Where is my order?"))
		if CodeOf(err) != TooMany {
			return err
		}
		runtime.Gosched()
	}
}

// rests waits until a session that is in memory rests.
func (k *bench) rests(id string) error {
	return k.rt.with(k.Context(), id, func(o *owned) error {
		for !o.resting() {
			time.Sleep(time.Millisecond)
		}
		return nil
	})
}

// BenchmarkSessions gives messages to 1,000 sessions that are in memory, 64 at a time. An operation is a turn, of 8
// events and 7 records.
func BenchmarkSessions(b *testing.B) {
	const sessions = 1000
	k := newBench(b)
	ids := k.start(sessions)
	before, goroutines := heapNow(), runtime.NumGoroutine()
	k.each(sessions, func(i int) error { return k.send(ids[i]) })
	k.each(sessions, func(i int) error { return k.rests(ids[i]) })
	heap, goroutines := heapNow()-before, runtime.NumGoroutine()-goroutines
	b.ResetTimer()
	used := processorTime()
	k.each(b.N, func(i int) error { return k.send(ids[i%sessions]) })
	k.each(sessions, func(i int) error { return k.rests(ids[i]) })
	b.StopTimer()
	b.ReportMetric(float64(heap)/sessions, "heap-B/session")
	b.ReportMetric(float64(goroutines)/sessions, "goroutines/session")
	b.ReportMetric(float64(b.N)*8/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64((processorTime()-used).Microseconds())/float64(b.N*8), "processor-us/event")
}

func heapNow() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // small
}

// BenchmarkStream says how long after a Send has returned a live reader has its event.
func BenchmarkStream(b *testing.B) {
	k := newBench(b)
	id := k.start(1)[0]
	if err := k.turn(id); err != nil {
		b.Fatal(err)
	}
	seen := make(chan time.Time, 1)
	ctx, cancel := context.WithCancel(b.Context())
	var reader sync.WaitGroup
	reader.Go(func() {
		for ev, err := range k.rt.Events(ctx, ada, id, 9, true) {
			if err != nil {
				return
			}
			if ev.Type == UserMessage && ev.ProcessedAt == nil {
				seen <- time.Now()
			}
		}
	})
	var times []time.Duration
	for b.Loop() {
		_, err := k.rt.Send(b.Context(), ada, id, Once{}, Text("Where is my order?"))
		stored := time.Now()
		if err != nil {
			b.Fatal(err)
		}
		times = append(times, max(0, (<-seen).Sub(stored)))
		if err := k.rests(id); err != nil {
			b.Fatal(err)
		}
	}
	cancel()
	reader.Wait()
	k.quantiles("stream", times)
}

// BenchmarkResume opens a session with 10,000 events, with and without a snapshot.
func BenchmarkResume(b *testing.B) {
	k := newBench(b)
	id := k.start(1)[0]
	for range 1250 {
		if err := k.turn(id); err != nil {
			b.Fatal(err)
		}
	}
	resume := func(b *testing.B) {
		for b.Loop() {
			k.open()
			if err := k.rt.with(b.Context(), id, func(*owned) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("snapshot", resume)
	k.cfg.Limits.snapshot = 1_000_000
	k.open()
	if err := k.rt.removeSnapshot(b.Context(), id); err != nil {
		b.Fatal(err)
	}
	b.Run("log", resume)
	if s, err := k.rt.Session(b.Context(), ada, id); err != nil || s.LastSeq != 10_000 {
		b.Fatalf("the session is %+v, %v", s, err)
	}
}
