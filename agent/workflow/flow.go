package workflow

import (
	"context"
	"iter"
	"slices"
	"strings"

	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
)

// Flow is the control token of a run: where it is, an agent works or waits. It is immutable.
type Flow struct {
	Turn   *agent.Turn
	State  State
	Output any // of the agent before; nil at the start
	// Args are what the agent was called with, if a model called it as a tool; nil: nobody did.
	Args map[string]any
	// Said is what agents have said on this path, the oldest first. An agent that a model called begins
	// without any.
	Said []Said
}

// Said is what an agent has said: the content of its event.
type Said struct {
	Author  string
	Content *genai.Content
	seq     uint64 // of the firing that stored it
}

// joinSaid merges what branches have said: the first one's, then what the others have more, in their order.
func joinSaid(all, more []Said) []Said {
	if len(more) == 0 {
		return all
	}
	known := map[uint64]bool{}
	for _, s := range all {
		known[s.seq] = true
	}
	all = slices.Clip(all)
	for _, s := range more {
		if !known[s.seq] {
			all = append(all, s)
		}
	}
	return all
}

// State is what a path of a run has written. A join of branches keeps, for each key, what was written
// last; since no two branches write one key at once, that does not depend on which of them was faster.
// It is immutable.
type State struct{ values []*written } // ordered by key

type written struct {
	key   string
	value any
	seq   uint64 // of the firing that wrote it
}

// Get returns the value of a key.
func (s State) Get(key string) (any, bool) {
	i, ok := s.find(key)
	if !ok {
		return nil, false
	}
	return s.values[i].value, true
}

// find returns where a key is, or is to be.
func (s State) find(key string) (int, bool) {
	return slices.BinarySearchFunc(s.values, key, func(w *written, key string) int { return strings.Compare(w.key, key) })
}

// All yields the keys and their values, ordered by key.
func (s State) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, w := range s.values {
			if !yield(w.key, w.value) {
				return
			}
		}
	}
}

// with returns the state with one more value.
func (s State) with(key string, value any, seq uint64) State {
	w := &written{key, value, seq}
	i, ok := s.find(key)
	rest := s.values[i:]
	if ok {
		rest = rest[1:]
	}
	values := make([]*written, 0, len(s.values)+1)
	return State{append(append(append(values, s.values[:i]...), w), rest...)}
}

// join merges states of branches.
func (s State) join(others ...State) State {
	for _, o := range others {
		s = s.merge(o)
	}
	return s
}

// merge merges two states.
func (s State) merge(o State) State {
	a, b := s.values, o.values
	values := make([]*written, 0, max(len(a), len(b))+1)
	for len(a) > 0 && len(b) > 0 {
		order := 0
		if a[0] != b[0] {
			order = strings.Compare(a[0].key, b[0].key)
		}
		switch {
		case order < 0:
			values, a = append(values, a[0]), a[1:]
		case order > 0:
			values, b = append(values, b[0]), b[1:]
		case b[0].seq > a[0].seq:
			values, a, b = append(values, b[0]), a[1:], b[1:]
		default:
			values, a, b = append(values, a[0]), a[1:], b[1:]
		}
	}
	return State{append(append(values, a...), b...)}
}

// Visit is what an llm agent with tools has done since it began. It is immutable.
type Visit struct {
	Flow  *Flow
	Steps []Step
	exit  bool // an answer with calls has ended the loop
}

// Step is one answer of a model that calls tools, and what came of the calls.
type Step struct {
	// Content is the whole answer, if the Result had an event.
	Content *genai.Content
	Calls   []*genai.FunctionCall
	Results []any  // by call; nil: it has none yet
	open    []work // what is still to run
}

// work is a part of the calls of a Step: the plain tools together, or one agent.
type work struct {
	calls []int
	agent int // index among the agents that it calls; -1: plain tools
}

// Job is what a leaf is asked to do. Retries get the same Job.
type Job struct {
	Agent *Agent
	// Path is where the agent is in the workflow, such as pipeline/fetch_a. It is unique in a run unless a
	// loop or a router runs the agent again.
	Path string
	// Author is the name under which the agent's events are stored: its name, or its path if it is used in
	// several places, and agents may work at the same time.
	Author string
	Visit  *Visit
	// Calls are the calls of tools to run; nil: the agent itself is to work.
	Calls []*genai.FunctionCall
	// React is the react block of the agent; nil: it is in none.
	React *Agent
	// Routes are the agents that a router may hand over to.
	Routes []string
}

// Result is what a leaf did.
type Result struct {
	// Output becomes the value of the agent's output_key. Its text, without space around it, chooses a
	// route of a dag.
	Output any
	// Event is what the session stores; nil for an event without content.
	Event *session.Event
	// Calls are calls of tools. The model is asked again when they have results.
	Calls []*genai.FunctionCall
	// Refused are those of Calls that must not reach the agents that they name. They are calls of tools, so the
	// Worker gives their results.
	Refused []*genai.FunctionCall
	// Route is the agent that a router hands over to; "" answers.
	Route string
	// Exit ends the nearest loop once the agent of the loop that runs is done. Beside Calls it is kept until
	// this agent is done.
	Exit bool
	// Deferred means that the result, or that of some of Job.Calls, comes later. The agent parks: it does
	// nothing more in this run. Once no other agent works, the turn ends with agent.Parked. The run then goes
	// on as a new turn, in which a Worker gives the results that it gave before, and those that have come.
	Deferred bool
	// Repeated, beside an error, means that the attempt failed before, in a run that goes on: the next one follows
	// without a delay, since the time has passed already.
	Repeated bool
	// Results are those of Job.Calls, in their order.
	Results []any

	fault agent.Code // of an attempt that the net itself has ended
}

// Worker does the work of leaves: it asks models, calls tools and functions. It is safe for concurrent
// use. ctx ends when the work takes too long or the run ends; Do must then return soon. An error fails
// the attempt, except that of calls of tools, which the model learns.
type Worker interface {
	Do(ctx context.Context, s *agent.Session, j *Job) (*Result, error)
}
