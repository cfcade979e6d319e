package calls_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/agent/calls"
	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal/journaltest"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
)

// office is a gateway whose calls may ask agents.
type office struct {
	*testing.T
	engine  *journaltest.Memory
	rt      *managed.Runtime
	sim     *sim.Server
	url     string
	records chan voicegw.Record
	ending  atomic.Bool // the caller has hung up
}

// newOffice starts a gateway. The model of calls does what script says; the agent answers from turns.
func newOffice(t *testing.T, script string, c calls.Config, turns []provider.ScriptTurn,
	tools ...managed.Tool) *office {
	t.Helper()
	o := &office{T: t, engine: journaltest.NewMemory(), records: make(chan voicegw.Record, 8)}
	models := provider.NewResolver()
	models.Add("script", func(provider.Ref) (model.LLM, error) { return &provider.Script{Turns: turns}, nil })
	var err error
	o.rt, err = managed.New(managed.Config{Journal: o.engine, Models: models, Tools: tools, Shared: []managed.Definition{
		{Name: "clerk", Model: managed.ModelRef{ID: "script"}, Tools: []managed.ToolConfig{
			{Type: managed.AgentToolset}, {Type: managed.CustomTool, Name: "sign", Description: "a person signs",
				InputSchema: json.RawMessage(`{"type":"object"}`)}}},
		{Name: "filing", Model: managed.ModelRef{ID: "parrot"}}}})
	if err != nil {
		t.Fatal(err)
	}
	scenario, err := sim.ParseScenario("test", script)
	if err != nil {
		t.Fatal(err)
	}
	o.sim, err = sim.New(sim.Config{Greeting: make([]int16, 2400), GreetingText: "Hello.", Speed: 100, Scenario: scenario})
	if err == nil {
		err = o.sim.Start("127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Runtime = func() *managed.Runtime { return o.rt }
	cfg := voicegw.Config{Dialer: live.Wire{BaseURL: o.sim.URL()}, Greeting: "Greet the caller.",
		Hooks: voicegw.Hooks{Ended: func(r voicegw.Record) { o.records <- r }}}
	if err := calls.Join(&cfg, c); err != nil {
		t.Fatal(err)
	}
	gw, err := voicegw.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gw)
	o.url = server.URL + "/v1/voice"
	t.Cleanup(func() {
		_ = gw.Close()
		server.Close()
		_ = o.sim.Close()
		if err := o.rt.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return o
}

// call calls, types texts, each when the model has finished speaking, and hangs up. It returns what became of the
// function calls.
func (o *office) call(texts ...string) (replies []string) {
	o.Helper()
	if err := hearOut(o.Context(), o.url, func() { o.ending.Store(true) }, texts...); err != nil {
		o.Fatal(err)
	}
	for _, r := range o.sim.Connections()[0].ToolReplies {
		replies = append(replies, string(r.Response))
	}
	return replies
}

// hearOut calls, types texts, each when the model has finished speaking, and hangs up after before.
func hearOut(ctx context.Context, url string, before func(), texts ...string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	c, err := ws.Dial(ctx, url, transport.Hello{InputRateHz: 8000, OutputRateHz: 8000}, ws.DialConfig{})
	if err != nil {
		return err
	}
	defer c.Close()
	var m transport.Message
	played := map[uint64]int64{} // ms of each reply
	for {
		if err := c.Recv(ctx, &m); err != nil {
			return err
		}
		ev := transport.Event{Kind: transport.EventAck, Generation: m.Generation}
		switch {
		case m.Kind == transport.MessageAudio:
			played[m.Generation] += int64(len(m.PCM) / 8)
		case m.Kind == transport.MessageMark:
			ev.Mark = m.ID
		case m.Kind != transport.MessageTurn || m.State != transport.StateEnd:
			continue
		case len(texts) == 0:
			before()
			return nil
		default:
			ev, texts = transport.Event{Kind: transport.EventText, Text: texts[0]}, texts[1:]
		}
		ev.PlayedMS = played[m.Generation]
		if err := c.SendEvent(ctx, &ev); err != nil {
			return err
		}
	}
}

// sessions are the sessions of an agent.
func (o *office) sessions(agent string) []*managed.Session {
	o.Helper()
	list, _, err := o.rt.Sessions(o.Context(), managed.Owner{}, managed.SessionFilter{Agent: managed.SharedID(agent)},
		managed.Page{Limit: 100, Reverse: true})
	if err != nil {
		o.Fatal(err)
	}
	return list
}

// told are the texts that a session got.
func (o *office) told(id string) (texts []string) {
	o.Helper()
	for ev, err := range o.rt.Events(o.Context(), managed.Owner{}, id, 1, false) {
		if err != nil {
			o.Fatal(err)
		}
		if ev.Type == managed.UserMessage && ev.ProcessedAt == nil {
			texts = append(texts, ev.Content[0].Text)
		}
	}
	return texts
}

func clerk(name string) []calls.Tool {
	return []calls.Tool{{Tool: voicegw.Tool{Name: name, Description: "asks the clerk"}, Agent: "clerk"}}
}

// TestAgentIsATool: the model of a call asks an agent twice. Both messages are in one session of the call, and the
// model gets the answers.
func TestAgentIsATool(t *testing.T) {
	t.Parallel()
	o := newOffice(t, `on text 1: call ask {"message":"Where is order 7?"}`+"\n"+
		`on text 2: call ask {"message":"And order 8?"}`, calls.Config{Tools: clerk("ask")},
		[]provider.ScriptTurn{{Text: "On its way."}, {Text: "Lost."}})
	replies := o.call("hello")
	want := []string{`{"output":{"answer":"On its way."}}`, `{"output":{"answer":"Lost."}}`}
	if !slices.Equal(replies, want) {
		t.Errorf("the model got %q, want %q", replies, want)
	}
	r := <-o.records
	list := o.sessions("clerk")
	if len(list) != 1 || list[0].Metadata[calls.CallKey] != r.Call {
		t.Fatalf("the sessions are %+v, want one of the call %s", list, r.Call)
	}
	if told := o.told(list[0].ID); !slices.Equal(told, []string{"Where is order 7?", "And order 8?"}) {
		t.Errorf("the agent was told %q", told)
	}
}

// TestAgentFails: the model of the call learns why there is no answer, and the call goes on.
func TestAgentFails(t *testing.T) {
	t.Parallel()
	sign := provider.ScriptTurn{Calls: []provider.ScriptCall{{Name: "sign", ID: "s1"}}}
	for name, c := range map[string]struct {
		tools []calls.Tool
		turns []provider.ScriptTurn
		want  []string
	}{
		"waits": {clerk("ask"), []provider.ScriptTurn{sign, sign}, []string{"the agent waits for somebody else"}},
		"fails": {clerk("ask"), nil, []string{"the agent failed: "}},
		"no agent": {[]calls.Tool{{Tool: clerk("ask")[0].Tool, Agent: "nobody"}}, nil,
			[]string{"there is no agent"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, "on text 1: call ask {}\non text 2: call ask {}", calls.Config{Tools: c.tools}, c.turns)
			replies := o.call("hello")
			if len(replies) != 2 || !strings.Contains(replies[0], c.want[0]) || !strings.Contains(replies[1], c.want[0]) {
				t.Errorf("the model got %q, want %q twice", replies, c.want[0])
			}
		})
	}
}

// TestNobodyWaits: the model cancels its call of an agent, which is interrupted.
func TestNobodyWaits(t *testing.T) {
	t.Parallel()
	began, over := make(chan struct{}), make(chan error, 1)
	slow := managed.Tool{Declaration: &genai.FunctionDeclaration{Name: "slow"},
		Call: func(ctx context.Context, _ managed.ToolCall) (map[string]any, error) {
			close(began)
			<-ctx.Done()
			over <- ctx.Err()
			return nil, ctx.Err()
		}}
	o := newOffice(t, "on text 1: call ask {}\non call 1 +300ms: cancel", calls.Config{Tools: clerk("ask")},
		[]provider.ScriptTurn{{Calls: []provider.ScriptCall{{Name: "slow", ID: "s1"}}}}, slow)
	o.call()
	<-began
	if err := <-over; err == nil {
		t.Error("the tool of the agent was not stopped")
	}
	id := o.sessions("clerk")[0].ID
	for ev, err := range o.rt.Events(t.Context(), managed.Owner{}, id, 1, true) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Type == managed.StatusIdle {
			if ev.StopReason.Detail != "interrupted" {
				t.Errorf("the session rests because of %+v", ev.StopReason)
			}
			break
		}
	}
}

// TestAfter: when a call has ended, an agent gets its record and what was said, once, and before anybody else learns
// of the end, although the journal fails at first.
func TestAfter(t *testing.T) {
	t.Parallel()
	o := newOffice(t, `on text 1: call ask {"message":"Where is order 7?"}`, calls.Config{Tools: clerk("ask"),
		After: &calls.After{Agent: "filing", Transcripts: true}}, []provider.ScriptTurn{{Text: "On its way."}})
	var refused atomic.Int32
	o.engine.Before = func(string, uint64, int) error {
		if o.ending.Load() && refused.Add(1) <= 2 {
			return errors.New("the disk is full")
		}
		return nil
	}
	o.call("hello")
	r := <-o.records
	list := o.sessions("filing")
	if len(list) != 1 || list[0].Metadata[calls.CallKey] != r.Call {
		t.Fatalf("the sessions are %+v, want one of the call %s", list, r.Call)
	}
	if refused.Load() < 2 {
		t.Errorf("the journal refused %d records, want 2", refused.Load())
	}
	var got calls.Report
	if err := json.Unmarshal([]byte(o.told(list[0].ID)[0]), &got); err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, turn := range got.Turns {
		said = append(said, string(turn.Who)+": "+turn.Text)
	}
	if got.Call.Call != r.Call || got.Call.Reason != r.Reason || got.Cut ||
		!slices.Equal(got.Sessions, []string{o.sessions("clerk")[0].ID}) ||
		!strings.Contains(strings.Join(said, "\n"), "caller: hello") || !strings.Contains(said[0], "On its way.") {
		t.Errorf("the agent got %+v of %q", got, said)
	}
}

// TestRefusals names what is wrong with a Config.
func TestRefusals(t *testing.T) {
	rt := func() *managed.Runtime { return nil }
	for want, c := range map[string]calls.Config{
		"Config.Runtime is nil":         {},
		"After.Agent is empty":          {Runtime: rt, After: &calls.After{}},
		`the tool "ask" needs an Agent`: {Runtime: rt, Tools: []calls.Tool{{Tool: voicegw.Tool{Name: "ask"}}}},
	} {
		if err := calls.Join(&voicegw.Config{}, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	cfg := voicegw.Config{}
	if err := calls.Join(&cfg, calls.Config{Runtime: rt, Tools: clerk("ask")}); err != nil {
		t.Fatal(err)
	}
	if _, err := cfg.Tools[0].Call(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "outside of a call") {
		t.Errorf("outside of a call the error is %v", err)
	}
}
