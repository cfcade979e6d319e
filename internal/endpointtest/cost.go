//go:build unix

package endpointtest

import (
	"context"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
)

// costCalls is how many calls Cost holds at a time.
const costCalls = 10

// Cost reports what calls take in real time: processor time for a second of a call, goroutines, and
// memory in use. All is in one process and counted: the callers, the gateway and the embedded
// model. place makes a call, whose caller asks a question now and then, and returns what ends it.
func Cost(b *testing.B, place func() (hangUp func()), running func() int) {
	b.Helper()
	goroutines, heap := runtime.NumGoroutine(), inUse()
	for range costCalls {
		defer place()()
	}
	for deadline := time.Now().Add(patience); running() != costCalls; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatalf("endpointtest: %d calls run, want %d", running(), costCalls)
		}
	}
	start, began := processor(b), time.Now()
	for b.Loop() {
		time.Sleep(time.Second)
	}
	took := (processor(b) - start).Seconds() * 1000
	b.ReportMetric(took/costCalls/time.Since(began).Seconds(), "cpu-ms/call-s")
	b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/costCalls, "goroutines/call")
	b.ReportMetric(float64(inUse()-heap)/costCalls/1024, "KiB/call")
}

// Place makes a call for Cost.
func (k Talk) Place(w *World) (hangUp func()) {
	c := w.Dial()
	k.Greet(c)
	ctx, stop := context.WithCancel(context.Background())
	var talking sync.WaitGroup
	talking.Go(func() { k.ask(ctx, c) })
	talking.Go(func() {
		for {
			if _, _, err := c.Read(context.Background()); err != nil {
				return
			}
		}
	})
	return func() {
		stop()
		talking.Wait()
	}
}

// Question is a question and four seconds of silence, at 16 kHz.
func Question() []int16 {
	return append(audiotest.Speech("question").Samples, make([]int16, 4*16000)...)
}

// ask sends the question again and again, in real time.
func (k Talk) ask(ctx context.Context, c *websocket.Conn) {
	typ := websocket.MessageText
	if k.Binary {
		typ = websocket.MessageBinary
	}
	question := Question()
	tick := time.NewTicker(audio.FrameDuration)
	defer tick.Stop()
	for rest := question; ctx.Err() == nil; <-tick.C {
		frame := make([]int16, 320)
		rest = rest[copy(frame, rest):]
		if len(rest) == 0 {
			rest = question
		}
		_ = c.Write(context.Background(), typ, k.Frame(frame))
	}
	_ = c.Close(websocket.StatusNormalClosure, "")
}

// inUse is the memory of the heap in use.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse)
}

// processor is the processor time of this process so far.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
