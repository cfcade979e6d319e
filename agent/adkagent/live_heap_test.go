//go:build !race

package adkagent

import (
	"context"
	"runtime"
	"testing"

	adk "google.golang.org/adk/v2/agent"

	"github.com/voicegw/voicegw/live/sim"
)

// TestLiveHeapIsFlat holds a call of twenty minutes with long replies. ADK's flow keeps every chunk:
// 9 MiB in five minutes.
func TestLiveHeapIsFlat(t *testing.T) {
	var reply []int16
	for len(reply) < 110*24000 {
		reply = append(reply, longReply()...)
	}
	inBubble(t, livePlan{model: sim.Config{Greeting: reply[:110*24000]}}, func(w *liveWorld) {
		sess, events, err := w.runner.RunLive(context.Background(), "user", "s", w.run)
		if err != nil {
			t.Fatal(err)
		}
		var heap []uint64
		var chunks int
		_ = sess.Send(typed("A story."))
		for ev, err := range events {
			switch {
			case err != nil:
				t.Error(err)
			case inline(ev) != nil:
				chunks++
				_ = sess.Send(adk.LiveRequest{RealtimeInput: blob(make([]int16, 320))})
			case ev.TurnComplete && len(heap) == 10:
				_ = sess.Close()
			case ev.TurnComplete:
				heap = append(heap, heapNow())
				_ = sess.Send(typed("One more."))
			}
		}
		grown := int64(heap[len(heap)-1]) - int64(heap[0])
		t.Logf("%d chunks, the heap grew by %d kB", chunks, grown>>10)
		if chunks < 12000 || grown > 2<<20 {
			t.Errorf("after %d chunks the heap has grown by %d bytes: %d", chunks, grown, heap)
		}
	})
}

func heapNow() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
