package voicegw

import (
	"context"
	"strconv"
	"sync"
	"time"

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
	c       *call
	queue   chan downItem
	written chan struct{} // closed when write is over

	mu     sync.Mutex // guards closed: not only the loop puts
	closed bool

	msg transport.Message // of write
}

// downItem is one of its fields.
type downItem struct {
	frame  *voicenets.ReplyFrame
	words  *voicenets.Words
	msg    *transport.Message
	notice voicenets.Notice
	heard  int64 // with the notice that a reply ended: how many ms of it were heard
	ready  bool  // the call stands
}

func newDownlink(c *call) *downlink {
	return &downlink{c: c, queue: make(chan downItem, downlinkMax), written: make(chan struct{})}
}

// put never blocks.
func (d *downlink) put(it downItem) {
	if !d.offer(it) {
		d.c.endWith(&ending{end: voicenets.PeerStalled, reason: transport.ReasonPeerStalled, err: transport.ErrStalled})
	}
}

// offer reports false when there is no room, and never will be.
func (d *downlink) offer(it downItem) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return true
	}
	select {
	case d.queue <- it:
		return true
	default:
		d.closed = true
		close(d.queue)
		return false
	}
}

// crowded reports that half of the queue is taken.
func (d *downlink) crowded() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.closed && len(d.queue) > downlinkMax/2
}

// close ends write once everything queued is sent.
func (d *downlink) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.closed = true
		close(d.queue)
	}
}

// wait waits for write, which began, to be over, but not longer than most.
func (d *downlink) wait(most time.Duration) {
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-d.written:
	case <-t.C:
	}
}

// write sends until the queue is closed, or forgets what can no longer be sent.
func (d *downlink) write(ctx context.Context) {
	defer close(d.written)
	if err := d.send(ctx); err != nil {
		d.c.peerGone(ctx, err)
		for range d.queue {
		}
	}
}

// send sends until the queue is closed.
func (d *downlink) send(ctx context.Context) error {
	show := newShow(d.c.feed)
	defer show.stop()
	for {
		select {
		case it, ok := <-d.queue:
			if !ok {
				return nil
			}
			err := d.item(ctx, it)
			if it.ready && err == nil {
				err = show.begin(ctx, d.c)
			}
			if err != nil {
				return err
			}
		case <-show.changed:
			if err := show.next(ctx, d.c); err != nil {
				return err
			}
		case <-show.rested():
			show.resume()
		}
	}
}

func (d *downlink) item(ctx context.Context, it downItem) error {
	switch {
	case it.frame != nil:
		return d.c.peer.SendAudio(ctx, wire(it.frame.Gen), it.frame.PCM)
	case it.ready:
		return d.c.peer.Ready(ctx, d.c.readiness())
	case it.msg != nil:
		return d.tell(ctx, it.msg)
	case it.words != nil:
		d.msg = transcript(it.words)
	default:
		d.msg = message(it.notice)
		d.msg.HeardMS = it.heard
	}
	return d.tell(ctx, &d.msg)
}

// tell sends a message to the peer, and to the host.
func (d *downlink) tell(ctx context.Context, m *transport.Message) error {
	if told := d.c.cfg.Hooks.Event; told != nil {
		told(d.c.session, m)
	}
	return d.c.peer.Send(ctx, m)
}

// wire is a generation as the protocol counts: from 1.
func wire(g petri.Gen) uint64 { return uint64(g) + 1 }

// transcript is a fragment of one in the words of the protocol.
func transcript(w *voicenets.Words) transport.Message {
	who := transport.WhoCaller
	if w.Who == voicenets.Model {
		who = transport.WhoModel
	}
	return transport.Message{Kind: transport.MessageTranscript, Who: who, Text: w.Text, Final: w.Final,
		Generation: wire(w.Gen)}
}

// message is a notice in the words of the protocol.
func message(n voicenets.Notice) transport.Message {
	m := transport.Message{Kind: transport.MessageTurn, Generation: wire(n.Gen)}
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
	case voicenets.ReplyLost:
		m.State, m.TurnEnd = transport.StateEnd, transport.TurnModelLost
	case voicenets.ClearPlayout:
		m.Kind = transport.MessageClear
	case voicenets.MarkEnd:
		m.Kind, m.ID = transport.MessageMark, strconv.FormatUint(m.Generation, 10)+":end"
	default:
		return modeMessage(n.Kind)
	}
	return m
}

// modeMessage is a notice about what the call is like.
func modeMessage(kind voicenets.NoticeKind) transport.Message {
	mode := func(k transport.MessageKind, s transport.State) transport.Message {
		return transport.Message{Kind: k, State: s}
	}
	switch kind {
	case voicenets.HoldStarted:
		return mode(transport.MessageHold, transport.StateStart)
	case voicenets.HoldEnded:
		return mode(transport.MessageHold, transport.StateStop)
	case voicenets.ConsentAsked:
		return mode(transport.MessageConsent, transport.StateStart)
	case voicenets.ConsentGiven:
		return mode(transport.MessageConsent, transport.StateStop)
	case voicenets.ProtectStarted:
		return mode(transport.MessageProtected, transport.StateStart)
	case voicenets.ProtectEnded:
		return mode(transport.MessageProtected, transport.StateStop)
	case voicenets.LinkLost:
		return mode(transport.MessageModel, transport.StateLost)
	case voicenets.LinkBack:
		return mode(transport.MessageModel, transport.StateBack)
	default:
		return transport.Message{Kind: transport.MessageError, Code: codeNoReply, Text: "The model has no answer."}
	}
}

// textLost tells the peer of a text that does not go to the model. It does not
// quote the text.
func textLost(why voicenets.Loss) *transport.Message {
	return &transport.Message{Kind: transport.MessageError, Code: codeTextLost,
		Text: "The text was not sent: " + whyLost(why) + "."}
}

// codeTextLost is the code of the error that tells of a text which does not go
// to the model.
const codeTextLost = "text_lost"

// codeNoReply is the code of the error that says that a turn of the caller's
// gets no reply.
const codeNoReply = "no_reply"
