package console

import (
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

// spots holds the index of each place that shows what a call is doing. An index is -1 if the net has no such place.
type spots struct {
	speaking, inTurn, lingering, pending, unanswered, modelTurn, discarding int
	replying, waiting, unacked, confirming, parked, prompting, delaying     int
	held, protected, unconsented, muted, closed, online, ending, promptDue  int
	dialling, backingOff, closing, blocked, givenUp, connected              int
	nudged, renewed, greetingDue                                            int
	modelAudio, ack, audioDown, clear, unplayed                             int
	tools                                                                   []int
	frames                                                                  map[int32]bool // see framesOf
}

func spotsOf(p *petri.Program) *spots {
	at := func(name petri.AnyPlace) int { return p.Place(name.String()) }
	s := &spots{
		speaking: at(voicenets.Speaking), inTurn: at(voicenets.InTurn), lingering: at(voicenets.Lingering),
		pending: at(voicenets.ReplyPending), unanswered: at(voicenets.Unanswered), modelTurn: at(voicenets.ModelTurn),
		discarding: at(voicenets.Discarding), replying: at(voicenets.Replying), waiting: at(voicenets.ReplyAudio),
		unacked: at(voicenets.Unacked), confirming: at(voicenets.Confirming), parked: at(voicenets.Parked),
		prompting: at(voicenets.Prompting), delaying: at(voicenets.DelayingReply), held: at(voicenets.Held),
		protected: at(voicenets.Protected), unconsented: at(voicenets.Unconsented), closed: at(voicenets.InputClosed),
		online: at(voicenets.Online), ending: at(voicenets.Ending), promptDue: at(voicenets.PromptDue),
		modelAudio: at(voicenets.ModelAudio), ack: at(voicenets.PeerAck), audioDown: at(voicenets.AudioDown),
		clear: at(voicenets.Clear), muted: p.Place("input_gate/muted"), dialling: p.Place("link/dialling"),
		backingOff: p.Place("link/backing_off"), closing: p.Place("link/closing"), blocked: p.Place("link/dial_blocked"),
		givenUp: p.Place("link/model_given_up"), connected: p.Place("link/connected_before"),
		nudged: p.Place("model_silence/nudged"), renewed: p.Place("model_silence/renewed"),
		greetingDue: p.Place("call/greeting_due"), unplayed: at(voicenets.Unplayed),
	}
	if s.greetingDue < 0 {
		s.greetingDue = at(voicenets.GreetingDue)
	}
	s.frames = s.framesOf(p)
	for slot := range voicenets.Slot(voicenets.SlotsMax) {
		if i := at(voicenets.ToolRunning(slot)); i >= 0 {
			s.tools = append(s.tools, i)
		}
	}
	return s
}

// A Phase is what a call is doing, as the storyboard shows it.
type Phase string

// The phases of a call.
const (
	Connecting Phase = "connecting" // the first connection to the model is being made
	Consent    Phase = "consent"    // the caller has not agreed to be heard
	Listening  Phase = "listening"  // nobody speaks
	Caller     Phase = "caller"     // the caller speaks
	Thinking   Phase = "thinking"   // the model has the caller's turn
	Tool       Phase = "tool"       // a function of the model's runs
	Speaking   Phase = "speaking"   // a reply or a prompt is played
	Paused     Phase = "paused"     // the reply is paused: the caller may be interrupting it
	Held       Phase = "held"       // the call is on hold
	Protected  Phase = "protected"  // protected input
	Offline    Phase = "offline"    // the connection to the model is being replaced
	Ending     Phase = "ending"     // the call ends after its last prompt
	Over       Phase = "over"       // the call is over
)

// has reports whether one of the places is marked.
func has(t *petri.Tracker, places ...int) bool {
	for _, p := range places {
		if t.Count(p) > 0 {
			return true
		}
	}
	return false
}

// phase returns the phase of a call.
func (s *spots) phase(t *petri.Tracker) Phase {
	switch {
	case t.Ended():
		return Over
	case has(t, s.ending):
		return Ending
	case has(t, s.held):
		return Held
	case has(t, s.protected):
		return Protected
	case has(t, s.confirming):
		return Paused
	case has(t, s.replying):
		return Speaking
	case has(t, s.unconsented):
		return Consent
	case has(t, s.speaking, s.inTurn):
		return Caller
	case !has(t, s.online) && !has(t, s.connected):
		return Connecting
	case !has(t, s.online):
		return Offline
	case has(t, s.tools...):
		return Tool
	case has(t, s.pending, s.unanswered):
		return Thinking
	}
	return Listening
}

// audible reports whether the caller hears something: frames are on their way to the caller's ear.
func (s *spots) audible(t *petri.Tracker) bool {
	return has(t, s.unacked) && !has(t, s.confirming, s.parked)
}

// silent reports whether neither side can be heard.
func (s *spots) silent(t *petri.Tracker) bool {
	return !t.Ended() && !has(t, s.speaking) && !s.audible(t)
}

// base returns the name of a place or transition without that of its part and its number.
func base(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	return strings.TrimRight(strings.TrimRight(name, "0123456789"), "_")
}
