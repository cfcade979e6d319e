package rtc

import (
	"context"
	"sync"

	"github.com/voicegw/voicegw/transport"
)

// How full the inbox may be for whom: sound that comes when so much was not taken is dropped; whoever reads the data
// channel waits; acknowledgements, of which the last says all, find room when nobody else does.
const (
	inboxMax      = 64
	inboxEvents   = 56
	inboxAudioMax = 48
)

// inbox holds the events of a call until they are received, in order. Its memory is used again and again. Any goroutine
// may put, one gets.
type inbox struct {
	news chan struct{} // of size 1: there may be something to get
	room chan struct{} // of size 1: there may be room again

	mu      sync.Mutex
	ring    [inboxMax]transport.Event
	head, n int
	audio   int // of n
	dropped uint64
	over    chan struct{}    // closed with ended
	ended   *transport.Ended // nothing more is got
}

func newInbox() *inbox {
	return &inbox{news: make(chan struct{}, 1), room: make(chan struct{}, 1), over: make(chan struct{})}
}

// signal wakes whoever waits on c, or will.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// next is the free slot behind the others; mu is held and there is room.
func (b *inbox) next() *transport.Event {
	slot := &b.ring[(b.head+b.n)%inboxMax]
	b.n++
	slot.Reset()
	signal(b.news)
	return slot
}

// putAudio copies sound. It never waits; what is beyond the limit is dropped and counted.
func (b *inbox) putAudio(pcm []int16) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.audio >= inboxAudioMax || b.n >= inboxMax {
		b.dropped++
		return
	}
	slot := b.next()
	slot.Kind, slot.PCM = transport.EventAudio, append(slot.PCM, pcm...)
	b.audio++
}

// put adds an event other than audio if fewer than most wait, and reports whether it did.
func (b *inbox) put(ev *transport.Event, most int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.n >= most {
		return false
	}
	slot := b.next()
	pcm := slot.PCM
	*slot = *ev
	slot.PCM = pcm
	return true
}

// wait adds an event as soon as there is room, and reports false when the call was over before.
func (b *inbox) wait(ev *transport.Event) bool {
	for !b.put(ev, inboxEvents) {
		select {
		case <-b.room:
		case <-b.over:
			return false
		}
	}
	return true
}

// end lets nothing more be got, but e. The first end counts.
func (b *inbox) end(e *transport.Ended) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended == nil {
		b.ended = e
		close(b.over)
	}
}

// why is the end, once over is closed.
func (b *inbox) why() *transport.Ended {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ended
}

// get waits for the next event and moves it to ev, whose memory it keeps for later ones.
func (b *inbox) get(ctx context.Context, ev *transport.Event) error {
	for {
		if done, err := b.take(ev); done || err != nil {
			return err
		}
		select {
		case <-b.news:
		case <-b.over:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take moves the next event, if there is one, to ev.
func (b *inbox) take(ev *transport.Event) (done bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.ended != nil:
		return false, b.ended
	case b.n == 0:
		return false, nil
	}
	slot := &b.ring[b.head]
	if slot.Kind == transport.EventAudio {
		b.audio--
	}
	*ev, *slot = *slot, transport.Event{PCM: ev.PCM}
	b.head, b.n = (b.head+1)%inboxMax, b.n-1
	signal(b.room)
	return true, nil
}
