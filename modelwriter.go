package voicegw

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/voicenets"
)

// modelQueueMax is the most that may wait to be sent to the model: about 10 s of frames, and a turn
// that is repeated with the one before. A connection that takes nothing for so long is lost.
const modelQueueMax = 512 + 2*voicenets.TurnFramesMax

// errModelStalled says that the model's side has stopped reading.
var errModelStalled = errors.New("the model stopped taking what was sent to it")

// modelWriter is the queue from the net to the model: audio and commands, in order, for the
// connection that the net chose last. While the net holds the uplink, the caller's items wait
// (voicenets.HoldUplink) and only tool replies overtake them; a write that has begun completes. The
// net's loop fills the queue, write empties it.
type modelWriter struct {
	modelVAD        bool // the model detects turns: no activity starts and ends
	greeting, nudge string
	talk            *conversation
	stalled         func()                                  // the queue is full
	fail            func(error)                             // ends the call by a fault of the gateway
	reply           func(*voicenets.ToolEnd) live.ToolReply // ends a tool call
	log             *zap.Logger

	wake chan struct{} // a signal, 1 deep

	mu       sync.Mutex
	queue    []modelItem // oldest first, at most modelQueueMax
	held     bool        // the caller's items wait
	heldBy   uint64      // the event that held them last
	settling bool        // what the caller's items must wait for may come in the same row of outputs
	closed   bool        // nothing more is put
	link     *link       // nil: what is sent goes nowhere, and the net knows
	kept     []modelItem // what waited for link when it came
	notes    notes

	cutting atomic.Bool // the caller's turn or text may be interrupting the model
}

// modelItem has one of its fields set, or is a command.
type modelItem struct {
	frame *voicenets.CallerFrame
	text  *voicenets.Typed
	note  *voicenets.Typed
	recap string // of a reply that was cut short
	tool  *voicenets.ToolEnd
	give  bool // the notes may go now
	cmd   voicenets.Command

	notes []*voicenets.Typed // that go with it, and
	drops int                // how often notes had been dropped before
}

func (it *modelItem) isCommand(cmd voicenets.Command) bool {
	return it.frame == nil && it.text == nil && it.note == nil && it.recap == "" && it.tool == nil && !it.give &&
		it.cmd == cmd
}

// callers reports whether an item is what the caller said or typed, or belongs between such items.
func (it *modelItem) callers() bool {
	return it.tool == nil && it.cmd != voicenets.Greet && it.cmd != voicenets.Nudge
}

// put queues an item. It never blocks; the net's loop alone calls it.
func (w *modelWriter) put(it modelItem) {
	w.mu.Lock()
	full := len(w.queue) >= modelQueueMax
	if !full {
		w.queue = append(w.queue, it)
	}
	w.mu.Unlock()
	if full {
		w.stalled()
		return
	}
	w.signal()
}

// waiting returns how many items wait to be sent.
func (w *modelWriter) waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.queue)
}

func (w *modelWriter) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// use makes l the connection to send to. Items that still wait were for the one before: the net
// repeats what that may not have received. Items that stay go to the new one.
func (w *modelWriter) use(l *link) {
	w.mu.Lock()
	give := w.notes.moved(l.resumed)
	kept := slices.DeleteFunc(slices.Clone(w.queue), func(it modelItem) bool { return !w.stays(&it) })
	w.forget()
	if give {
		w.queue = append(w.queue, modelItem{give: true})
	}
	w.queue, w.link, w.kept = append(w.queue, kept...), l, kept
	w.settling = true
	w.mu.Unlock()
	w.signal()
}

// handed tells that the net has handed over a row of outputs. A turn that is repeated comes in one row
// with the connection, or with the end of the hold, and goes out before what has waited for that.
func (w *modelWriter) handed() {
	w.mu.Lock()
	was := w.settling
	w.settling = false
	w.mu.Unlock()
	if was {
		w.signal()
	}
}

// stays reports whether an item that no connection has received waits for the next one. Text, and
// frames with the model's own VAD, may belong to no turn that the net repeats.
func (w *modelWriter) stays(it *modelItem) bool {
	return it.text != nil || it.note != nil || it.frame != nil && w.modelVAD
}

// hold makes the caller's items wait from an event of the net on.
func (w *modelWriter) hold(event uint64) {
	w.mu.Lock()
	w.held, w.heldBy = true, event
	w.mu.Unlock()
}

// release ends the hold for an event that is stored now. A hold by a later event continues.
func (w *modelWriter) release(event uint64) {
	w.mu.Lock()
	if event > w.heldBy {
		w.held, w.settling = false, true
	}
	w.mu.Unlock()
}

// heldSince reports whether the queue was held since an event.
func (w *modelWriter) heldSince(event uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.heldBy > event
}

// drop empties the queue and holds it from an event on. This connection receives nothing more.
func (w *modelWriter) drop(event uint64) {
	w.mu.Lock()
	w.notes.drop(w.queue)
	w.forget()
	w.link, w.held, w.heldBy = nil, true, event
	w.mu.Unlock()
}

// forget empties the queue; mu is held. It ends the tool calls whose replies it drops.
func (w *modelWriter) forget() {
	for i := range w.queue {
		if end := w.queue[i].tool; end != nil {
			w.reply(end)
		}
	}
	clear(w.queue)
	w.queue, w.kept = w.queue[:0], nil
}

// close lets write return once everything that may still be sent is sent.
func (w *modelWriter) close() {
	w.mu.Lock()
	w.closed, w.settling = true, false
	w.mu.Unlock()
	w.signal()
}

// write sends until the queue is closed. Without a connection it drops the items that do not stay;
// the net repeats what the next connection needs.
func (w *modelWriter) write(ctx context.Context) {
	for {
		it, l, ok := w.next()
		switch {
		case !ok && w.over():
			return
		case !ok:
			<-w.wake
		case l == nil || l.isDown():
			if it.tool != nil {
				w.reply(it.tool)
			}
			w.putBack(l, it)
		default:
			if err := w.send(ctx, l.conn, &it); err != nil {
				w.failed(ctx, l, it, err)
			} else {
				w.carried(l, &it, true)
			}
		}
	}
}

// next takes the oldest item that may be sent now.
func (w *modelWriter) next() (it modelItem, l *link, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := w.first(); i >= 0; i = w.first() {
		it = w.queue[i]
		w.queue = slices.Delete(w.queue, i, i+1)
		if w.carry(&it) {
			return it, w.link, true
		}
	}
	return modelItem{}, nil, false
}

// first is the index of the oldest item that need not wait, or -1; mu is held. A tool reply
// overtakes items that wait, because the model may wait for it. Nothing else does: a nudge would
// reach the model before the end of the turn that it refers to.
func (w *modelWriter) first() int {
	gone := w.link == nil || w.link.isDown()
	waiting := false
	for i := range w.queue {
		it := &w.queue[i]
		switch {
		case (w.held || w.settling) && it.callers() || gone && w.stays(it):
			waiting = true
		case it.tool != nil || !waiting:
			return i
		}
	}
	return -1
}

// over reports whether nothing more will be sent.
func (w *modelWriter) over() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed && w.first() < 0
}

// failed handles an error of send. A connection that has ended may not have received the item. A
// message that the connection refused is dropped. A command that the gateway does not know ends the
// call.
func (w *modelWriter) failed(ctx context.Context, l *link, it modelItem, err error) {
	var ce *live.CloseError
	if errors.As(err, &ce) {
		w.putBack(l, it)
		l.down(ctx, err)
		return
	}
	w.carried(l, &it, false)
	if errors.Is(err, errUnknown) {
		w.fail(err)
		return
	}
	w.log.Warn("the model refused a message", zap.Error(err))
}

// putBack lets an item that may not have been sent wait again, if it stays and was not dropped
// meanwhile.
func (w *modelWriter) putBack(l *link, it modelItem) {
	if it.note == nil { // the queue keeps a note itself
		w.keep(&it)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	it.notes = nil
	switch {
	case w.link == l && w.stays(&it):
		w.queue = slices.Insert(w.queue, 0, it)
	case it.note != nil && it.drops == w.notes.drops: // the next connection gets it
		w.notes.waiting = append(w.notes.waiting, it.note)
	case it.note != nil:
		w.notes.leave(it.note)
	}
}

func (w *modelWriter) send(ctx context.Context, conn live.Conn, it *modelItem) error {
	switch {
	case it.frame != nil:
		return conn.SendAudio(ctx, it.frame.PCM)
	case it.text != nil:
		w.cutting.Store(true)
		return conn.Send(ctx, live.ClientMessage{Kind: live.ClientText, Text: prefaced(it.notes, it.text.Text)})
	case it.note != nil:
		return conn.Send(ctx, live.ClientMessage{Kind: live.ClientText, Text: framed(it.note)})
	case it.give:
		return w.give(ctx, conn, it)
	case it.recap != "":
		return conn.Send(ctx, live.ClientMessage{Kind: live.ClientText, Text: prefaced(it.notes, it.recap)})
	case it.tool != nil:
		reply := w.reply(it.tool)
		return conn.Send(ctx, live.ClientMessage{Kind: live.ClientToolReply, Replies: []live.ToolReply{reply}})
	}
	return w.command(ctx, conn, it)
}

func (w *modelWriter) command(ctx context.Context, conn live.Conn, it *modelItem) error {
	switch it.cmd {
	case voicenets.ActivityStart:
		w.cutting.Store(true)
		err := conn.Send(ctx, live.ClientMessage{Kind: live.ClientActivityStart})
		if err == nil && len(it.notes) > 0 {
			err = conn.Send(ctx, live.ClientMessage{Kind: live.ClientText, Text: prefaced(it.notes, "")})
		}
		return err
	case voicenets.ActivityEnd:
		w.cutting.Store(false)
		return conn.Send(ctx, live.ClientMessage{Kind: live.ClientActivityEnd})
	case voicenets.Nudge:
		return conn.Send(ctx, live.ClientMessage{Kind: live.ClientText, Text: w.nudge})
	case voicenets.Greet:
		return conn.Send(ctx, live.ClientMessage{Kind: live.ClientText, Text: prefaced(it.notes, w.greeting)})
	default:
		return unknown("command", it.cmd)
	}
}
