package rtc_test

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/voicegw/voicegw/transport/rtc"
)

// BenchmarkCall is what calls cost that talk and hear all the time, the client's end and its
// network included: both ends are in this process. A run is a second of ten calls.
func BenchmarkCall(b *testing.B) {
	const calls = 10
	l := newLines()
	w := newStage(b, l, rtc.Config{})
	before, heap := runtime.NumGoroutine(), heapInUse()
	for range calls {
		_, p := w.accept(l, manner{})
		go func() { // ends with the call
			for nextOrEnd(p) {
			}
		}()
	}
	start, began := cpu(b), time.Now()
	for b.Loop() {
		time.Sleep(time.Second)
	}
	b.ReportMetric(float64((cpu(b)-start).Microseconds())/1000/calls/time.Since(began).Seconds(), "cpu-ms/call-s")
	b.ReportMetric(float64(runtime.NumGoroutine()-before)/calls, "goroutines/call")
	b.ReportMetric(float64(heapInUse()-heap)/calls/1024, "KiB/call")
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse)
}

// cpu is the processor time of this process so far.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkConnect is from the request until sound can flow, gathering of the client included.
func BenchmarkConnect(b *testing.B) {
	l := newLines()
	w := newStage(b, l, rtc.Config{})
	total, n := time.Duration(0), 0
	for b.Loop() {
		c, _ := w.accept(l, manner{})
		total += c.joined
		n++
		c.hangUp()
	}
	b.ReportMetric(float64(total.Milliseconds())/float64(n), "connected-ms")
}
