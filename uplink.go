package voicegw

import (
	"context"
	"sync"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/voicenets"
)

// uplinkMax is the most that may wait to be sent to the model: about 10 s of
// frames. A model that takes nothing for so long is lost.
const uplinkMax = 512

// uplink carries the net's audio and commands to the model, in order.
type uplink struct {
	c     *call
	queue chan upItem
	once  sync.Once
}

// upItem is a frame or, where frame is nil, a command.
type upItem struct {
	frame *voicenets.CallerFrame
	cmd   voicenets.Command
}

func newUplink(c *call) *uplink { return &uplink{c: c, queue: make(chan upItem, uplinkMax)} }

func (u *uplink) audio(f *voicenets.CallerFrame) { u.put(upItem{frame: f}) }
func (u *uplink) command(cmd voicenets.Command)  { u.put(upItem{cmd: cmd}) }

// put never blocks; it is called by the net's loop alone.
func (u *uplink) put(it upItem) {
	select {
	case u.queue <- it:
	default:
		u.c.end(voicenets.ModelLost, "The model stopped taking what was sent to it.")
	}
}

// close ends write once everything queued is sent. The loop has ended.
func (u *uplink) close() { u.once.Do(func() { close(u.queue) }) }

func (u *uplink) write(ctx context.Context) {
	defer u.c.carriers.Done()
	for it := range u.queue {
		if err := u.send(ctx, it); err != nil {
			u.c.modelGone(ctx, err)
			for range u.queue { // until the loop has ended
			}
			return
		}
	}
}

func (u *uplink) send(ctx context.Context, it upItem) error {
	if it.frame != nil {
		return u.c.conn.SendAudio(ctx, it.frame.PCM)
	}
	switch it.cmd {
	case voicenets.ActivityStart:
		return u.c.conn.Send(ctx, live.ClientMessage{Kind: live.ClientActivityStart})
	case voicenets.ActivityEnd:
		return u.c.conn.Send(ctx, live.ClientMessage{Kind: live.ClientActivityEnd})
	default:
		return u.c.conn.Send(ctx, live.ClientMessage{Kind: live.ClientText, Text: u.c.g.cfg.Greeting})
	}
}
