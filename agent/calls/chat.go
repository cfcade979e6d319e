package calls

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/agent/managed"
)

const (
	// messageSchema is what the function of an agent takes by default.
	messageSchema = `{"type":"object","properties":{"message":{"type":"string",` +
		`"description":"what to ask or to do, with everything that the agent must know"}},"required":["message"]}`
	answerMax = 32 << 10        // bytes of an answer; the rest is cut off
	stopTime  = 5 * time.Second // for storing that nobody waits for an answer any more
)

// chat is the session of a call with one agent.
type chat struct {
	turn    chan struct{} // a lock with one token; take it before you send, and put it back behind the answer
	session string        // "" until there is one
	name    string        // of its agent
}

var errWaits = errors.New("the agent waits for somebody else, who must confirm a call or give a result; its work " +
	"goes on then, and this conversation does not learn what comes of it")

var errOver = errors.New("the session of the agent has ended")

// agentID is the id of an agent.
func agentID(name string) string {
	if strings.HasPrefix(name, "agent_") {
		return name
	}
	return managed.SharedID(name)
}

// ask sends the arguments of a call of a function to an agent and returns its answer. Messages to one agent go one
// after the other. If ctx ends before the answer is there, the agent is interrupted: nobody would hear it.
func (c *calls) ask(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	s, ok := voicegw.SessionOf(ctx)
	if !ok {
		return nil, errors.New("calls: the function is called outside of a call")
	}
	c.mu.Lock()
	v := c.visit(s.ID())
	to := v.chats[name]
	if to == nil {
		to = &chat{turn: make(chan struct{}, 1)}
		to.turn <- struct{}{}
		v.chats[name] = to
	}
	c.mu.Unlock()
	select {
	case <-to.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { to.turn <- struct{}{} }()

	rt, o := c.cfg.Runtime(), c.cfg.Owner(s.Labels())
	if to.session == "" {
		started, err := rt.StartSession(ctx, o, managed.SessionRequest{Agent: agentID(name), Title: "Call " + s.ID(),
			Metadata: map[string]string{CallKey: s.ID()}})
		if err != nil {
			return nil, err
		}
		to.session, to.name = started.ID, started.Agent.Name
		c.mu.Lock()
		v.sessions = append(v.sessions, to.session)
		c.mu.Unlock()
	}
	var answer string
	sent, err := rt.Send(ctx, o, to.session, managed.Once{}, managed.Text(message(args)))
	if err == nil {
		answer, err = to.answer(ctx, rt, o, &sent[0])
	}
	if ctx.Err() != nil { // the message may be stored, also if Send failed
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		return nil, errors.Join(ctx.Err(), rt.Interrupt(stop, o, to.session))
	}
	if errors.Is(err, errWaits) || errors.Is(err, errOver) || managed.CodeOf(err) == managed.NotFound {
		to.session = "" // it keeps waiting, or has ended; the next message begins another one
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]string{"answer": answer})
}

// message is what an agent gets of the arguments of a function.
func message(args json.RawMessage) string {
	var own map[string]any
	if json.Unmarshal(args, &own) == nil && len(own) == 1 {
		if text, ok := own["message"].(string); ok && text != "" {
			return text
		}
	}
	return string(args)
}

// answer waits for what the agent says to a message. Of a workflow it is the answer of the run, which has the name of
// the workflow, and not what the agents in it say.
func (c *chat) answer(ctx context.Context, rt *managed.Runtime, o managed.Owner, sent *managed.Event) (string, error) {
	var said strings.Builder
	taken, failure := false, "the agent has ended"
	for ev, err := range rt.Events(ctx, o, c.session, sent.Seq, true) {
		switch {
		case err != nil:
			return "", err
		case ev.ID == sent.ID:
			taken = ev.ProcessedAt != nil
		case !taken:
		case ev.Type == managed.AgentMessage:
			if ev.Agent != "" && ev.Agent == c.name {
				said.Reset()
			}
			for _, b := range ev.Content {
				if said.Len() > 0 && b.Text != "" {
					said.WriteByte('\n')
				}
				said.WriteString(b.Text)
			}
		case ev.Type == managed.SessionError && ev.Error != nil:
			failure = ev.Error.Message
		case ev.Type == managed.StatusTerminated:
			return "", fmt.Errorf("%w: %s", errOver, failure)
		case ev.Type == managed.StatusIdle:
			return ended(ev.StopReason, said.String(), failure)
		}
	}
	return "", errors.Join(ctx.Err(), errors.New(failure))
}

// ended returns what the agent said in a turn that has ended. The error says why the turn has no answer.
func ended(why *managed.StopReason, said, failure string) (string, error) {
	switch {
	case why == nil, why.Type == managed.EndTurn && why.Detail != "interrupted":
		if len(said) > answerMax {
			said = strings.ToValidUTF8(said[:answerMax], "") + " [cut]"
		}
		return said, nil
	case why.Type == managed.RequiresAction:
		return "", errWaits
	case why.Type == managed.RetriesExhausted:
		return "", fmt.Errorf("the agent failed: %s", failure)
	}
	return "", fmt.Errorf("the agent has stopped: %s", strings.Join(strings.Fields(why.Type+" "+why.Detail), ", "))
}
