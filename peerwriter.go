package voicegw

import (
	"context"
	"sync"
	"time"

	"github.com/voicegw/voicegw/petri/netview"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// peerQueueMax is the most that may wait to be sent to the peer. The net's budget bounds audio long
// before. A peer that leaves so much else unread has stopped reading.
const peerQueueMax = 1024

// peerBatchKept is the longest queue whose memory is kept for the next items.
const peerBatchKept = 64

// peerWriter is the queue from the net to the peer: audio, notices and transcripts, in order. write
// empties it.
type peerWriter struct {
	peer    transport.Peer
	ready   func() transport.Ready   // what the peer is sent when the call is up
	event   func(*transport.Message) // gets each message before the peer does; may be nil
	turn    func(Turn)               // gets each turn when the peer knows that it ended; may be nil
	stalled func()                   // the queue is full
	gone    func(error)              // the peer takes nothing any more
	view    *netview.View            // nil: the peer does not see its net
	drawing string                   // of the net that the view shows

	wake    chan struct{} // a signal, 1 deep
	replies chan struct{} // one for each reply in the queue, at most half of peerQueueMax
	written chan struct{} // closed when write has returned

	mu     sync.Mutex
	batch  []peerItem // the oldest items, which write pops; its memory then becomes the queue's
	next   int        // of batch
	queue  []peerItem // the others
	closed bool

	// of write
	msg   transport.Message
	more  context.Context // for a frame that another one follows at once
	isUp  bool            // the peer has its ready
	early []peerItem      // replies that wait for it; they stay in replies
}

// peerItem has one of msg, frame, transcript, ready and silent set, or is a notice.
type peerItem struct {
	frame      *voicenets.ReplyFrame
	transcript *voicenets.TranscriptFragment
	msg        *transport.Message
	notice     voicenets.Notice
	heard      int64           // with a notice that a reply ended: how many ms of it were heard,
	usage      transport.Usage // what it cost,
	turns      []Turn          // and what was said
	ready      bool            // the call is up
	silent     bool            // only turns, which the peer does not learn of
	reply      bool            // msg answers the peer
}

func newPeerWriter(p transport.Peer) *peerWriter {
	return &peerWriter{peer: p, wake: make(chan struct{}, 1), replies: make(chan struct{}, peerQueueMax/2),
		written: make(chan struct{})}
}

// put queues an item. It never blocks and is safe for concurrent use.
func (w *peerWriter) put(it peerItem) {
	if !w.offer(it) {
		w.stalled()
	}
}

// offer reports false when the queue is full, once; it is closed then.
func (w *peerWriter) offer(it peerItem) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return true
	}
	full := w.len() >= peerQueueMax
	if full {
		w.closed = true
	} else {
		w.queue = append(w.queue, it)
	}
	w.signal()
	return !full
}

func (w *peerWriter) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// waiting returns how many items wait to be sent.
func (w *peerWriter) waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.len()
}

// len is waiting; the caller holds mu.
func (w *peerWriter) len() int { return len(w.batch) - w.next + len(w.queue) }

// pop takes the oldest item; ok reports whether there is one, and last that none will come. write
// alone calls it.
func (w *peerWriter) pop() (it peerItem, ok, last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.next == len(w.batch) {
		clear(w.batch)
		if cap(w.batch) > peerBatchKept {
			w.batch = nil
		}
		w.batch, w.queue, w.next = w.queue, w.batch[:0], 0
	}
	if w.next == len(w.batch) {
		return it, false, w.closed
	}
	w.next++
	return w.batch[w.next-1], true, false
}

// framed reports whether the oldest item is a frame of the reply.
func (w *peerWriter) framed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.next < len(w.batch):
		return w.batch[w.next].frame != nil
	case len(w.queue) > 0:
		return w.queue[0].frame != nil
	}
	return false
}

// answer queues a reply to something that the peer sent. It waits while a peer that sends faster
// than it reads has half of the queue full of replies.
func (w *peerWriter) answer(ctx context.Context, m *transport.Message) {
	select {
	case w.replies <- struct{}{}:
		w.put(peerItem{msg: m, reply: true})
	case <-ctx.Done():
	}
}

// close lets write return once everything queued is sent.
func (w *peerWriter) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.signal()
}

// wait waits until write, which has begun, returns, but at most for limit.
func (w *peerWriter) wait(limit time.Duration) {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-w.written:
	case <-t.C:
	}
}

// write sends until the queue is closed. After an error it drops what is queued.
func (w *peerWriter) write(ctx context.Context) {
	defer close(w.written)
	w.more = transport.More(ctx)
	if err := w.sendAll(ctx); err != nil {
		if ctx.Err() == nil {
			w.gone(err)
		}
		for _, it := range w.early {
			w.took(&it)
		}
		w.drop()
	}
}

// drop drops what is queued until the queue is closed.
func (w *peerWriter) drop() {
	for {
		it, ok, last := w.pop()
		switch {
		case ok:
			w.took(&it)
			w.tell(it.turns)
		case last:
			return
		default:
			<-w.wake
		}
	}
}

// tell passes turns that ended to the host.
func (w *peerWriter) tell(turns []Turn) {
	if w.turn == nil {
		return
	}
	for _, t := range turns {
		w.turn(t)
	}
}

// took notes that an item left the queue.
func (w *peerWriter) took(it *peerItem) {
	if it.reply {
		<-w.replies
	}
}

// sendAll sends until the queue is closed.
func (w *peerWriter) sendAll(ctx context.Context) error {
	show := &show{view: w.view, peer: w.peer, svg: w.drawing}
	defer show.stop()
	for {
		select {
		case <-w.wake:
			if last, err := w.sendQueued(ctx, show); last || err != nil {
				return err
			}
		case <-show.changed:
			if err := show.next(ctx); err != nil {
				return err
			}
		case <-show.rested():
			show.resume()
		}
	}
}

// sendQueued sends what is queued now. last reports that nothing more will come.
func (w *peerWriter) sendQueued(ctx context.Context, show *show) (last bool, err error) {
	for {
		it, ok, last := w.pop()
		if !ok {
			return last, nil
		}
		if it.reply && !w.isUp {
			w.early = append(w.early, it)
			continue
		}
		w.took(&it)
		err := w.send(ctx, it)
		w.tell(it.turns)
		if it.ready && err == nil {
			err = w.begin(ctx, show)
		}
		if err != nil {
			return false, err
		}
	}
}

// begin sends what waited for ready.
func (w *peerWriter) begin(ctx context.Context, show *show) error {
	w.isUp = true
	for _, it := range w.early {
		w.took(&it)
		if err := w.send(ctx, it); err != nil {
			return err
		}
	}
	w.early = nil
	return show.begin(ctx)
}

func (w *peerWriter) send(ctx context.Context, it peerItem) error {
	switch {
	case it.silent:
		return nil
	case it.frame != nil:
		if w.framed() {
			ctx = w.more
		}
		return w.peer.SendAudio(ctx, wire(it.frame.Gen), it.frame.PCM)
	case it.ready:
		return w.peer.Ready(ctx, w.ready())
	case it.msg != nil:
		return w.message(ctx, it.msg)
	case it.transcript != nil:
		w.msg = transcript(it.transcript)
	default:
		var err error
		if w.msg, err = message(it.notice); err != nil {
			return err
		}
		w.msg.HeardMS, w.msg.Usage = it.heard, it.usage
	}
	return w.message(ctx, &w.msg)
}

// message sends a message to the host, and then to the peer.
func (w *peerWriter) message(ctx context.Context, m *transport.Message) error {
	if w.event != nil {
		w.event(m)
	}
	return w.peer.Send(ctx, m)
}
