package adkagent

import (
	"context"
	"errors"
	"fmt"
	"iter"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/platform"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
)

// ask asks the model of a member, with plugins and callbacks in ADK's order.
func (m *member) ask(ctx context.Context, q *agent.Request) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		r := runOf(q.Turn)
		if r == nil {
			yield(nil, errOver)
			return
		}
		ic := r.as(ctx, m)
		req, err := m.request(r, ic)
		if err != nil {
			yield(nil, fmt.Errorf("build the request: %w", err))
			return
		}
		s := &step{member: m, run: r, ic: ic, req: req,
			actions: &session.EventActions{StateDelta: map[string]any{}, ArtifactDelta: map[string]int64{}}}
		s.plugins = m.box.keys.plugins(s.ic)
		instead, err := s.enter()
		if instead == nil && err == nil {
			instead, err = s.before()
		}
		id := r.newEventID(s.ic, s.actions)
		if instead != nil || err != nil {
			yield(instead, err)
			return
		}
		spanCtx, end := m.core.startModelSpan(s.ic, m.cfg.Model.Name(), s.ic.InvocationID())
		for resp, err := range m.cfg.Model.GenerateContent(spanCtx, req, q.Turn.Stream) {
			if end != nil && (err != nil || resp != nil && !resp.Partial) {
				end(id, resp, err)
				end = nil
			}
			resp, err = s.check(resp, err)
			if !yield(resp, err) || err != nil {
				break
			}
		}
		if end != nil {
			end(id, nil, nil)
		}
	}
}

// call runs a call of a tool.
func (m *member) call(ctx context.Context, c *agent.Call) (*agent.Reply, error) {
	r := runOf(c.Turn)
	if r == nil {
		return nil, errOver
	}
	ic := m.core.source.part(r.as(ctx, m), r.began, c.Call.ID)
	tools, err := m.toolsOf(r, ic)
	if err != nil {
		return nil, err
	}
	res := m.box.call(ic, tools, c.Call, r.confirmed[c.Call.ID])
	return &agent.Reply{Response: res.response, Actions: res.actions, Fault: res.fault,
		Last: res.actions.SkipSummarization, Deferred: res.deferred}, nil
}

// toolsOf are the tools of the request that is answered, or of a request that would be built now.
func (m *member) toolsOf(r *run, ic adk.InvocationContext) (map[string]any, error) {
	r.mu.Lock()
	tools, ok := r.tools[m]
	r.mu.Unlock()
	if ok {
		return tools, nil
	}
	req := &model.LLMRequest{Config: &genai.GenerateContentConfig{}}
	if err := m.box.pack(ic, req); err != nil {
		return nil, err
	}
	r.setTools(m, req.Tools)
	return req.Tools, nil
}

// step is one request to a model, as callbacks see it.
type step struct {
	*member
	run     *run
	ic      adk.InvocationContext
	req     *model.LLMRequest
	actions *session.EventActions
	plugins plugins
	in      adk.Context // of callbacks
}

// callback is the context of a callback.
func (s *step) callback() adk.Context {
	if s.in == nil {
		s.in = adk.NewCallbackContextWithArtifactTracking(s.ic, s.actions)
	}
	return s.in
}

// before asks plugins and callbacks for a response in place of the model's.
func (s *step) before() (*model.LLMResponse, error) {
	if s.plugins != nil {
		if r, err := s.plugins.RunBeforeModelCallback(s.callback(), s.req); r != nil || err != nil {
			return r, err
		}
	}
	for _, cb := range s.cfg.BeforeModelCallbacks {
		if r, err := cb(s.callback(), s.req); r != nil || err != nil {
			return r, err
		}
	}
	return nil, nil
}

// errNilResponse means that a model has neither responded nor failed.
var errNilResponse = errors.New("the model yielded neither a response nor an error")

// check shows a response, or a failure, to plugins and callbacks, which may replace it.
func (s *step) check(resp *model.LLMResponse, failed error) (*model.LLMResponse, error) {
	if resp == nil && failed == nil {
		failed = errNilResponse
	}
	if failed != nil {
		instead, err := s.mend(failed)
		if instead == nil || err != nil {
			return nil, err
		}
		resp, failed = instead, nil
	}
	if resp.Content != nil {
		for _, p := range resp.Content.Parts {
			if p != nil && p.FunctionCall != nil && p.FunctionCall.ID == "" {
				p.FunctionCall.ID = ownIDs + platform.NewUUID(s.ic)
			}
		}
	}
	if instead, err := s.after(resp, failed); instead != nil || err != nil {
		return instead, err
	}
	return resp, nil
}

// mend asks plugins and callbacks for a response in place of a failure, which stands without one.
func (s *step) mend(failed error) (*model.LLMResponse, error) {
	if s.plugins != nil {
		if r, err := s.plugins.RunOnModelErrorCallback(s.callback(), s.req, failed); r != nil || err != nil {
			return r, err
		}
	}
	for _, cb := range s.cfg.OnModelErrorCallbacks {
		if r, err := cb(s.callback(), s.req, failed); r != nil || err != nil {
			return r, err
		}
	}
	return nil, failed
}

// after asks plugins and callbacks for another response.
func (s *step) after(resp *model.LLMResponse, failed error) (*model.LLMResponse, error) {
	if s.plugins != nil {
		if r, err := s.plugins.RunAfterModelCallback(s.callback(), resp, failed); r != nil || err != nil {
			return r, err
		}
	}
	for _, cb := range s.cfg.AfterModelCallbacks {
		if r, err := cb(s.callback(), resp, failed); r != nil || err != nil {
			return r, err
		}
	}
	return nil, nil
}
