package voicegw

import (
	"context"
	"fmt"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// peerReader reads the peer and injects what it sends. One goroutine uses it.
type peerReader struct {
	peer        transport.Peer
	inputRateHz int
	in          *injector
	input       *callerInput
	acks        *ackTracker
	tally       *tally
	silence     *silence
	turns       *turnLog
	tools       *toolCalls
	writer      *peerWriter
	model       *modelWriter
	end         *ender
	typed       turnPermits
	messages    *pageMessages
	hold        *holdSwitch
	keys        decidingKeys
	row         []petri.Token // reused
}

// read injects what the peer sends until it is gone.
func (r *peerReader) read(ctx context.Context) {
	var ev transport.Event
	p := newPace(time.Now())
	for {
		if err := r.peer.Recv(ctx, &ev); err != nil {
			if ctx.Err() == nil {
				r.end.ask(peerGone(err))
			}
			return
		}
		if wait := p.spend(time.Now(), r.cost(&ev)); wait > 0 && !sleep(ctx, wait) {
			return
		}
		if n := r.typedTurns(&ev); n > 0 {
			if wait := r.typed.take(time.Now(), n); wait > 0 {
				r.writer.answer(ctx, tooFast(wait))
				continue
			}
		}
		r.event(ctx, &ev)
	}
}

// cost is how much of the peer's reading time an event takes.
func (r *peerReader) cost(ev *transport.Event) time.Duration {
	switch ev.Kind {
	case transport.EventAudio:
	case transport.EventText, transport.EventContext, transport.EventPrompt:
		return paceText
	default:
		return paceEvent
	}
	return max(paceEvent, time.Duration(len(ev.PCM))*time.Second/time.Duration(r.inputRateHz))
}

// typedTurns is how many model turns an event asks for without speech: one for a text, and one for
// each entry of digits that it ends.
func (r *peerReader) typedTurns(ev *transport.Event) int {
	switch ev.Kind {
	case transport.EventText, transport.EventPrompt:
		return 1
	case transport.EventDTMF:
		return r.keys.turns(ev.Text)
	}
	return 0
}

// tooFast answers a text, or keys, that were refused because of turnPermits.
func tooFast(wait time.Duration) *transport.Message {
	return &transport.Message{Kind: transport.MessageError, Code: codeTooFast, Text: fmt.Sprintf(
		"This was not taken: you type too fast. Send it again in %d s.", int((wait+time.Second-1)/time.Second))}
}

func (r *peerReader) event(ctx context.Context, ev *transport.Event) {
	if ev.Kind != transport.EventAudio {
		r.input.alive()
	}
	switch ev.Kind {
	case transport.EventAudio:
		r.input.push(ev.PCM)
	case transport.EventAck:
		r.acknowledged(ctx, ev)
	case transport.EventMute:
		r.toggle(ctx, voicenets.PeerMute.Token(position(ev.On)))
	case transport.EventTalk:
		r.input.talk(ev.On)
	case transport.EventHold:
		r.input.restart()
		r.hold.press(ev.On, func(t petri.Token) { r.in.inject(ctx, t) })
	case transport.EventConsent:
		r.toggle(ctx, voicenets.Consent.Token(position(ev.On)))
	case transport.EventBye:
		r.end.askFor(voicenets.HungUp)
	case transport.EventText:
		r.in.inject(ctx, voicenets.CallerText.Token(&voicenets.Typed{Text: ev.Text}))
	case transport.EventPrompt:
		r.in.inject(ctx, voicenets.Request.Token(&voicenets.Typed{Text: ev.Text, Request: true}))
	case transport.EventContext:
		r.note(ctx, ev)
	case transport.EventDTMF:
		for i := range len(ev.Text) {
			r.keys.press(ctx, r, ev.Text[i:i+1])
		}
	case transport.EventAway, transport.EventBack:
		r.connection(ctx, ev)
	case transport.EventMessage:
		if why := r.messages.take(time.Now(), ev); why != "" {
			r.writer.answer(ctx, &transport.Message{Kind: transport.MessageError, Code: codeMessage, Text: why})
		}
	case transport.EventToolResult:
		if !r.tools.answered(ev) {
			r.writer.answer(ctx, &transport.Message{Kind: transport.MessageError, Code: codeNoTool,
				Text: "No tool call with this id waits for a result."})
		}
	}
}

// connection puts the call on hold while the peer has no connection. When the peer is back, the
// frames that it has heard count first; then the reply goes on behind them.
func (r *peerReader) connection(ctx context.Context, ev *transport.Event) {
	r.input.restart()
	if ev.Kind == transport.EventBack {
		heard := r.acks.returned(ev.Generation, ev.PlayedMS)
		r.tally.heard(heard)
		r.heard(ctx, ev.Generation, heard)
	}
	r.hold.lose(ev.Kind == transport.EventAway, func(t petri.Token) { r.in.inject(ctx, t) })
}

// note injects a text for the model to know.
func (r *peerReader) note(ctx context.Context, ev *transport.Event) {
	if !r.model.reserve(ev.Text) {
		r.writer.answer(ctx, textLost(voicenets.LostFull))
		return
	}
	r.in.inject(ctx, voicenets.Note.Token(&voicenets.Typed{Text: ev.Text, Role: string(ev.Role)}))
}

// toggle injects a switch that opens or closes the input gate. Audio from before and after it
// shares no frame.
func (r *peerReader) toggle(ctx context.Context, position petri.Token) {
	r.input.restart()
	r.in.inject(ctx, position)
}

// acknowledged injects a token for each frame that was newly heard.
func (r *peerReader) acknowledged(ctx context.Context, ev *transport.Event) {
	heard := r.acks.acked(ev)
	if ev.Cleared {
		r.silence.acked(ev.Generation)
	}
	if r.acks.allHeard() {
		r.input.played()
	}
	r.tally.heard(heard)
	r.heard(ctx, ev.Generation, heard)
}

// heard injects a token for each of so many frames of a generation.
func (r *peerReader) heard(ctx context.Context, generation uint64, frames int) {
	gen := petri.Gen(generation - 1) // generation 0 was never handed over
	if frames > 0 {
		r.turns.heard(generation)
	}
	for frames > 0 {
		r.row = r.row[:0]
		for ; frames > 0 && len(r.row) < rowMax; frames-- {
			r.row = append(r.row, voicenets.PeerAck.Token(voicenets.Ack{Gen: gen}))
		}
		r.in.inject(ctx, r.row...)
	}
}
