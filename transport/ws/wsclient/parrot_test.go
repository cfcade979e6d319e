package wsclient

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
)

// parrot is the smallest gateway that keeps the protocol: it repeats what was said, hands over at
// most a budget, pauses when it is spoken over, and then stops or resumes.
type parrot struct {
	halfDuplex bool // ignores caller audio during a reply: a gateway without barge-in
	silent     bool // never answers
	shy        bool // promises a greeting and says none
	rude       bool // does not answer bye
	asks       bool // for consent, and does not listen before; then says its greeting
	stutter    int  // frames of silence in the middle of a reply
	greeting   []int16
	leave      transport.Reason // ends the call with it after the first utterance
	unsaid     bool             // then without any word

	calls chan heardCall // what was heard, a call each
}

// heardCall is what the parrot knows of a call.
type heardCall struct {
	samples  []int16 // all that came up
	talks    []bool  // of the talk button
	excess   int     // acknowledgements of more than was handed over
	end      error
	counters ws.Counters
}

const (
	parrotBudget  = 20 // frames
	parrotStart   = 3  // loud frames that are speech
	parrotConfirm = 15 // loud frames that are an interruption
	parrotStop    = 25 // quiet frames that end it
	parrotThinks  = 50 // frames from consent to what it does
)

func (p *parrot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	peer, err := ws.Accept(w, r, ws.Config{})
	if err != nil {
		p.calls <- heardCall{end: err}
		return
	}
	c := &parrotCall{parrot: p, peer: peer, ctx: context.Background()}
	c.toOut, _ = audio.NewResampler(peer.Hello().InputRateHz, peer.Hello().OutputRateHz)
	if err = peer.Ready(c.ctx, transport.Ready{Call: "c-1", Greeting: p.shy || p.greeting != nil,
		Budget: 400 * time.Millisecond}); err == nil {
		err = c.run()
	}
	c.heard.end, c.heard.counters = err, peer.Counters()
	p.calls <- c.heard
}

// parrotCall is one call; one goroutine does all of it, as what comes up is its clock.
type parrotCall struct {
	*parrot
	peer  *ws.Peer
	ctx   context.Context
	toOut *audio.Resampler
	heard heardCall

	said        []int16 // of the utterance in progress
	loud, quiet int     // frames
	speaking    bool
	pressed     bool // the talk button

	generation uint64
	reply      []int16 // all of it
	next       int     // its next sample to hand over
	open       bool    // the reply goes on
	paused     bool
	acks       transport.AckCounter
	marked     bool
}

func (c *parrotCall) run() error {
	defer func() { _ = c.peer.Close(transport.ReasonDone, "") }()
	if c.asks {
		c.send(transport.Message{Kind: transport.MessageConsent, State: transport.StateStart})
	} else if c.greeting != nil {
		c.begin(c.greeting)
	}
	frames, hears := 0, 0
	if c.asks {
		hears = math.MaxInt
	}
	var ev transport.Event
	for {
		if err := c.peer.Recv(c.ctx, &ev); err != nil {
			return err
		}
		switch ev.Kind {
		case transport.EventConsent:
			hears = frames + parrotThinks
		case transport.EventTalk:
			c.pressed = ev.On
			c.heard.talks = append(c.heard.talks, ev.On)
		case transport.EventAudio:
			if frames++; frames == hears {
				c.send(transport.Message{Kind: transport.MessageConsent, State: transport.StateStop})
				if c.greeting != nil {
					c.begin(c.greeting)
				}
			}
			if frames < hears || c.peer.Hello().Detection == transport.DetectionPush && !c.pressed {
				ev.PCM = make([]int16, len(ev.PCM))
			}
			c.hear(ev.PCM)
			if c.leave != transport.ReasonNone && c.reply != nil {
				return c.hangUp()
			}
		case transport.EventAck:
			c.ack(&ev)
		case transport.EventBye:
			if !c.rude {
				return c.peer.Close(transport.ReasonCallerHungUp, "")
			}
		}
		c.hand()
	}
}

func (c *parrotCall) hangUp() error {
	if c.unsaid {
		return c.peer.Close(transport.ReasonPeerLost, "")
	}
	return c.peer.Close(c.leave, "")
}

func (c *parrotCall) send(m transport.Message) { _ = c.peer.Send(c.ctx, &m) }

func (c *parrotCall) turn(state transport.State, end transport.TurnEnd) {
	c.send(transport.Message{Kind: transport.MessageTurn, State: state, Generation: c.generation, TurnEnd: end})
}

// begin starts a reply.
func (c *parrotCall) begin(pcm []int16) {
	c.generation++
	c.reply, c.next, c.open, c.paused, c.marked = pcm, 0, true, false, false
	c.turn(transport.StateStart, "")
}

// hear takes a frame of the caller.
func (c *parrotCall) hear(pcm []int16) {
	c.heard.samples = append(c.heard.samples, pcm...)
	if c.halfDuplex && c.open {
		return
	}
	if audio.RMS(pcm) >= loudRMS {
		c.loud, c.quiet = c.loud+1, 0
	} else {
		c.quiet++
	}
	if c.loud > 0 {
		c.said = append(c.said, pcm...)
	}
	switch {
	case c.loud >= parrotConfirm && c.open && c.paused:
		c.turn(transport.StateEnd, transport.TurnInterrupted)
		c.open = false
	case c.loud >= parrotStart && !c.speaking:
		c.speaking = true
		c.send(transport.Message{Kind: transport.MessageSpeech, State: transport.StateStart})
		if c.open {
			c.paused = true
			c.turn(transport.StatePause, "")
			c.send(transport.Message{Kind: transport.MessageClear, Generation: c.generation})
		}
	case c.quiet >= parrotStop && c.loud > 0:
		c.utterance()
	}
}

// utterance ends what was said: too little of it resumes the reply, else it is repeated.
func (c *parrotCall) utterance() {
	said := c.toOut.Resample(nil, c.said)
	long := c.loud >= parrotStart && c.speaking
	c.said, c.loud, c.speaking = nil, 0, false
	if !long {
		return
	}
	c.send(transport.Message{Kind: transport.MessageSpeech, State: transport.StateStop})
	switch {
	case c.open && c.paused:
		c.paused = false
		c.turn(transport.StateResume, "")
	case !c.silent:
		c.begin(said)
	}
}

// hand hands over what the budget allows, and marks the end.
func (c *parrotCall) hand() {
	n := audio.FrameSamples(c.peer.Hello().OutputRateHz)
	if c.open && c.stutter > 0 && c.next >= len(c.reply)/2 {
		c.stutter--
		return
	}
	for c.open && !c.paused && c.next < len(c.reply) && c.acks.Open(c.generation) < parrotBudget {
		frame := make([]int16, n) // the last one is filled up with silence
		c.next += copy(frame, c.reply[c.next:])
		if c.peer.SendAudio(c.ctx, c.generation, frame) != nil {
			return
		}
		c.acks.Sent(c.generation, 1)
	}
	if c.open && !c.paused && c.next >= len(c.reply) && !c.marked {
		c.marked = true
		c.send(transport.Message{Kind: transport.MessageMark, Generation: c.generation,
			ID: strconv.FormatUint(c.generation, 10) + ":end"})
	}
}

func (c *parrotCall) ack(ev *transport.Event) {
	got := c.acks.Ack(ev.Generation, ev.PlayedMS, ev.Cleared)
	if got.Excess || got.Unknown && ev.PlayedMS > 0 {
		c.heard.excess++
	}
	switch {
	case ev.Cleared && ev.Generation == c.generation:
		c.next = int(ev.PlayedMS) * c.peer.Hello().OutputRateHz / 1000
		c.marked = false
	case ev.Mark != "" && c.open && ev.Generation == c.generation:
		c.turn(transport.StateEnd, transport.TurnComplete)
		c.open = false
	}
}
