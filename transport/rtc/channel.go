package rtc

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/pion/webrtc/v4"

	"github.com/voicegw/voicegw/transport"
)

// ChannelLabel is the label of the data channel that carries events. The channel must be reliable
// and ordered.
const ChannelLabel = "voicegw.v1"

const (
	// channelBytesMax is how many bytes may be buffered on the data channel; at this limit send
	// waits until half of them are sent.
	channelBytesMax = 1 << 20
	// waitingMax and waitingBytesMax bound the events that wait until the data channel opens; more
	// are dropped.
	waitingMax      = 64
	waitingBytesMax = 512 << 10
	// messageBytesMax is the longest message sent; browsers accept no longer one.
	messageBytesMax = 256 << 10
	// messageBytesUsual is the room for a message that is read. A longer one, which is rare, gets more
	// for itself. The library's own reader holds 64 KiB for as long as the channel is open.
	messageBytesUsual = 1 << 10
)

// errLongMessage says that a message of the far end is longer than EventBytesMax.
var errLongMessage = errors.New("transport/rtc: read the data channel: a message is too long")

// channel carries events to the far end. Safe for concurrent use.
type channel struct {
	room chan struct{} // of size 1: fewer bytes are buffered
	over chan struct{} // closed when the call has ended
	open chan struct{} // closed when events can flow
	left chan struct{} // closed when the far end has closed the data channel

	mu      sync.Mutex
	dc      *webrtc.DataChannel // nil until it is open
	none    bool                // there will be no channel
	waiting []string
	bytes   int // sum of the lengths of waiting
	dropped uint64
}

func newChannel(expected bool, over chan struct{}) *channel {
	return &channel{room: make(chan struct{}, 1), open: make(chan struct{}), left: make(chan struct{}), over: over,
		none: !expected}
}

// messageReader is a data channel of the library: it reads the next message, or io.ErrShortBuffer, and then
// keeps the message for a longer b.
type messageReader interface {
	ReadDataChannel(b []byte) (n int, text bool, err error)
}

// readMessages calls take for each message of a data channel until the far end closes it, which is io.EOF, or
// breaks it. take may keep the message.
func readMessages(from messageReader, take func(data []byte, text bool)) error {
	usual := make([]byte, messageBytesUsual)
	for b := usual; ; {
		n, text, err := from.ReadDataChannel(b)
		switch {
		case errors.Is(err, io.ErrShortBuffer) && len(b) > EventBytesMax:
			return errLongMessage
		case errors.Is(err, io.ErrShortBuffer): // the message is still there
			b = make([]byte, min(4*len(b), EventBytesMax+1))
			continue
		case err != nil:
			return err
		case n > EventBytesMax:
			return errLongMessage
		}
		take(append([]byte(nil), b[:n]...), text)
		b = usual
	}
}

// leave notes that the far end has closed a data channel.
func (c *channel) leave(dc *webrtc.DataChannel) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dc == dc {
		close(c.left)
	}
}

// use sends the waiting events and all later ones over dc.
func (c *channel) use(dc *webrtc.DataChannel) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dc != nil {
		return // a second channel; the first stays in use
	}
	dc.SetBufferedAmountLowThreshold(channelBytesMax / 2)
	dc.OnBufferedAmountLow(func() { signal(c.room) })
	for _, text := range c.waiting {
		_ = dc.SendText(text)
	}
	c.dc, c.waiting, c.bytes = dc, nil, 0
	close(c.open)
}

// send sends one event, or keeps it until the channel opens. When too much is buffered it waits at
// most for timeout; then the far end is stalled.
func (c *channel) send(ctx context.Context, b []byte, timeout time.Duration) error {
	dc := c.opened(b)
	if dc == nil {
		return nil
	}
	if dc.BufferedAmount() > channelBytesMax {
		if err := c.wait(ctx, dc, timeout); err != nil {
			return err
		}
	}
	if err := dc.SendText(string(b)); err != nil {
		return lostPeer(err)
	}
	return nil
}

func lostPeer(err error) *transport.Ended {
	return &transport.Ended{Reason: transport.ReasonPeerLost, Message: transport.ReasonPeerLost.Message(), Err: err}
}

// opened returns the channel if it is open; otherwise it keeps b, or drops it.
func (c *channel) opened(b []byte) *webrtc.DataChannel {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case len(b) > messageBytesMax, c.none:
		c.dropped++
		return nil
	case c.dc != nil:
		return c.dc
	case len(c.waiting) >= waitingMax || c.bytes+len(b) > waitingBytesMax:
		c.dropped++
		return nil
	}
	c.waiting, c.bytes = append(c.waiting, string(b)), c.bytes+len(b)
	return nil
}

func (c *channel) wait(ctx context.Context, dc *webrtc.DataChannel, timeout time.Duration) error {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for dc.BufferedAmount() > channelBytesMax {
		select {
		case <-c.room:
		case <-c.over:
			return lostPeer(nil)
		case <-c.left:
			return lostPeer(io.ErrClosedPipe)
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return transport.ErrStalled
		}
	}
	return nil
}

// farewell sends the last events and waits, at most for timeout, until the far end has them. It
// also waits for a channel that is about to open.
func (c *channel) farewell(events [][]byte, timeout time.Duration) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	if !c.none {
		select {
		case <-c.open:
		case <-timer.C:
		}
	}
	c.mu.Lock()
	dc := c.dc
	c.mu.Unlock()
	if dc == nil {
		return
	}
	dc.SetBufferedAmountLowThreshold(0)
	for _, b := range events {
		if dc.SendText(string(b)) != nil {
			return
		}
	}
	for dc.BufferedAmount() > 0 {
		select {
		case <-c.room:
		case <-c.left:
			return
		case <-timer.C:
			return
		}
	}
}
