package agent

import (
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/petri"
)

// Turn is one turn of a session: a message of the user, and what handlers need to answer it. It must
// not change while the turn runs.
type Turn struct {
	// ID is the invocation of the turn, unique in its session.
	ID string
	// Message is what the user said.
	Message *genai.Content
	// Resume are calls with which the turn begins, in place of a request to the model: calls of an
	// earlier turn that the user has confirmed. Their ids are unique. Calls beyond Limits.MaxCalls are
	// not run.
	Resume []*genai.FunctionCall
	// History returns the contents of the session so far, the message included. It is called while no
	// Emit runs. nil means that there is only the message.
	History func() []*genai.Content
	// HistoryOf returns them as one agent sees them, in place of History.
	HistoryOf func(agent string) []*genai.Content
	// Emit receives every event of the turn, in order, on the goroutine of Session.Run unless Anywhere is set.
	// It must store the event, unless kind.Stored is false. An error means that the event is not stored: the turn
	// ends, and the error is the error of Session.Run.
	Emit func(ev *session.Event, kind EventKind) error
	// Anywhere lets any goroutine of the session call Emit, still one event at a time. Then the goroutine that has
	// done the work of a task may store its event, and go on, without the goroutine of Session.Run.
	Anywhere bool
	// Stream asks models for partial responses.
	Stream bool
	// Host is for handlers: whatever the caller of Session.Run wants them to have.
	Host any
}

// EventKind says what an event is to the turn. It is the key of an Event.
type EventKind uint8

// The kinds of events.
const (
	Partial EventKind = iota // a part of a response that is still coming; it is not stored
	Step                     // the turn goes on after it
	Answer                   // the last event of a turn
	Notice                   // why the turn ended early; it is not stored
)

var eventKinds = []string{"partial", "step", "answer", "notice"}

// Key returns k as a key.
func (k EventKind) Key() petri.Key { return petri.Key(k) }

// String returns the name of the kind.
func (k EventKind) String() string { return eventKinds[k] }

// Stored reports whether events of the kind belong into the session.
func (k EventKind) Stored() bool { return k == Step || k == Answer }

// Event is an event on its way out.
type Event struct {
	Turn  *Turn
	Kind  EventKind
	Event *session.Event
}

// Key returns the kind as a key.
func (e *Event) Key() petri.Key { return e.Kind.Key() }

// KeyNames returns the names of the kinds.
func (*Event) KeyNames() []string { return eventKinds }

// Write is an event that the session is to store.
type Write struct {
	Turn  *Turn
	Kind  EventKind // Step or Answer
	Event *session.Event
	gen   petri.Gen
}

// Key returns the kind as a key.
func (w *Write) Key() petri.Key { return w.Kind.Key() }

// KeyNames returns the names of the kinds.
func (*Write) KeyNames() []string { return eventKinds }

// Generation returns the generation of the turn.
func (w *Write) Generation() petri.Gen { return w.gen }

// Request is a request to the model of an agent.
type Request struct {
	Turn    *Turn
	Request *model.LLMRequest
	draft   *model.LLMResponse // that is to be checked
}

// Failing is a request to a model that failed.
type Failing struct {
	Request *Request
	Fault   *Fault
}

// Piece is a part of a response that is still coming.
type Piece struct {
	Turn     *Turn
	Response *model.LLMResponse
}

// Response is what the model of an agent answered.
type Response struct {
	Turn     *Turn
	Response *model.LLMResponse
}

// Call is one call of a tool. Its id is unique in its response.
type Call struct {
	Turn *Turn
	Call *genai.FunctionCall
}

// Calls are the calls of one response, in its order.
type Calls struct {
	Turn   *Turn
	Calls  []*Call
	faults []*Fault
	note   []*genai.FunctionResponse // answers to calls that are not run
}

// Reply is what a tool returned.
type Reply struct {
	// Response is the result of the call, for the model.
	Response map[string]any
	// Actions are merged into the event of the results. nil means none.
	Actions *session.EventActions
	// Last ends the turn when all calls of the response have results: the model is not asked again.
	Last bool
	// Deferred means that the result comes later, as a message of the user. The event of the results
	// leaves the call out, and the turn ends as with Last.
	Deferred bool
	// Fault is what went wrong. nil if nothing did. With a Fault and no Response, the model gets the
	// Fault.
	Fault *Fault
}

// Results are the results of all calls of one response, in the order of the calls.
type Results struct {
	Calls   *Calls
	Replies []*Reply // by call; nil until it has a result
	faults  []*Fault
	last    bool
}

var resultKinds = []string{"again", "last", "none"}

// What follows the results of tools.
const (
	askAgain  petri.Key = iota // the model gets them
	lastWord                   // nothing: a tool has ended the turn
	noResults                  // nothing: all results come later
)

// Key returns what follows as a key.
func (r *Results) Key() petri.Key {
	switch {
	case r.empty():
		return noResults
	case r.last:
		return lastWord
	}
	return askAgain
}

// empty reports whether all results come later.
func (r *Results) empty() bool {
	for _, reply := range r.Replies {
		if reply == nil || !reply.Deferred {
			return false
		}
	}
	return len(r.Replies) > 0 && len(r.Calls.note) == 0
}

// KeyNames returns the names of what may follow.
func (*Results) KeyNames() []string { return resultKinds }

// Handover is a transfer to another agent that a model asked for.
type Handover struct {
	Turn   *Turn
	Call   *genai.FunctionCall
	To     string // name of the agent, as the model gave it
	faults []*Fault
	note   []*genai.FunctionResponse
}

// How says how a turn ended. It is the key of an End.
type How uint8

// The ways in which a turn ends.
const (
	Answered How = iota
	GaveUp       // the model asked for tools until the re-ask budget was spent
	Failed       // the model or a hook failed; an event says why
	Stopped      // the caller stopped the turn
	Unstored     // an event could not be stored
	Parked       // calls wait for results that come later; see Program.Resumes
)

var hows = []string{"answered", "gave_up", "failed", "stopped", "unstored", "parked"}

// Key returns h as a key.
func (h How) Key() petri.Key { return petri.Key(h) }

// String returns the name of the way.
func (h How) String() string { return hows[h] }

// End is the end of a turn.
type End struct {
	Turn  *Turn
	How   How
	Fault *Fault // nil if the turn was answered
}

// Key returns the way as a key.
func (e *End) Key() petri.Key { return e.How.Key() }

// KeyNames returns the names of the ways.
func (*End) KeyNames() []string { return hows }

// Done is the result of a task together with what it was asked.
type Done[I, O any] struct {
	In    I
	Out   O
	Fault *Fault // why there is no Out
}

var doneKinds = []string{"ok", "failed"}

const (
	okKey petri.Key = iota
	failedKey
)

// Key tells whether the task succeeded.
func (d *Done[I, O]) Key() petri.Key {
	if d.Fault != nil {
		return failedKey
	}
	return okKey
}

// KeyNames returns the names of the outcomes.
func (*Done[I, O]) KeyNames() []string { return doneKinds }
