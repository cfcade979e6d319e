package rtc

import (
	"context"
	"sync"

	"github.com/voicegw/voicegw/transport"
)

// Limits of the inbox. Audio that comes while inboxAudioMax audio events wait is dropped. The reader of
// the data channel waits at inboxEvents. Acknowledgements may fill the inbox up to inboxMax: the
// last one says all.
const (
	inboxMax      = 64
	inboxEvents   = 56
	inboxAudioMax = 48
)

// inbox holds the events of a call, in order, until they are received. It reuses its memory. Any
// goroutine may put; one goroutine gets.
type inbox struct {
	news chan struct{} // of size 1: there may be something to get
	room chan struct{} // of size 1: there may be room again

	mu      sync.Mutex
	queue   ring[transport.Event]
	audio   int // of them
	dropped uint64
	over    chan struct{}    // closed with ended
	ended   *transport.Ended // why nothing more can be received
}

func newInbox() *inbox {
	return &inbox{news: make(chan struct{}, 1), room: make(chan struct{}, 1), over: make(chan struct{})}
}

// signal wakes the goroutine that waits on c, or the next one that waits.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// next returns the free slot behind the others; the caller holds mu and there is room.
func (b *inbox) next() *transport.Event {
	slot := b.queue.push()
	slot.Reset()
	signal(b.news)
	return slot
}

// putAudio copies audio. It never waits; it drops and counts audio beyond the limit.
func (b *inbox) putAudio(pcm []int16) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.audio >= inboxAudioMax || b.queue.n >= inboxMax {
		b.dropped++
		return
	}
	slot := b.next()
	slot.Kind, slot.PCM = transport.EventAudio, append(slot.PCM, pcm...)
	b.audio++
}

// put adds an event if fewer than most wait, and reports whether it did. It copies audio.
func (b *inbox) put(ev *transport.Event, most int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.queue.n >= most {
		return false
	}
	slot := b.next()
	pcm := append(slot.PCM, ev.PCM...)
	*slot = *ev
	slot.PCM = pcm
	if ev.Kind == transport.EventAudio {
		b.audio++
	}
	return true
}

// wait adds an event as soon as there is room. It reports false when the call ended before.
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

// end ends the inbox: from now on get returns only e. The first end counts.
func (b *inbox) end(e *transport.Ended) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended == nil {
		b.ended = e
		close(b.over)
	}
}

// why returns the end; over must be closed.
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
	case b.queue.n == 0:
		return false, nil
	}
	slot := b.queue.pop()
	if slot.Kind == transport.EventAudio {
		b.audio--
	}
	*ev, *slot = *slot, transport.Event{PCM: ev.PCM}
	signal(b.room)
	return true, nil
}
