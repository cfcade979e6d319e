package voicegw

import (
	"context"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// outputs passes what the net puts out to the part of the call that acts on it. The net's loop
// calls its methods; none of them blocks.
type outputs struct {
	peer    *peerWriter
	model   *modelWriter
	dialer  *modelDialer
	tools   *toolCalls
	prompts *promptPlayer
	input   *callerInput
	acks    *ackTracker
	talk    *conversation
	tally   *tally
	turns   *turnLog
	end     *ender
	workers *workers
	hooks   *Hooks
	session *Session
	up      func() // called when the call is up
	log     *zap.Logger

	metrics   *metrics
	modelName string
	silence   *silence

	idle atomic.Bool // the caller's turn is over: the net only keeps the newest frames

	reply    uint64 // the generation of the reply that is played, as on the wire; 0: none
	dropped  uint64 // the event that withdrew consent last
	forgot   int    // the newest connection at that time
	answered bool   // the peer knows that the call is up
	prompt   bool   // the reply that is played is a prompt
	speaking bool   // the caller speaks, as the detector has it
}

// handle acts on one output; work is the context of the call's workers.
func (o *outputs) handle(work context.Context, t petri.Token) {
	if t.Seq() < o.dropped && toModelQueue(t) {
		if note, ok := t.Value().(*voicenets.Typed); ok && note.Role != "" {
			o.model.unreserve(note)
		}
		return // consent was withdrawn while it waited for the archive
	}
	switch v := t.Value().(type) {
	case *voicenets.CallerFrame:
		o.idle.Store(false)
		o.model.put(modelItem{frame: v})
	case voicenets.Command:
		o.command(v)
	case *voicenets.Typed:
		o.typed(t, v)
	case *voicenets.CallerTurn:
		o.idle.Store(false)
		o.model.repeat(v)
	case *voicenets.ToolEnd:
		o.model.put(modelItem{tool: v})
	case *voicenets.ReplyFrame:
		o.acks.sent(v.Gen)
		o.turns.playing()
		o.input.playing(v.PCM)
		o.peer.put(peerItem{frame: v})
	case voicenets.Notice:
		o.peer.put(o.notice(v))
	case *voicenets.TranscriptFragment:
		if l, _ := v.Link.(*link); l != nil && l.number > o.forgot {
			o.talk.add(v.Who, v.Text)
			o.turns.said(v.Who, v.Text)
		}
		o.peer.put(peerItem{transcript: v})
	default:
		o.control(work, t)
	}
}

// command sends a command to the model.
func (o *outputs) command(cmd voicenets.Command) {
	switch cmd {
	case voicenets.ActivityStart:
		o.idle.Store(false)
		o.talk.turn("")
	case voicenets.ActivityEnd:
		o.idle.Store(true)
		o.turns.over()
	case voicenets.Greet, voicenets.Nudge:
	default:
		o.end.fail(unknown("command", cmd))
		return
	}
	o.model.put(modelItem{cmd: cmd})
}

// typed sends a text to the model, or reports to the peer that it is lost.
func (o *outputs) typed(t petri.Token, text *voicenets.Typed) {
	switch t.Place() {
	case string(voicenets.NoteUp):
		o.model.put(modelItem{note: text})
	case string(voicenets.TextUp):
		o.talk.turn(text.Text)
		o.turns.over()
		if !text.FromHost && !text.Request {
			o.turns.said(voicenets.Caller, text.Text)
		}
		o.model.put(modelItem{text: text})
	case string(voicenets.TextLost):
		if text.Role != "" {
			o.model.unreserve(text)
		}
		if !text.FromHost {
			o.peer.put(peerItem{msg: textLost(text.Lost)})
		}
	default:
		o.end.fail(unknownOutput(t))
	}
}

// on calls do with the value of an output at p. It reports false for a token of another place, and
// for one of another colour, which a net that compiles does not have there.
func on[T any](p petri.Place[T], t petri.Token, do func(T)) bool {
	v, ok := p.From(t)
	if ok {
		do(v)
	}
	return ok
}

// control does what the net asks for besides the conversation. Each case handles its token itself.
func (o *outputs) control(work context.Context, t petri.Token) {
	switch {
	case on(voicenets.FramesEnded, t, func(petri.Unit) { o.input.abort.Store(true) }):
	case on(voicenets.PresumedPlayed, t, func(petri.Unit) {
		o.log.Info("playout was not acknowledged in time")
		o.acks.giveUp()
	}):
	case on(voicenets.PlayPrompt, t, func(p voicenets.Playing) {
		o.prompt = true
		o.workers.start("playing a prompt", func() { o.prompts.play(work, p) })
	}):
	case on(voicenets.StartTool, t, func(run *voicenets.ToolRun) { o.tools.start(work, run) }):
	case on(voicenets.StopTool, t, o.tools.stop):
	case on(voicenets.Collected, t, o.collected):
	case on(voicenets.Transfer, t, func(to *voicenets.Target) {
		o.peer.put(peerItem{msg: &transport.Message{Kind: transport.MessageTransfer, Text: to.Address}})
	}):
	case on(voicenets.Hangup, t, func(e voicenets.End) {
		o.end.hungUp(e)
		o.endTurn(e)
	}):
	case o.uplink(work, t):
	default:
		o.end.fail(unknownOutput(t))
	}
}

// uplink does what the net asks for about the connection to the model and the queue to it. It
// reports false for another output.
func (o *outputs) uplink(work context.Context, t petri.Token) bool {
	switch {
	case on(voicenets.Dial, t, func(from *voicenets.Resumption) {
		o.dialer.start(work, from, o.model.heldSince(t.Seq()))
	}):
	case on(voicenets.UseLink, t, func(d *voicenets.Dialling) { o.use(work, d.Link.(*link)) }):
	case on(voicenets.GiveNotes, t, func(petri.Unit) { o.model.put(modelItem{give: true}) }):
	case on(voicenets.HoldUplink, t, func(petri.Unit) {
		o.model.hold(t.Seq())
		o.dialer.withhold(false)
	}):
	case on(voicenets.ReleaseUplink, t, func(petri.Unit) { o.model.release(t.Seq()) }):
	case on(voicenets.DropUplink, t, func(petri.Unit) { o.forget(t.Seq()) }):
	case on(voicenets.CloseLink, t, func(petri.Unit) { o.dialer.newest().down(work, nil) }):
	default:
		return false
	}
	return true
}

// forget drops everything that is kept of what the caller said. Transcripts that connections up to
// now still send are not kept.
func (o *outputs) forget(event uint64) {
	o.dropped = event
	o.model.drop(event)
	o.talk.forget()
	o.turns.forget()
	o.forgot = o.dialer.opened()
	o.dialer.withhold(true)
}

// use makes a connection the one that the call talks to. With the first one the call is up.
func (o *outputs) use(work context.Context, l *link) {
	use := l.inUse(work)
	reader, err := newModelReader(use, l, o.model, o.tools, o.turns, o.prompts.outputRateHz)
	if err != nil {
		o.end.fail(err)
		return
	}
	l.work("reading the model", func() { reader.read(work, use) })
	o.model.use(l) // from here on writing may find that it is down
	if o.answered {
		return
	}
	o.answered = true
	o.peer.put(peerItem{ready: true})
	o.up()
	if running := o.hooks.Running; running != nil {
		o.workers.start("Hooks.Running", func() { running(o.session) })
	}
}

// collected passes the host what the caller entered during protected input.
func (o *outputs) collected(d *voicenets.Digits) {
	if digits := o.hooks.Digits; digits != nil && d.Text != "" {
		o.workers.start("Hooks.Digits", func() { digits(o.session, d.Text) })
	}
}

// notice notes what a notice means for the detector, which expects echo while a reply is played,
// and for the ack tracker. It returns the notice for the peer: at the end of a reply with how much of
// it was heard, and what it cost.
func (o *outputs) notice(n voicenets.Notice) peerItem {
	o.tally.notice(n.Kind)
	it := peerItem{notice: n}
	switch n.Kind {
	case voicenets.SpeechHeard:
		o.speaking = true
		o.turns.turned(SpeechBegan)
	case voicenets.SpeechOver:
		o.speaking = false
		o.turns.spoke()
	case voicenets.MarkEnd:
		if !o.prompt {
			it.usage = o.turns.tokens()
		}
	case voicenets.NoReply:
		it.turns = o.turns.unanswered(wire(n.Gen), TurnUnanswered)
		o.metrics.turns.WithLabelValues(string(TurnUnanswered)).Inc()
	case voicenets.ReplyStarted:
		o.input.raised.Store(true)
		o.reply = wire(n.Gen)
		o.turns.started(o.reply)
	case voicenets.ReplyPaused:
		o.turns.stage(Paused)
	case voicenets.ReplyResumed:
		o.turns.resumed()
	case voicenets.ReplyCut, voicenets.ReplyComplete, voicenets.ReplyLost:
		o.input.raised.Store(false)
		o.reply = 0
		o.ended(&it, wire(n.Gen), turnEnd(n.Kind))
	case voicenets.ClearPlayout:
		o.acks.cleared(n.Gen)
		o.turns.stage(Cleared)
		if o.speaking || o.model.modelVAD {
			o.silence.cleared(wire(n.Gen))
		}
		o.input.cleared()
	case voicenets.HoldEnded, voicenets.ProtectEnded, voicenets.ConsentGiven:
		o.input.reopen.Store(true) // a caller in mid-speech is heard from now on
	case voicenets.HoldStarted, voicenets.ConsentAsked, voicenets.ProtectStarted, voicenets.LinkLost,
		voicenets.LinkBack: // only the peer is told
	default:
		o.end.fail(unknown("notice", n.Kind))
	}
	return it
}

// ended completes the item that tells the peer that a reply ended.
func (o *outputs) ended(it *peerItem, generation uint64, why transport.TurnEnd) {
	it.heard = o.acks.heardMS(generation)
	if !o.prompt {
		it.usage = o.turns.take()
	}
	it.turns = o.turns.end(generation, why, it.heard, it.usage, o.prompt)
	if !o.prompt {
		dollars, known := o.metrics.turn(o.modelName, &it.turns[len(it.turns)-1])
		o.tally.spent(it.usage, dollars, known)
	}
	o.prompt = false
}

// endTurn reports the end of a turn that the end of the call cuts short.
func (o *outputs) endTurn(e voicenets.End) {
	why := transport.TurnCallOver
	if e == voicenets.ModelLost {
		why = transport.TurnModelLost
	}
	if o.reply == 0 {
		if o.turns.open() {
			o.peer.put(peerItem{silent: true, turns: o.turns.unanswered(0, why)})
		}
		return
	}
	var it peerItem
	o.ended(&it, o.reply, why)
	it.msg = &transport.Message{Kind: transport.MessageTurn, State: transport.StateEnd, TurnEnd: why,
		Generation: o.reply, HeardMS: it.heard, Usage: it.usage}
	o.peer.put(it)
}
