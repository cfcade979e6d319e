package voicegw

import (
	"context"
	"errors"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// uplinkMax is the most that may wait to be sent to the model: about 10 s of
// frames. A model that takes nothing for so long is lost.
const uplinkMax = 512

// errModelStalled says that the model's side takes nothing any more.
var errModelStalled = errors.New("the model stopped taking what was sent to it")

// uplink carries the net's audio and commands to the model, in order.
type uplink struct {
	c     *call
	queue chan upItem
}

// upItem is a frame or, where frame is nil, a command.
type upItem struct {
	frame *voicenets.CallerFrame
	cmd   voicenets.Command
}

func newUplink(c *call) *uplink { return &uplink{c: c, queue: make(chan upItem, uplinkMax)} }

// put never blocks; it is called by the net's loop alone.
func (u *uplink) put(it upItem) {
	select {
	case u.queue <- it:
	default:
		u.c.endWith(&ending{end: voicenets.ModelLost, reason: transport.ReasonModelLost,
			message: words(errModelStalled), err: errModelStalled})
	}
}

// close ends write once everything queued is sent. The loop has ended, so
// nothing is put any more.
func (u *uplink) close() { close(u.queue) }

// write sends until the queue is closed, or forgets what can no longer be sent.
func (u *uplink) write(ctx context.Context) {
	var err error
	for it := range u.queue {
		if err != nil {
			continue
		}
		if err = u.send(ctx, it); err != nil {
			u.c.modelGone(ctx, err)
		}
	}
}

func (u *uplink) send(ctx context.Context, it upItem) error {
	if it.frame != nil {
		err := u.c.conn.SendAudio(ctx, it.frame.PCM)
		u.c.mic.reuse(it.frame)
		return err
	}
	m := live.ClientMessage{Kind: live.ClientText, Text: u.c.cfg.Greeting}
	switch it.cmd {
	case voicenets.ActivityStart:
		m = live.ClientMessage{Kind: live.ClientActivityStart}
	case voicenets.ActivityEnd:
		m = live.ClientMessage{Kind: live.ClientActivityEnd}
	}
	return u.c.conn.Send(ctx, m)
}
