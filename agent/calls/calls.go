package calls

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/transport"
)

// CallKey is the key of a session's metadata that has the id of the call.
const CallKey = "voicegw_call"

// Config configures the agents of calls.
type Config struct {
	// Runtime returns the runtime that has the sessions. It is asked when a call needs one. Required.
	Runtime func() *managed.Runtime
	// Owner says whose sessions those of a call are. labels are those of the call's plan. nil: the zero Owner.
	Owner func(labels map[string]string) managed.Owner
	// Tools are the agents that the models of calls may ask.
	Tools []Tool
	// After is what follows a call; nil for nothing.
	After *After
	// Logger receives warnings and errors, no content. nil logs nothing.
	Logger *zap.Logger
}

// Tool is an agent that the model of a call may ask. The model sends it a message and gets {"answer": "..."}.
type Tool struct {
	// Tool declares the function. Without Parameters it takes {"message": TEXT}; the arguments of a function with
	// Parameters of its own reach the agent as JSON. NonBlocking and Scheduling say when the caller hears the answer.
	// Its Call must be nil.
	voicegw.Tool
	// Agent is the id of the agent, or the name of a shared one.
	Agent string
}

// After says what follows a call.
type After struct {
	// Agent is the id of the agent, or the name of a shared one. It gets one message: a Report as JSON.
	Agent string
	// Transcripts lets the report have what was said, as far as the model transcribes it: at most 128 KiB, the
	// newest. It then is in the journal.
	Transcripts bool
}

// Report is what the agent of After gets.
type Report struct {
	Call voicegw.Record `json:"call"`
	// Turns are what was said, if After.Transcripts allows it. Cut means that older turns are left out.
	Turns []Turn `json:"turns,omitempty"`
	Cut   bool   `json:"turns_cut,omitempty"`
	// Sessions are those of the call with the agents that it asked.
	Sessions []string `json:"sessions,omitempty"`
}

// Turn is what one side said in one turn.
type Turn struct {
	Who         transport.Who `json:"who"`
	Text        string        `json:"text"`
	Interrupted bool          `json:"interrupted,omitempty"` // the caller spoke over it
}

// calls are the agents of the calls of one gateway.
type calls struct {
	cfg Config

	mu   sync.Mutex
	open map[string]*visit // by id of the call: those that have asked an agent or said something
}

// visit is what is kept of one call while it runs.
type visit struct {
	chats    map[string]*chat // by agent
	sessions []string
	turns    []Turn
	bytes    int // of the texts of turns
	cut      bool
}

// Join makes a gateway's configuration use agents: it adds tools to cfg.Tools and wraps hooks of cfg.Hooks.
func Join(cfg *voicegw.Config, c Config) error {
	switch {
	case c.Runtime == nil:
		return errors.New("calls: Config.Runtime is nil; let it return what managed.New made")
	case c.After != nil && c.After.Agent == "":
		return errors.New("calls: After.Agent is empty; it is the id or the name of an agent")
	}
	if c.Owner == nil {
		c.Owner = func(map[string]string) managed.Owner { return managed.Owner{} }
	}
	if c.Logger == nil {
		c.Logger = zap.NewNop()
	}
	all := &calls{cfg: c, open: map[string]*visit{}}
	for _, t := range c.Tools {
		if t.Agent == "" || t.Call != nil {
			return fmt.Errorf("calls: the tool %q needs an Agent, and no Call of its own", t.Name)
		}
		if t.Parameters == nil {
			t.Parameters = json.RawMessage(messageSchema)
		}
		t.Tool.Call = func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
			return all.ask(ctx, t.Agent, args)
		}
		cfg.Tools = append(cfg.Tools, t.Tool)
	}
	all.hook(&cfg.Hooks)
	return nil
}

// hook wraps the hooks of a gateway.
func (c *calls) hook(h *voicegw.Hooks) {
	turn, ended := h.Turn, h.Ended
	if c.cfg.After != nil && c.cfg.After.Transcripts {
		h.Turn = func(s *voicegw.Session, t voicegw.Turn) {
			c.note(s.ID(), t)
			if turn != nil {
				turn(s, t)
			}
		}
	}
	h.Ended = func(r voicegw.Record) {
		c.mu.Lock()
		v := c.open[r.Call]
		delete(c.open, r.Call)
		c.mu.Unlock()
		if c.cfg.After != nil {
			c.follow(r, v)
		}
		if ended != nil {
			ended(r)
		}
	}
}

// visit is what is kept of a call. The caller holds mu.
func (c *calls) visit(call string) *visit {
	v := c.open[call]
	if v == nil {
		v = &visit{chats: map[string]*chat{}}
		c.open[call] = v
	}
	return v
}
