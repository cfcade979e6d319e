package simulate

import (
	"context"
	"time"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// do takes a step.
func (s *caller) do(step step) {
	send := func(ev transport.Event) { s.line.send(&ev) }
	underWay := 2 * s.plan.peer.packetFrames
	switch step.do {
	case doAsk:
		s.ask(step.what)
	case doSay:
		s.say(step.what)
	case doCut:
		s.mic.say(nil)
		if s.plan.pushes() {
			s.presses.Add(1)
			send(transport.Event{Kind: transport.EventTalk})
		}
	case doType:
		send(transport.Event{Kind: transport.EventText, Text: step.what})
	case doKeys:
		send(transport.Event{Kind: transport.EventDTMF, Text: step.what})
	case doMute:
		s.toggle(step, underWay, func() { send(transport.Event{Kind: transport.EventMute, On: step.on}) })
	case doHold:
		s.toggle(step, underWay, func() { send(transport.Event{Kind: transport.EventHold, On: step.on}) })
	case doConsent:
		step.on = !step.on // consent opens the gate
		s.toggle(step, underWay, func() { send(transport.Event{Kind: transport.EventConsent, On: !step.on}) })
	case doTalk:
		send(transport.Event{Kind: transport.EventTalk, On: step.on})
	case doStick:
		s.mic.stick(step.on)
	case doResult:
		send(transport.Event{Kind: transport.EventToolResult, ID: step.what, Text: "1"})
	default:
		s.hostDoes(step)
	}
}

// hostDoes takes a step of the host's, or one that ends the call.
func (s *caller) hostDoes(step step) {
	switch step.do {
	case doBye:
		for s.line.isAway() && s.sleep(20*time.Millisecond) { // nobody hears it before
		}
		s.line.send(&transport.Event{Kind: transport.EventBye})
		return
	case doBreak:
		s.line.fail(transport.ReasonPeerLost)
		return
	case doBreach:
		s.line.fail(transport.ReasonBadJSON)
		return
	}
	if s.host == nil { // the call was never up
		if step.do == doHandOff || step.do == doHangUp {
			s.line.fail(transport.ReasonPeerLost)
		}
		return
	}
	switch step.do {
	case doHostHold:
		s.toggle(step, hostFramesUnderWay, func() { _ = s.host.Hold(step.on) })
	case doProtect:
		s.toggle(step, hostFramesUnderWay, func() { _ = s.host.Protect(step.on) })
	case doHint:
		opinion := voicenets.BackChannel
		if step.what != "back" {
			opinion++
		}
		_ = s.host.Hint(opinion)
	case doHostSay:
		s.hostSays(step)
	case doHandOff:
		_ = s.host.HandOff("+123")
	case doHangUp:
		_ = s.host.HangUp()
	}
}

// hostSays sends a text in one of the ways a host has: for the caller, as something that the model is
// to know, or as a request to speak. The step's time decides, so that older scripts stay as they are.
func (s *caller) hostSays(step step) {
	roles := []transport.Role{transport.RoleUser, transport.RoleSystem, transport.RoleAssistant}
	switch ms := int(step.then / time.Millisecond); ms % 3 {
	case 0:
		_ = s.host.Text(step.what)
	case 1:
		_ = s.host.Context(context.Background(), roles[ms/3%3], step.what)
	default:
		_ = s.host.Prompt(context.Background(), step.what)
	}
}

// toggle works a switch that closes the input gate while it is on. When it opens, so many frames
// may be under way.
func (s *caller) toggle(step step, underWay int, work func()) {
	if step.on {
		work()
		s.mic.closeGate(step.do)
		return
	}
	s.mic.openGate(step.do, underWay)
	work()
}

// hostFramesUnderWay is how many frames may be under way when the host opens the input gate.
const hostFramesUnderWay = 12
