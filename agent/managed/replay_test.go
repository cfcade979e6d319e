package managed

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal"
)

// talker is a session whose model answers any number of messages.
func talker(t *testing.T, engine journal.Engine) *house {
	t.Helper()
	var llm model.LLM = &provider.Script{Repeat: true, Turns: []provider.ScriptTurn{says("Hello."), says("Yes.")}}
	return newHouseOn(t, engine, loadFixture(t, "f6_replay").Agent, llm)
}

// TestF6FromSeq: a reader begins at number 0, in the middle, at the last event and beyond it; the beginning of a
// live stream is the same, and what comes later follows.
func TestF6FromSeq(t *testing.T) {
	onEngines(t, func(t *testing.T, engine journal.Engine) {
		h := talker(t, engine)
		defer h.close()
		h.say(Text("One"))
		last := h.status(Idle).LastSeq
		h.replays()
		const more = 3
		var readers sync.WaitGroup
		for _, from := range []uint64{0, 1, last / 2, last, last + 1, last + more} {
			first, ready := max(from, 1), make(chan struct{})
			readers.Go(func() {
				close(ready)
				h.follow(first, from, last+more)
			})
			<-ready
		}
		h.say(Text("Two"))
		readers.Wait()
	})
}

// follow reads a live stream until a number has come. The numbers must be dense, from first on.
func (h *house) follow(first, from, until uint64) {
	next := first
	for ev, err := range h.rt.Events(h.Context(), ada, h.session, from, true) {
		if err != nil || ev.Seq != next {
			h.Errorf("from %d the event has the number %d, want %d, %v", from, ev.Seq, next, err)
			return
		}
		if next++; next > until {
			return
		}
	}
	h.Errorf("the stream from %d has ended before %d", from, next)
}

// TestF6SubscribeWhileEmitting: readers that begin at any moment, in the middle of turns, see every event once.
func TestF6SubscribeWhileEmitting(t *testing.T) {
	onEngines(t, func(t *testing.T, engine journal.Engine) {
		h := talker(t, engine)
		defer h.close()
		const messages, readers = 12, 4
		const events = messages * 8 // message twice, running, span twice, text, usage, idle
		var all sync.WaitGroup
		for i := range messages {
			list := h.post(Text(fmt.Sprint("message ", i)))
			for r := range readers {
				all.Go(func() { h.follow(uint64(max(r*7, 1)), uint64(r*7), events) })
			}
			all.Go(func() { h.followCompat(messages * 3) })
			if i%3 == 2 {
				h.settle(list)
			}
		}
		all.Wait()
		if n := len(h.events()); n != events {
			t.Errorf("there are %d events, want %d", n, events)
		}
	})
}

// followCompat reads a live stream of the other profile until it has n events, with dense numbers.
func (h *house) followCompat(n uint64) {
	next := uint64(0)
	for ev, err := range h.rt.CompatEvents(h.Context(), ada, h.session, CompatAll, true) {
		if err != nil || ev.Seq != next {
			h.Errorf("the event has the number %d, want %d, %v", ev.Seq, next, err)
			return
		}
		if next++; next == n {
			return
		}
	}
	h.Errorf("the stream has ended before %d", next)
}

// TestF6SlowReader: a reader that takes one event and then rests for hundreds of events misses none, and holds
// nobody up meanwhile.
func TestF6SlowReader(t *testing.T) {
	onEngines(t, func(t *testing.T, engine journal.Engine) {
		h := talker(t, engine)
		defer h.close()
		h.say(Text("One"))
		const messages = 50
		started, over := make(chan struct{}), make(chan struct{})
		var seqs []uint64
		var reader sync.WaitGroup
		reader.Go(func() {
			for ev, err := range h.rt.Events(h.Context(), ada, h.session, 1, true) {
				if err != nil {
					t.Error(err)
					return
				}
				if seqs = append(seqs, ev.Seq); len(seqs) == 1 {
					close(started)
					<-over
				}
				if len(seqs) == (messages+1)*8 {
					return
				}
			}
		})
		<-started
		for range messages {
			h.say(Text("More"))
		}
		close(over)
		reader.Wait()
		if len(seqs) < 300 || !slices.IsSorted(seqs) || seqs[len(seqs)-1] != uint64(len(seqs)) {
			t.Errorf("the slow reader got %d events, the last with the number %d", len(seqs), seqs[len(seqs)-1])
		}
	})
}

// TestF6Tail: the tail of the other profile begins behind what is there when it is asked for.
func TestF6Tail(t *testing.T) {
	onEngines(t, func(t *testing.T, engine journal.Engine) {
		h := talker(t, engine)
		defer h.close()
		h.say(Text("One"))
		tail := h.rt.CompatEvents(t.Context(), ada, h.session, CompatTail, true)
		h.say(Text("Two"))
		for ev, err := range tail {
			if err != nil || ev.Seq != 3 || ev.Type != CompatRunning {
				t.Errorf("the tail begins with %+v, %v", ev, err)
			}
			break
		}
	})
}

// TestF6EndOfReader: a reader ends with its context, also while nothing is told.
func TestF6EndOfReader(t *testing.T) {
	onEngines(t, func(t *testing.T, engine journal.Engine) {
		h := talker(t, engine)
		defer h.close()
		h.say(Text("One"))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		n := 0
		for _, err := range h.rt.Events(ctx, ada, h.session, 1, true) {
			if err != nil {
				t.Error(err)
			}
			if n++; n == 8 {
				cancel()
			}
		}
		if n != 8 {
			t.Errorf("the reader got %d events", n)
		}
	})
}
