package wsendpoint

import (
	"context"
	"time"
)

// pacedMax is how many frames may wait to be sent: more than a gateway's budget.
const pacedMax = 1024

// pacer holds frames until they may be sent.
type pacer struct {
	frames []pacedFrame // frames from head on wait; the memory of the others is reused
	head   int
	wake   chan struct{}
}

type pacedFrame struct {
	generation uint64
	pcm        []int16
}

func (q *pacer) len() int { return len(q.frames) - q.head }

// put copies a frame to the end. It reports false when there is no room.
func (q *pacer) put(generation uint64, pcm []int16) bool {
	if q.len() >= pacedMax {
		return false
	}
	if q.len() == 0 {
		q.clear()
	}
	if q.head > 0 && len(q.frames) == cap(q.frames) {
		q.compact()
	}
	n := len(q.frames)
	if n < cap(q.frames) {
		q.frames = q.frames[:n+1]
	} else {
		q.frames = append(q.frames, pacedFrame{})
	}
	f := &q.frames[n]
	f.generation, f.pcm = generation, append(f.pcm[:0], pcm...)
	q.awake()
	return true
}

// compact moves the waiting frames to the front, and the sent ones, for their memory, behind them.
func (q *pacer) compact() {
	n := q.len()
	for i := range n {
		q.frames[i], q.frames[q.head+i] = q.frames[q.head+i], q.frames[i]
	}
	q.frames, q.head = q.frames[:n], 0
}

// clear drops the waiting frames.
func (q *pacer) clear() { q.frames, q.head = q.frames[:0], 0 }

func (q *pacer) awake() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// pace sends the waiting frames when they are due, until the call ends. The endpoint runs it when
// the protocol has a lead.
func (p *Peer) pace() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait, sent := p.sendPaced()
		if sent {
			continue
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-p.paced.wake:
		case <-p.conn.Leaving():
			return
		}
	}
}

// sendPaced sends the next frame, or returns how long to wait before the next one is due.
func (p *Peer) sendPaced() (wait time.Duration, sent bool) {
	p.wire.Lock()
	defer p.wire.Unlock()
	p.state.Lock()
	if p.paced.len() == 0 {
		p.state.Unlock()
		return time.Hour, false
	}
	if ahead := p.playout.Ahead(time.Now()); ahead > p.proto.Lead-frame {
		p.state.Unlock()
		return ahead - p.proto.Lead + frame, false
	}
	f := &p.paced.frames[p.paced.head]
	p.paced.head++
	p.encode(f.generation, f.pcm)
	p.state.Unlock()
	if len(p.out) > 0 && p.write(context.Background(), p.out) != nil {
		return time.Hour, false // SendAudio or the reader finds out
	}
	return 0, true
}
