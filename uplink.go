package voicegw

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/voicenets"
)

// uplinkMax is the most that may wait to be sent to the model: about 10 s of
// frames. A connection that takes nothing for so long is lost.
const uplinkMax = 512

// errModelStalled says that the model's side takes nothing any more.
var errModelStalled = errors.New("the model stopped taking what was sent to it")

// uplink carries the net's audio and commands to the model, in order: to the
// connection the net chose last.
type uplink struct {
	c     *call
	queue chan upItem
	link  *link // of write; nil: what is sent goes nowhere, and the net knows

	cutting atomic.Bool // the caller's turn, or what was typed, may be interrupting the model
}

// upItem is one of its fields, or else a command.
type upItem struct {
	frame *voicenets.CallerFrame
	text  *voicenets.Typed
	turn  *voicenets.CallerTurn
	tool  *voicenets.ToolEnd
	link  *link
	cmd   voicenets.Command
}

func newUplink(c *call) *uplink { return &uplink{c: c, queue: make(chan upItem, uplinkMax)} }

// put never blocks; it is called by the net's loop alone.
func (u *uplink) put(it upItem) {
	select {
	case u.queue <- it:
	default:
		u.c.endWith(u.c.modelLost(errModelStalled))
	}
}

// close ends write once everything queued is sent. The loop has ended, so
// nothing is put any more.
func (u *uplink) close() { close(u.queue) }

// write sends until the queue is closed. What cannot be sent is forgotten: the
// connection is gone, and the net tells the next one.
func (u *uplink) write(ctx context.Context) {
	for it := range u.queue {
		if it.link != nil {
			u.link = it.link
			continue
		}
		if u.link == nil || u.link.isDown() {
			continue
		}
		if err := u.send(ctx, u.link.conn, it); err != nil {
			u.failed(ctx, err)
		}
	}
}

// failed takes an error of a connection for its end; a message that it refused
// is the fault of what was to be said, and forgotten.
func (u *uplink) failed(ctx context.Context, err error) {
	var ce *live.CloseError
	if errors.As(err, &ce) {
		u.link.down(ctx, err)
		return
	}
	u.c.log.Warn("the model was not told", zap.Error(err))
}

func (u *uplink) send(ctx context.Context, conn live.Conn, it upItem) error {
	switch {
	case it.frame != nil:
		return conn.SendAudio(ctx, it.frame.PCM)
	case it.text != nil:
		u.cutting.Store(true)
		return conn.Send(ctx, live.ClientMessage{Kind: live.ClientText, Text: it.text.Text})
	case it.turn != nil:
		return u.again(ctx, conn, it.turn)
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

// again tells a new connection of a turn the old one may not have heard, or has
// not answered to the end: that is said in words, unless nobody wrote down what
// the caller said.
func (u *uplink) again(ctx context.Context, conn live.Conn, t *voicenets.CallerTurn) error {
	words := ""
	if t.Cut {
		asked, answered := u.c.talk.newest()
		if t.Greet {
			asked = u.c.cfg.Greeting
		}
		if words = recap(asked, answered); asked != "" || len(t.Frames) == 0 {
			return conn.Send(ctx, live.ClientMessage{Kind: live.ClientText, Text: words})
		}
	}
	switch {
	case t.Greet:
		return u.command(ctx, conn, voicenets.Greet)
	case t.Typed != nil:
		return conn.Send(ctx, live.ClientMessage{Kind: live.ClientText, Text: t.Typed.Text})
	case u.c.detection() == voicenets.Server:
		return nil // its turns are the model's own
	}
	err := conn.Send(ctx, live.ClientMessage{Kind: live.ClientActivityStart})
	for _, f := range t.Frames {
		if err == nil {
			err = conn.SendAudio(ctx, f.PCM)
		}
	}
	if err == nil && words != "" {
		err = conn.Send(ctx, live.ClientMessage{Kind: live.ClientText, Text: words})
	}
	if err == nil && !t.Open {
		err = conn.Send(ctx, live.ClientMessage{Kind: live.ClientActivityEnd})
	}
	return err
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
