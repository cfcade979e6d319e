package voicegw

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// textItem is an item that the peer gets as a message with this text.
func textItem(text string) peerItem { return peerItem{msg: &transport.Message{Text: text}} }

// TestPeerWriter sends what is queued in order, and returns when all is sent and the queue is closed.
func TestPeerWriter(t *testing.T) {
	p := newFarEnd()
	var got []string
	p.onSend = func(_ *farEnd, m *transport.Message) error {
		got = append(got, m.Text+string(m.Code)+string(m.State))
		return nil
	}
	p.onPlay = func(_ *farEnd, generation uint64, _ []int16) error {
		got = append(got, "frame of "+string(rune('0'+generation)))
		return nil
	}
	w := newPeerWriter(p)
	w.ready = func() transport.Ready { got = append(got, "ready"); return transport.Ready{} }
	w.event = func(m *transport.Message) { got = append(got, "event") }
	w.put(peerItem{ready: true})
	w.put(peerItem{notice: voicenets.Notice{Kind: voicenets.ReplyStarted}})
	w.put(peerItem{frame: &voicenets.ReplyFrame{Gen: petri.Gen(1)}})
	w.put(peerItem{transcript: &voicenets.TranscriptFragment{Text: "hello"}})
	w.put(textItem("bye"))
	w.close()
	w.close() // again
	w.put(textItem("too late"))
	w.write(t.Context())
	w.wait(0)
	want := []string{"ready", "event", "start", "frame of 2", "event", "hello", "event", "bye"}
	if !slices.Equal(got, want) {
		t.Errorf("the peer got %q, want %q", got, want)
	}
}

// hinted is a peer that notes for each frame whether another follows.
type hinted struct {
	*farEnd
	more []bool
}

func (h *hinted) SendAudio(ctx context.Context, _ uint64, _ []int16) error {
	h.more = append(h.more, transport.HasMore(ctx))
	return nil
}

// TestPeerWriterMore: the peer learns of each frame whether another is behind it, so that none waits
// for one that does not come.
func TestPeerWriterMore(t *testing.T) {
	h := &hinted{farEnd: newFarEnd()}
	w := newPeerWriter(h)
	frame := peerItem{frame: &voicenets.ReplyFrame{}}
	silent := peerItem{silent: true}
	for _, it := range []peerItem{frame, frame, frame, silent, frame, textItem("a"), frame, frame} {
		w.put(it)
	}
	w.close()
	w.write(t.Context())
	if want := []bool{true, true, false, false, true, false}; !slices.Equal(h.more, want) {
		t.Errorf("frames were followed %v, want %v", h.more, want)
	}
}

// TestPeerWriterFull: a full queue reports once that the peer stalls, and takes nothing more.
func TestPeerWriterFull(t *testing.T) {
	w := newPeerWriter(newFarEnd())
	stalls := 0
	w.stalled = func() { stalls++ }
	for range peerQueueMax {
		w.put(textItem("a"))
	}
	if stalls != 0 {
		t.Errorf("a queue of %d items is full", peerQueueMax)
	}
	w.put(textItem("b"))
	w.put(textItem("c"))
	if stalls != 1 || w.waiting() != peerQueueMax {
		t.Errorf("%d stalls are reported, and %d items wait", stalls, w.waiting())
	}
}

// TestPeerWriterAnswers: replies take half of the queue at most. Then what asks for them waits, and
// what the net puts has room.
func TestPeerWriterAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPeerWriter(newFarEnd())
		w.stalled = func() { t.Error("the peer is said to stall") }
		answered := 0
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			for ctx.Err() == nil {
				w.answer(ctx, &transport.Message{})
				answered++
			}
		}()
		synctest.Wait()
		if answered != peerQueueMax/2 {
			t.Errorf("%d replies are in the queue", answered)
		}
		for range peerQueueMax / 2 {
			w.put(textItem("a"))
		}
		it, _, _ := w.pop()
		w.took(&it)
		if synctest.Wait(); answered != peerQueueMax/2+1 {
			t.Errorf("%d replies came into the queue after one has left", answered)
		}
		cancel()
		synctest.Wait()
		if w.waiting() != peerQueueMax {
			t.Errorf("%d items wait: a reply was queued after its context was done", w.waiting())
		}
	})
}

// TestPeerWriterGone: after an error nothing more is sent, what waits is dropped, and the call
// learns of it, unless it is over.
func TestPeerWriterGone(t *testing.T) {
	for name, over := range map[string]bool{"in a call": false, "at its end": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, broken := newFarEnd(), errors.New("broken")
				sent := 0
				p.onSend = func(*farEnd, *transport.Message) error { sent++; return broken }
				w := newPeerWriter(p)
				w.isUp = true
				var gone error
				w.gone = func(err error) { gone = err }
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if over {
					cancel()
				}
				for range 3 {
					w.answer(t.Context(), &transport.Message{})
				}
				go w.write(ctx)
				synctest.Wait()
				if sent != 1 || w.waiting() != 0 || len(w.replies) != 0 || (gone != nil) == over {
					t.Errorf("%d messages were sent, %d wait; the call learned of %v", sent, w.waiting(), gone)
				}
				began := time.Now()
				w.wait(time.Second)
				if time.Since(began) != time.Second {
					t.Error("write returned before the queue was closed")
				}
				w.close()
				w.wait(time.Minute)
				if time.Since(began) != time.Second {
					t.Error("write did not return when the queue was closed")
				}
			})
		})
	}
}
