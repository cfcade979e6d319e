package jetstream_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/jetstream"
)

var benchRecord = make([]byte, 400)

func benchEngine(b *testing.B) *jetstream.Engine {
	b.Helper()
	e, err := jetstream.Open(b.Context(), jetstream.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = e.Close() })
	return e
}

// BenchmarkAppend stores records, each of which is awaited, for one writer and for 64, beside publishing to a
// stream with the same settings.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprint("journal/", writers), func(b *testing.B) {
			e := benchEngine(b)
			logs := make([]journal.Writer, writers)
			for g := range logs {
				var err error
				if logs[g], err = e.Open(b.Context(), fmt.Sprint("log/", g), "bench"); err != nil {
					b.Fatal(err)
				}
			}
			spread(b, writers, func(g int) error {
				seq, err := logs[g].Append(benchRecord)
				if err == nil {
					err = logs[g].Await(b.Context(), seq)
				}
				return err
			})
		})
		b.Run(fmt.Sprint("publish/", writers), func(b *testing.B) {
			js := benchServer(b)
			spread(b, writers, func(g int) error {
				_, err := js.Publish(b.Context(), fmt.Sprint("raw.", g), benchRecord)
				return err
			})
		})
	}
}

// benchServer is a server as the engine has it, with one stream.
func benchServer(b *testing.B) natsjs.JetStream {
	b.Helper()
	s, err := server.NewServer(&server.Options{DontListen: true, JetStream: true, StoreDir: b.TempDir(), SyncAlways: true,
		NoSigs: true, NoLog: true})
	if err != nil {
		b.Fatal(err)
	}
	s.Start()
	b.Cleanup(s.Shutdown)
	if !s.ReadyForConnections(10 * time.Second) {
		b.Fatal("the server does not start")
	}
	nc, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(nc.Close)
	js, err := natsjs.New(nc)
	if err == nil {
		_, err = js.CreateStream(b.Context(), natsjs.StreamConfig{Name: "RAW", Subjects: []string{"raw.>"}})
	}
	if err != nil {
		b.Fatal(err)
	}
	return js
}

// spread divides b.N calls among writers.
func spread(b *testing.B, writers int, call func(g int) error) {
	b.Helper()
	b.ResetTimer()
	var work sync.WaitGroup
	for g := range writers {
		work.Go(func() {
			for i := g; i < b.N; i += writers {
				if err := call(g); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkRead reads a log whose messages have a record each, and one whose messages have 100.
func BenchmarkRead(b *testing.B) {
	for _, each := range []int{1, 100} {
		b.Run(fmt.Sprint(each, " in a message"), func(b *testing.B) {
			e := benchEngine(b)
			w, err := e.Open(b.Context(), "log", "bench")
			for i := 1; i <= 2000 && err == nil; i++ {
				var seq uint64
				if seq, err = w.Append(benchRecord); err == nil && i%each == 0 {
					err = w.Await(b.Context(), seq)
				}
			}
			if err != nil {
				b.Fatal(err)
			}
			records := 0
			for b.Loop() {
				for _, err := range e.Read(b.Context(), "log", 1, false) {
					if err != nil {
						b.Fatal(err)
					}
					records++
				}
			}
			b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

// BenchmarkIdle says what a log costs that nobody has open: go test -bench Idle -benchtime 20000x.
func BenchmarkIdle(b *testing.B) {
	e := benchEngine(b)
	before := heap()
	var mu sync.Mutex
	n := 0
	spread(b, 16, func(int) error {
		mu.Lock()
		n++
		log := fmt.Sprint("sessions/", n)
		mu.Unlock()
		w, err := e.Open(b.Context(), log, "bench")
		if err == nil {
			_, err = w.Append(benchRecord)
		}
		if err != nil {
			return err
		}
		return w.Close(context.Background())
	})
	b.ReportMetric(float64(heap()-before)/float64(b.N), "heap-B/log")
	b.ReportMetric(float64(runtime.NumGoroutine()), "goroutines")
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // small
}
