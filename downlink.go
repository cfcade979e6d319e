package voicegw

import (
	"context"
	"strconv"
	"sync"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// downlinkMax is the most that may wait to be sent to the peer. Audio is
// bounded by the net's budget long before; a peer behind which so much else
// piles up has stopped reading.
const downlinkMax = 1024

// downlink carries the net's audio, notices and transcripts to the peer, in
// order.
type downlink struct {
	c     *call
	queue chan downItem
	mu    sync.Mutex // guards closed, because not only the loop puts
	done  bool
	msg   transport.Message
}

// downItem is one of its fields.
type downItem struct {
	frame  *voicenets.ReplyFrame
	words  *voicenets.Words
	msg    *transport.Message
	notice voicenets.Notice
}

func newDownlink(c *call, _ int) *downlink {
	return &downlink{c: c, queue: make(chan downItem, downlinkMax)}
}

func (d *downlink) audio(f *voicenets.ReplyFrame) { d.put(downItem{frame: f}) }
func (d *downlink) words(w *voicenets.Words)      { d.put(downItem{words: w}) }
func (d *downlink) notice(n voicenets.Notice)     { d.put(downItem{notice: n}) }
func (d *downlink) message(m *transport.Message)  { d.put(downItem{msg: m}) }

// put never blocks.
func (d *downlink) put(it downItem) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done {
		return
	}
	select {
	case d.queue <- it:
	default:
		d.done = true
		close(d.queue)
		go d.c.end(voicenets.PeerStalled, "")
	}
}

// close ends write once everything queued is sent.
func (d *downlink) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.done {
		d.done = true
		close(d.queue)
	}
}

func (d *downlink) write(ctx context.Context) {
	defer d.c.carriers.Done()
	var tick <-chan struct{}
	if d.c.feed != nil {
		d.graph(ctx)
		tick = d.c.feed.changed
	}
	for {
		select {
		case it, ok := <-d.queue:
			if !ok {
				return
			}
			if err := d.send(ctx, it); err != nil {
				d.c.peerGone(ctx, err)
				d.drain()
				return
			}
		case <-tick:
			d.c.feed.send(ctx, d.c)
		}
	}
}

// drain forgets what can no longer be sent, until the queue is closed.
func (d *downlink) drain() {
	for range d.queue {
	}
}

func (d *downlink) send(ctx context.Context, it downItem) error {
	switch {
	case it.frame != nil:
		return d.c.peer.SendAudio(ctx, wire(it.frame.Gen), it.frame.PCM)
	case it.msg != nil:
		return d.c.peer.Send(ctx, it.msg)
	case it.words != nil:
		who := transport.WhoCaller
		if it.words.Who == voicenets.Model {
			who = transport.WhoModel
		}
		return d.c.peer.Send(ctx, &transport.Message{Kind: transport.MessageTranscript, Who: who, Text: it.words.Text,
			Final: it.words.Final, Generation: wire(it.words.Gen)})
	default:
		return d.c.peer.Send(ctx, message(it.notice))
	}
}

// wire is a generation as the protocol counts: from 1.
func wire(g petri.Gen) uint64 { return uint64(g) + 1 }

// message is a notice in the words of the protocol.
func message(n voicenets.Notice) *transport.Message {
	m := &transport.Message{Kind: transport.MessageTurn, Generation: wire(n.Gen)}
	switch n.Kind {
	case voicenets.SpeechHeard:
		m.Kind, m.State = transport.MessageSpeech, transport.StateStart
	case voicenets.SpeechOver:
		m.Kind, m.State = transport.MessageSpeech, transport.StateStop
	case voicenets.ReplyStarted:
		m.State = transport.StateStart
	case voicenets.ReplyPaused:
		m.State = transport.StatePause
	case voicenets.ReplyResumed:
		m.State = transport.StateResume
	case voicenets.ReplyCut:
		m.State, m.TurnEnd = transport.StateEnd, transport.TurnInterrupted
	case voicenets.ReplyComplete:
		m.State, m.TurnEnd = transport.StateEnd, transport.TurnComplete
	case voicenets.ClearPlayout:
		m.Kind = transport.MessageClear
	case voicenets.MarkEnd:
		m.Kind, m.ID = transport.MessageMark, strconv.FormatUint(m.Generation, 10)+":end"
	}
	return m
}

// graph sends the drawing that the feed moves on.
func (d *downlink) graph(ctx context.Context) {
	err := d.c.peer.Send(ctx, &transport.Message{Kind: transport.MessageNetGraph, Text: d.c.prog.svg})
	if err != nil {
		d.c.peerGone(ctx, err)
	}
}
