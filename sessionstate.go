package voicegw

import (
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

// Phase is who has the word in a call.
type Phase string

// The phases of a call.
const (
	PhaseListening Phase = "listening" // nobody speaks; the gateway listens to the caller
	PhaseCaller    Phase = "caller"    // the caller speaks
	PhaseThinking  Phase = "thinking"  // the caller waits for a reply
	PhaseReply     Phase = "reply"     // a reply or a prompt is played
	PhasePaused    Phase = "paused"    // the reply is paused: the caller may be interrupting it
	PhaseEnding    Phase = "ending"    // the call ends after its last prompt
)

// State is what a call is doing, as its net has it.
type State struct {
	Began       time.Time `json:"began"`
	Phase       Phase     `json:"phase"`
	OnHold      bool      `json:"on_hold"`
	Protected   bool      `json:"protected"`    // protected input
	Unconsented bool      `json:"unconsented"`  // the caller has not agreed to be heard
	InputClosed bool      `json:"input_closed"` // no audio of the caller goes to the model: one of these, or muted
	ModelOnline bool      `json:"model_online"` // there is a connection to the model
	Tools       int       `json:"tools"`        // function calls that run
}

// counter returns a function that counts the tokens of a place in the marking of now.
func (s *Session) counter() func(petri.AnyPlace) int { return s.counterIn(s.net.Marking()) }

// counterIn returns a function that counts the tokens of a place in a marking.
func (s *Session) counterIn(marking []int32) func(petri.AnyPlace) int {
	prog := s.prog
	return func(p petri.AnyPlace) (n int) {
		place := prog.Place(p.String())
		for slot := range marking {
			if place >= 0 && prog.SlotPlace(slot) == place {
				n += int(marking[slot])
			}
		}
		return n
	}
}

// occupied reports whether the caller speaks, or has not heard yet what came of a reply.
func (s *Session) occupied() bool {
	count := s.counter()
	return count(voicenets.Speaking)+count(voicenets.Confirming)+count(voicenets.ReplyAudio)+count(voicenets.Unacked)+
		count(voicenets.Unplayed) > 0
}

// unconsented reports whether the call waits for consent.
func (s *Session) unconsented() bool { return s.counter()(voicenets.Unconsented) > 0 }

// State returns what the call is doing. It waits for the step of the net that runs, which takes microseconds.
func (s *Session) State() State { return s.stateIn(s.net.Marking()) }

// StateWithin is State for a caller that must not wait for one call that hangs, because of a store of Config.Watch for
// example. The error wraps ErrStalled if the net of the call has worked on one step for longer than limit; the State
// then has nothing but Began. StateWithin blocks for at most limit.
func (s *Session) StateWithin(limit time.Duration) (State, error) {
	marking, err := s.net.MarkingWithin(limit)
	if err != nil {
		return State{Began: s.began}, s.failed(err)
	}
	return s.stateIn(marking), nil
}

// stateIn returns what the call is doing by a marking of its net.
func (s *Session) stateIn(marking []int32) State {
	count := s.counterIn(marking)
	has := func(p petri.AnyPlace) bool { return count(p) > 0 }
	st := State{Began: s.began, Phase: PhaseListening, OnHold: has(voicenets.Held), Protected: has(voicenets.Protected),
		Unconsented: has(voicenets.Unconsented), InputClosed: has(voicenets.InputClosed), ModelOnline: has(voicenets.Online)}
	for slot := range voicenets.SlotsMax {
		st.Tools += count(voicenets.ToolRunning(voicenets.Slot(slot)))
	}
	switch {
	case has(voicenets.Ending):
		st.Phase = PhaseEnding
	case has(voicenets.Confirming):
		st.Phase = PhasePaused
	case has(voicenets.Replying):
		st.Phase = PhaseReply
	case has(voicenets.Speaking):
		st.Phase = PhaseCaller
	case has(voicenets.ReplyPending), has(voicenets.Unanswered):
		st.Phase = PhaseThinking
	}
	return st
}
