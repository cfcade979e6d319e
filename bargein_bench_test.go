package voicegw

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
)

// BenchmarkBargeIn measures what the net proves of V4 in calls that run: 40 callers at a time speak
// over a reply, and the frame by which the detector hears that is answered by a clear in the same
// instant of the net. It reports how long that was in the world, from the frame handed over to the
// clear received, beside how late the nets say they are.
func BenchmarkBargeIn(b *testing.B) {
	const calls = 40
	for b.Loop() {
		minds := switchboard{}
		var late atomic.Int64 // the most
		g, err := New(Config{Dialer: minds, Lateness: func(d time.Duration) {
			for old := late.Load(); int64(d) > old && !late.CompareAndSwap(old, int64(d)); old = late.Load() {
			}
		}})
		if err != nil {
			b.Fatal(err)
		}
		var all sync.WaitGroup
		list := make([]*interrupter, calls)
		for i := range list {
			k := &interrupter{peer: newFarEnd(), model: newMind(), over: make(chan struct{})}
			k.peer.hello.Language = fmt.Sprintf("en-%04d", i)
			k.peer.onSend, k.peer.onPlay = k.told, k.played
			minds[k.peer.hello.Language], list[i] = k.model, k
		}
		for _, k := range list {
			all.Go(func() { _ = g.Call(context.Background(), k.peer) })
			all.Go(k.reply)
			all.Go(k.speak)
		}
		all.Wait()
		report(b, list, time.Duration(late.Load()))
	}
}

// report says how long the clears took. All calls sound alike, so that all are heard to speak by
// the same frame: the least that any was cleared at.
func report(b *testing.B, list []*interrupter, late time.Duration) {
	b.Helper()
	first := len(list[0].sent)
	for _, k := range list {
		if k.cleared.IsZero() {
			b.Fatal("a reply that was spoken over was not cleared")
		}
		n, _ := slices.BinarySearchFunc(k.sent, k.cleared, time.Time.Compare)
		first = min(first, n-1)
	}
	var took []time.Duration
	for _, k := range list {
		took = append(took, k.cleared.Sub(k.sent[first]))
	}
	b.ReportMetric(quantile(took, 0.5).Seconds()*1000, "clear-p50-ms")
	b.ReportMetric(quantile(took, 0.99).Seconds()*1000, "clear-p99-ms")
	b.ReportMetric(late.Seconds()*1000, "net-late-max-ms")
}

// interrupter is one call of BenchmarkBargeIn.
type interrupter struct {
	peer  *farEnd
	model *mind
	over  chan struct{} // closed when the caller is done

	mu      sync.Mutex
	heard   int64
	sent    []time.Time // when each frame over the reply was handed over
	cleared time.Time
}

// told notes the first clear.
func (k *interrupter) told(_ *farEnd, m *transport.Message) error {
	if m.Kind == transport.MessageClear {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.cleared.IsZero() && len(k.sent) > 0 {
			k.cleared = time.Now()
		}
	}
	return nil
}

func (k *interrupter) played(*farEnd, uint64, []int16) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.heard++
	return nil
}

// reply is a model that speaks without an end, in real time.
func (k *interrupter) reply() {
	tick := time.NewTicker(audio.FrameDuration)
	defer tick.Stop()
	<-k.peer.ready
	for {
		select {
		case <-tick.C:
		case <-k.over:
			return
		}
		select {
		case k.model.down <- live.ServerMessage{Kind: live.ServerAudio, RateHz: 24000, PCM: make([]int16, 480)}:
		case <-k.over:
			return
		}
	}
}

// speak is silent for a second, and then speaks over the reply.
func (k *interrupter) speak() {
	defer close(k.over)
	tick := time.NewTicker(audio.FrameDuration)
	defer tick.Stop()
	<-k.peer.ready
	for n, rest := 0, audiotest.Speech("over").Samples; len(rest) >= 320; n++ {
		<-tick.C
		pcm := make([]int16, 320)
		if n >= 50 {
			rest = rest[copy(pcm, rest):]
		}
		k.mu.Lock()
		if n >= 50 {
			k.sent = append(k.sent, time.Now())
		}
		ack := transport.Event{Kind: transport.EventAck, Generation: 1, PlayedMS: k.heard * transport.FrameMS}
		k.mu.Unlock()
		k.peer.events <- transport.Event{Kind: transport.EventAudio, PCM: pcm}
		if n%5 == 0 {
			k.peer.events <- ack
		}
	}
	k.peer.events <- bye()
}

// quantile is the q-quantile of list.
func quantile(list []time.Duration, q float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[min(len(list)-1, int(q*float64(len(list))))]
}

// switchboard finds the model of a call by the language it asks for.
type switchboard map[string]*mind

func (s switchboard) Dial(_ context.Context, setup live.Setup) (live.Conn, error) {
	return s[setup.Language], nil
}
