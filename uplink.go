package voicegw

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/voicenets"
)

// uplinkMax is the most that may wait to be sent to the model: about 10 s of
// frames, and a turn that is told again with the one before. A connection that
// takes nothing for so long is lost.
const uplinkMax = 512 + 2*voicenets.TurnFramesMax

// errModelStalled says that the model's side takes nothing any more.
var errModelStalled = errors.New("the model stopped taking what was sent to it")

// uplink is the queue from the net to the model: audio and commands, in order,
// for the connection that the net chose last. While the net holds it, what is
// the caller's waits (voicenets.HoldUplink), and only replies of tools overtake
// what waits; a write that has begun ends. The net's loop fills the queue, write
// empties it.
type uplink struct {
	c    *call
	wake chan struct{} // a signal, 1 deep

	mu     sync.Mutex
	queue  []upItem // oldest first, at most uplinkMax
	held   bool     // what is the caller's waits
	heldBy uint64   // the event that held it last
	closed bool     // nothing is put any more
	link   *link    // nil: what is sent goes nowhere, and the net knows
	kept   []upItem // what waited for link when it came

	cutting atomic.Bool // the caller's turn, or what was typed, may be interrupting the model
}

// upItem is one of its fields, or else a command.
type upItem struct {
	frame *voicenets.CallerFrame
	text  *voicenets.Typed
	recap string // of a reply that was cut short
	tool  *voicenets.ToolEnd
	cmd   voicenets.Command
}

// callers says that an item is what the caller said or typed, or belongs between
// such items.
func (it *upItem) callers() bool {
	return it.tool == nil && it.cmd != voicenets.Greet && it.cmd != voicenets.Nudge
}

// newUplink makes the queue of a call. It is held at first if the caller must
// agree before anybody listens.
func newUplink(c *call) *uplink {
	return &uplink{c: c, wake: make(chan struct{}, 1), held: c.cfg.Net.Consent}
}

// put queues an item. It never blocks; the net's loop alone calls it.
func (u *uplink) put(it upItem) {
	u.mu.Lock()
	full := len(u.queue) >= uplinkMax
	if !full {
		u.queue = append(u.queue, it)
	}
	u.mu.Unlock()
	if full {
		u.c.endWith(u.c.modelLost(errModelStalled))
		return
	}
	u.signal()
}

func (u *uplink) signal() {
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

// use makes a connection the one to send to. What still waits was for the one
// before; the net tells the new one what that may not have heard. What stays goes
// to the new one.
func (u *uplink) use(l *link) {
	u.mu.Lock()
	kept := slices.DeleteFunc(slices.Clone(u.queue), func(it upItem) bool { return !u.stays(&it) })
	u.forget()
	u.queue, u.link, u.kept = append(u.queue, kept...), l, kept
	u.mu.Unlock()
	u.signal()
}

// stays says that an item which no connection was sent waits for the next one:
// text, and frames in server mode, may belong to no turn that the net tells again.
func (u *uplink) stays(it *upItem) bool {
	return it.text != nil || it.frame != nil && u.c.detection() == voicenets.Server
}

// hold makes what is the caller's wait, because of an event of the net.
func (u *uplink) hold(event uint64) {
	u.mu.Lock()
	u.held, u.heldBy = true, event
	u.mu.Unlock()
}

// release lets it go on, because of an event. That waited to be on record; a
// hold that began since goes on.
func (u *uplink) release(event uint64) {
	u.mu.Lock()
	if event > u.heldBy {
		u.held = false
	}
	u.mu.Unlock()
	u.signal()
}

// heldSince reports whether the queue was held since an event.
func (u *uplink) heldSince(event uint64) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.heldBy > event
}

// drop empties the queue and holds it, because of an event. Nothing more goes to
// this connection.
func (u *uplink) drop(event uint64) {
	u.mu.Lock()
	u.forget()
	u.link, u.held, u.heldBy = nil, true, event
	u.mu.Unlock()
}

// forget empties the queue; mu is held. The reply to a tool's call that nobody
// gets ends that call all the same.
func (u *uplink) forget() {
	for i := range u.queue {
		if end := u.queue[i].tool; end != nil {
			u.c.tools.reply(end)
		}
	}
	clear(u.queue)
	u.queue, u.kept = u.queue[:0], nil
}

// close ends write once everything that may still be sent is.
func (u *uplink) close() {
	u.mu.Lock()
	u.closed = true
	u.mu.Unlock()
	u.signal()
}

// write sends until the queue is closed. What can be sent nowhere and does not
// stay is forgotten: the connection is gone, and the net tells the next one.
func (u *uplink) write(ctx context.Context) {
	for {
		it, l, ok := u.next()
		switch {
		case !ok && u.over():
			return
		case !ok:
			<-u.wake
		case l == nil || l.isDown():
			if it.tool != nil {
				u.c.tools.reply(it.tool)
			}
		default:
			if err := u.send(ctx, l.conn, it); err != nil {
				u.failed(ctx, l, it, err)
			}
		}
	}
}

// next takes the oldest item that may be sent now.
func (u *uplink) next() (it upItem, l *link, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	i := u.first()
	if i < 0 {
		return upItem{}, nil, false
	}
	it = u.queue[i]
	u.queue = slices.Delete(u.queue, i, i+1)
	return it, u.link, true
}

// first is the index of the oldest item that need not wait, or -1; mu is held.
// The reply to a call overtakes what waits, because the model may wait for it.
// Nothing else does: words of ours would reach the model before the end of the
// turn that they speak of.
func (u *uplink) first() int {
	gone := u.link == nil || u.link.isDown()
	waiting := false
	for i := range u.queue {
		it := &u.queue[i]
		switch {
		case u.held && it.callers() || gone && u.stays(it):
			waiting = true
		case it.tool != nil || !waiting:
			return i
		}
	}
	return -1
}

// over says that nothing more will be sent.
func (u *uplink) over() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.closed && u.first() < 0
}

// failed takes an error of a connection for its end: it may not have got the
// item. A message that it refused is the fault of what was to be said, and
// forgotten.
func (u *uplink) failed(ctx context.Context, l *link, it upItem, err error) {
	var ce *live.CloseError
	if errors.As(err, &ce) {
		u.putBack(l, it)
		l.down(ctx, err)
		return
	}
	u.c.log.Warn("the model refused a message", zap.Error(err))
}

// putBack lets an item that may not have left wait again, if it stays and is not
// to be dropped.
func (u *uplink) putBack(l *link, it upItem) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.link == l && u.stays(&it) {
		u.queue = slices.Insert(u.queue, 0, it)
	}
}

func (u *uplink) send(ctx context.Context, conn live.Conn, it upItem) error {
	switch {
	case it.frame != nil:
		return conn.SendAudio(ctx, it.frame.PCM)
	case it.text != nil:
		u.cutting.Store(true)
		return conn.Send(ctx, live.ClientMessage{Kind: live.ClientText, Text: it.text.Text})
	case it.recap != "":
		return conn.Send(ctx, live.ClientMessage{Kind: live.ClientText, Text: it.recap})
	case it.tool != nil:
		reply := u.c.tools.reply(it.tool)
		return conn.Send(ctx, live.ClientMessage{Kind: live.ClientToolReply, Replies: []live.ToolReply{reply}})
	}
	return u.command(ctx, conn, it.cmd)
}

func (u *uplink) command(ctx context.Context, conn live.Conn, cmd voicenets.Command) error {
	switch cmd {
	case voicenets.ActivityStart:
		u.cutting.Store(true)
		return conn.Send(ctx, live.ClientMessage{Kind: live.ClientActivityStart})
	case voicenets.ActivityEnd:
		u.cutting.Store(false)
		return conn.Send(ctx, live.ClientMessage{Kind: live.ClientActivityEnd})
	case voicenets.Nudge:
		return conn.Send(ctx, live.ClientMessage{Kind: live.ClientText, Text: u.c.cfg.Nudge})
	default:
		return conn.Send(ctx, live.ClientMessage{Kind: live.ClientText, Text: u.c.cfg.Greeting})
	}
}

// again queues what tells a new connection of a turn that the old one may not
// have heard, or has not answered to the end. A turn that was answered in part
// is told in words, unless nobody wrote down what the caller said. Frames in
// server mode, whose turns are the model's own, come without an activity.
func (u *uplink) again(t *voicenets.CallerTurn) {
	words := ""
	if t.Cut {
		asked, answered := u.c.talk.newest()
		if t.Greet {
			asked = u.c.cfg.Greeting
		}
		if words = recap(asked, answered); asked != "" || len(t.Frames) == 0 {
			u.put(upItem{recap: words})
			return
		}
	}
	if t.Before != nil {
		u.tell(t.Before, "")
	}
	u.tell(t, words)
}

// tell queues a turn, and behind what was said in it words of ours, if any.
func (u *uplink) tell(t *voicenets.CallerTurn, words string) {
	switch {
	case t.Greet:
		u.put(upItem{cmd: voicenets.Greet})
	case t.Typed != nil:
		u.text(t.Typed)
	default:
		manual := u.c.detection() == voicenets.Manual
		if manual {
			u.put(upItem{cmd: voicenets.ActivityStart})
		}
		texts := t.Texts
		for i, f := range t.Frames {
			for ; len(texts) > 0 && texts[0].After <= i; texts = texts[1:] {
				u.text(texts[0].Typed)
			}
			u.put(upItem{frame: f})
		}
		for i := range texts {
			u.text(texts[i].Typed)
		}
		if words != "" {
			u.put(upItem{recap: words})
		}
		if manual && !t.Open {
			u.put(upItem{cmd: voicenets.ActivityEnd})
		}
	}
}

// text queues a text of a turn that is told again. One that waits in the queue goes
// behind what was put since; one that waited, and has left, is told already.
func (u *uplink) text(text *voicenets.Typed) {
	same := func(it upItem) bool { return it.text == text }
	u.mu.Lock()
	before := len(u.queue)
	u.queue = slices.DeleteFunc(u.queue, same)
	told := len(u.queue) == before && slices.ContainsFunc(u.kept, same)
	u.mu.Unlock()
	if !told {
		u.put(upItem{text: text})
	}
}

// recap tells the model where its answer was cut off.
func recap(asked, answered string) string {
	text := "(The connection was lost in the middle of your answer."
	if asked != "" {
		text += fmt.Sprintf(" You were asked: %q.", asked)
	}
	if answered != "" {
		text += fmt.Sprintf(" This much of your answer was heard: %q.", answered)
	} else {
		text += " Only its beginning was heard."
	}
	return text + " Go on from there, and do not say again what was heard.)"
}
