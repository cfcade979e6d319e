package rtc

import (
	"fmt"
	"sync"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
)

const (
	// queueMax is how many frames and marks may wait to be sent. A gateway's budget is far below: 5
	// s.
	queueMax = 256
	// flightMax is how many may be sent and not yet played.
	flightMax = 64
	// ackEvery is how many ticks pass between acknowledgements.
	ackEvery = transport.AckMS / transport.FrameMS
	// historyMax is how many generations are remembered with what was sent of them.
	historyMax = 8
)

// sent is how much of a generation was sent.
type sent struct {
	generation uint64
	ms         int64
}

// queued is a frame, or the mark behind one.
type queued struct {
	generation uint64
	mark       string  // "" for a frame
	pcm        []int16 // memory of the slot, reused
}

// flying is a frame or a mark that was sent and is not yet played.
type flying struct {
	sent
	mark string
	due  int64 // the tick at which it is played
}

// playout is the clock by which the reply is sent and acknowledged. At each tick of 20 ms one frame
// is sent, never one ahead, and a sent frame counts as played a fixed delay later. Safe for
// concurrent use. Acknowledgements are emitted with the lock held, so that they stay in order; emit
// must not wait.
type playout struct {
	frame int                        // samples in a frame
	emit  func(ack *transport.Event) // takes acknowledgements; ack is valid until it returns

	mu      sync.Mutex
	delay   int64 // ticks from sending to playout
	tick    int64
	queue   ring[queued]     // at most queueMax
	flight  ring[flying]     // at most flightMax
	history [historyMax]sent // the newest first
	acked   sent             // played and not acknowledged, unless equal to the last acknowledgement
	told    sent             // last acknowledgement
	toldAt  int64            // the tick of the last acknowledgement
	dropped uint64           // frames that were cleared
}

func newPlayout(rateHz int, delay time.Duration, emit func(*transport.Event)) *playout {
	p := &playout{frame: audio.FrameSamples(rateHz), emit: emit}
	p.setDelay(delay)
	return p
}

// setDelay sets the time from sending to playout. It shortens a delay that flightMax cannot hold.
func (p *playout) setDelay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	frames := (d + audio.FrameDuration - 1) / audio.FrameDuration
	p.delay = min(int64(frames), flightMax-8)
}

// push queues a frame. It copies pcm.
func (p *playout) push(generation uint64, pcm []int16) error {
	if len(pcm) > p.frame {
		return fmt.Errorf("a frame of %d samples, at most %d", len(pcm), p.frame)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	slot, err := p.slot(generation)
	if err != nil {
		return err
	}
	slot.mark, slot.pcm = "", append(slot.pcm[:0], pcm...)
	return nil
}

// pushMark queues a mark behind the frames that wait.
func (p *playout) pushMark(generation uint64, id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	slot, err := p.slot(generation)
	if err == nil {
		slot.mark = id
	}
	return err
}

// slot returns the next free slot; the caller holds mu.
func (p *playout) slot(generation uint64) (*queued, error) {
	if p.queue.n == queueMax {
		return nil, transport.ErrStalled
	}
	slot := p.queue.push()
	slot.generation = generation
	return slot, nil
}

// step is one tick. It copies the next frame to pcm, which is as long as a frame, or silence when
// none waits, and acknowledges what is played now. It reports whether there was a frame.
func (p *playout) step(pcm []int16) (speaks bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tick++
	p.marks()
	if p.queue.n > 0 {
		slot := p.queue.pop()
		clear(pcm[copy(pcm, slot.pcm):])
		p.fly(p.count(slot.generation), "")
		p.marks()
		speaks = true
	} else {
		clear(pcm)
	}
	p.land()
	return speaks
}

// marks sends the marks at the head of the queue; the caller holds mu.
func (p *playout) marks() {
	for p.queue.n > 0 && p.queue.at(0).mark != "" {
		slot := p.queue.pop()
		p.fly(sent{slot.generation, p.sentOf(slot.generation)}, slot.mark)
	}
}

// count notes a frame of a generation as sent; the caller holds mu.
func (p *playout) count(generation uint64) sent {
	if p.history[0].generation != generation {
		ms := p.sentOf(generation)
		copy(p.history[1:], p.history[:])
		p.history[0] = sent{generation, ms}
	}
	p.history[0].ms += transport.FrameMS
	return p.history[0]
}

// sentOf returns how much of a generation was sent; the caller holds mu.
func (p *playout) sentOf(generation uint64) int64 {
	for _, h := range p.history {
		if h.generation == generation {
			return h.ms
		}
	}
	return 0
}

// fly notes a sent frame or mark. At flightMax the first one counts as played; the caller holds mu.
func (p *playout) fly(s sent, mark string) {
	if p.flight.n == flightMax {
		p.arrive()
	}
	*p.flight.push() = flying{sent: s, mark: mark, due: p.tick + p.delay}
}

// arrive counts the first as played, and acknowledges it at once when it is a mark; the caller
// holds mu.
func (p *playout) arrive() {
	f := *p.flight.pop()
	p.acked = f.sent
	if f.mark != "" {
		p.ack(transport.Event{Generation: f.generation, PlayedMS: f.ms, Mark: f.mark})
	}
}

// land acknowledges what is played by now: in every fifth tick, and when nothing follows; the
// caller holds mu.
func (p *playout) land() {
	for p.flight.n > 0 && p.flight.at(0).due <= p.tick {
		p.arrive()
	}
	dry := p.flight.n == 0 && p.queue.n == 0
	if p.acked != p.told && (dry || p.tick-p.toldAt >= ackEvery) {
		p.ack(transport.Event{Generation: p.acked.generation, PlayedMS: p.acked.ms})
	}
}

// ack emits an acknowledgement; the caller holds mu.
func (p *playout) ack(ev transport.Event) {
	ev.Kind = transport.EventAck
	p.acked = sent{ev.Generation, ev.PlayedMS}
	p.told, p.toldAt = p.acked, p.tick
	p.emit(&ev)
}

// silence makes the frames that wait silent. They are sent and acknowledged all the same.
func (p *playout) silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.queue.n {
		clear(p.queue.at(i).pcm)
	}
}

// clear drops what was not sent and answers for a generation. Sent frames cannot be called back and
// will be played: they count, and the reply goes on behind them if it does.
func (p *playout) clear(generation uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropped += uint64(p.queue.n)
	p.queue.clear()
	p.flight.clear()
	p.ack(transport.Event{Generation: generation, PlayedMS: p.sentOf(generation), Cleared: true})
}
