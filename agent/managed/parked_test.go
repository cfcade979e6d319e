package managed

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/managed/life"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/agent/workflow"
)

// flow makes a program of a workflow. Each leaf waits before it works, so that leaves work side by side in one order.
func flow(t *testing.T, text string, tools ...string) ProgramFunc {
	t.Helper()
	w, found := workflow.Load("flow.yaml", []byte(text), workflow.Registry{Tools: tools})
	if w == nil {
		t.Fatal(found)
	}
	c, found := workflow.Compile(w)
	if c == nil {
		t.Fatal(found)
	}
	return func(_ context.Context, work *Work) (*agent.Program, error) {
		f := &flowWorker{ask: map[string]asking{}, call: map[string]calling{}}
		for _, a := range w.Agents {
			var errAsk, errCall error
			if a.Model != "" {
				f.ask[a.Name], errAsk = work.Ask(a.Name, a.Model)
			}
			f.call[a.Name], errCall = work.Call(a.Name, work.Tools()...)
			if err := errors.Join(errAsk, errCall); err != nil {
				return nil, err
			}
			f.order = append(f.order, a.Name)
		}
		return c.Program(f), nil
	}
}

type (
	asking  = func(context.Context, *agent.Request) iter.Seq2[*model.LLMResponse, error]
	calling = func(context.Context, *agent.Call) (*agent.Reply, error)
)

// flowWorker does the work of leaves by effects of the session alone.
type flowWorker struct {
	ask   map[string]asking
	call  map[string]calling
	order []string
}

func (f *flowWorker) Do(ctx context.Context, _ *agent.Session, j *workflow.Job) (*workflow.Result, error) {
	nth := slices.Index(f.order, j.Agent.Name)
	time.Sleep(time.Millisecond<<min(nth, 5) + time.Duration(nth)*time.Millisecond)
	turn, name := j.Visit.Flow.Turn, j.Agent.Name
	calls := j.Calls
	if calls == nil && j.Agent.Tool != "" {
		calls = []*genai.FunctionCall{{ID: "tool", Name: j.Agent.Tool}}
	}
	if calls == nil {
		return f.answer(ctx, turn, j)
	}
	r := &workflow.Result{}
	for _, c := range calls {
		reply, err := f.call[name](ctx, &agent.Call{Turn: turn, Call: c})
		if err == nil {
			err = ctx.Err() // it took too long
		}
		if err != nil {
			return nil, err
		}
		r.Deferred = r.Deferred || reply.Deferred
		r.Results = append(r.Results, reply.Response)
	}
	if j.Calls == nil && !r.Deferred {
		result := r.Results[0].(map[string]any)
		if text, ok := result["error"].(string); ok && j.Agent.Attempts > 1 {
			return nil, errors.New(text)
		}
		r.Output = result["result"]
		if text, ok := result["error"].(string); ok {
			r.Output = text
			if strings.HasPrefix(text, "outcome_unknown") { // the tests go on as if it had happened
				r.Output = j.Agent.Tool + " is done"
			}
		}
	}
	return r, nil
}

func (f *flowWorker) answer(ctx context.Context, turn *agent.Turn, j *workflow.Job) (*workflow.Result, error) {
	heard := j.Agent.Instruction
	for _, key := range strings.Fields("a b c") {
		if v, ok := j.Visit.Flow.State.Get(key); ok {
			heard = strings.ReplaceAll(heard, "{"+key+"}", fmt.Sprint(v))
		}
	}
	req := &model.LLMRequest{Contents: []*genai.Content{turn.Message, genai.NewContentFromText(heard, genai.RoleUser)}}
	for _, s := range j.Visit.Steps {
		for i, c := range s.Calls {
			result, _ := s.Results[i].(map[string]any)
			req.Contents = append(req.Contents, &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: c}}},
				&genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: c.ID,
					Name: c.Name, Response: result}}}})
		}
	}
	for resp, err := range f.ask[j.Agent.Name](ctx, &agent.Request{Turn: turn, Request: req}) {
		if err != nil {
			return nil, err
		}
		if resp.Partial {
			continue
		}
		r := &workflow.Result{Event: turn.NewEvent(j.Agent.Name)}
		if len(j.Agent.Tools) == 0 && len(callsOf(resp.Content)) > 0 { // the model has made one up
			r.Output, r.Event.Content = "nothing", resp.Content
			return r, nil
		}
		if r.Calls = callsOf(resp.Content); len(r.Calls) == 0 {
			r.Output, r.Event.Content = resp.Content.Parts[0].Text, resp.Content
		}
		return r, nil
	}
	return nil, errors.New("no answer")
}

// releaseFlow has two tools, of which one needs a confirmation, a model with a tool of the client, and a model that
// waits for all of them.
const releaseFlow = `name: release
agents:
  - {name: fetch, type: tool, tool: look, output_key: a}
  - {name: ship, type: llm, model: ship, instruction: Ship, tools: [deploy], output_key: b}
  - {name: check, type: llm, model: check, instruction: "Check {a}"}
  - {name: write, type: llm, model: write, instruction: "{a}, {b}, {c}"}
  - {name: clean, type: tool, tool: delete_file, output_key: c}
orchestration:
  type: dag
  nodes:
    - {agent: fetch}
    - {agent: ship}
    - {agent: clean}
    - {agent: check, depends_on: [fetch]}
    - {agent: write, depends_on: [check, ship, clean]}
`

func releaseTools(ran map[string]int) []Tool {
	return []Tool{counting("look", ran, nil), counting("delete_file", ran, nil)}
}

func releaseMinds() []*mind {
	return []*mind{{name: "ship", do: func(heard string) provider.ScriptTurn {
		if heard == "Ship" {
			return calls(provider.ScriptCall{ID: "c1", Name: "deploy"})
		}
		return says("Shipped: " + heard)
	}}, {name: "check", do: func(heard string) provider.ScriptTurn { return says(heard + ": good") }},
		{name: "write", do: func(heard string) provider.ScriptTurn {
			if heard != "look is done, Shipped: result deploy, delete_file is done" {
				return says("I have heard " + heard)
			}
			return says("Bye.")
		}}}
}

// releaseHouse begins a session of the workflow.
func releaseHouse(t *testing.T, ran map[string]int) *house {
	d := Definition{Tools: []ToolConfig{deploy().Tools[0], {Type: AgentToolset, Configs: []ToolPolicy{
		{Name: "delete_file", Permission: &Permission{Type: AlwaysAsk}}}}}}
	return newProgramHouse(t, flow(t, releaseFlow, "look", "delete_file", "deploy"), d, releaseMinds(),
		releaseTools(ran)...)
}

const (
	releaseBegins = `mes, running, mes', use deploy, "Check look is done: good", use delete_file, idle requires_action 2`
	releaseShips  = `result, running, "Shipped: result deploy", idle requires_action 1`
	releaseEnds   = `allow, running, done, "Bye.", "Bye.", idle end_turn`
)

// answer sends the answers of the calls that wait, in an order.
func (h *house) answer(send func(key string, events ...Event), order ...Type) {
	h.Helper()
	for _, kind := range order {
		ev := h.find(kind)
		if kind == AgentCustomToolUse {
			send("custom", resultFor(ev.ID, "ok"))
		} else {
			send("confirm", confirm(ev.ID, "allow", ""))
		}
	}
}

// TestRunCrash kills a session at every commit of a workflow that parks in the middle. Each effect happens once, and
// the session tells the same.
func TestRunCrash(t *testing.T) {
	for name, s := range map[string]*tale{"without snapshots": {}, "with snapshots": {snapshot: 1}} {
		s.begin, s.most = releaseHouse, 1
		s.play = func(h *house, restarted func()) {
			send := h.sender(restarted)
			send("one", Text("Release"))
			h.answer(send, AgentCustomToolUse, AgentToolUse)
		}
		t.Run(name, func(t *testing.T) {
			if s.everywhere(t) == 0 {
				t.Error("no call was under way when the process was killed")
			}
		})
	}
}

// TestRunParks goes on with each answer, and keeps a message for later.
func TestRunParks(t *testing.T) {
	in(t, func(t *testing.T) {
		ran := map[string]int{}
		h := releaseHouse(t, ran)
		defer func() { h.close() }()
		send := func(_ string, events ...Event) {
			h.send(events...)
			time.Sleep(time.Minute)
			synctest.Wait()
			h.restart()
		}
		send("", Text("Release"))
		h.tells(releaseBegins)
		send("", Text("And again"))
		h.answer(send, AgentCustomToolUse)
		h.tells(releaseBegins + ", mes, " + releaseShips)
		h.answer(send, AgentToolUse)
		h.tells(releaseBegins + ", mes, " + releaseShips + ", " + releaseEnds + ", running, mes', use deploy, " +
			`"Check look is done: good", use delete_file, idle requires_action 2`)
		if total(ran) != 3 {
			t.Errorf("the tools ran %v", ran)
		}
		if err := h.rt.Interrupt(t.Context(), ada, h.session); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := letters(h.events()); !strings.HasSuffix(got, "idle requires_action 2, int, done, int', idle end_turn") {
			t.Errorf("behind the interrupt it tells %s", got)
		}
	})
}

// TestRunAnswersEndIt sends other answers than those that the run hopes for.
func TestRunAnswersEndIt(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(h *house)
		want   string
	}{
		"both at once": {func(h *house) {
			h.send(confirm(h.find(AgentToolUse).ID, "allow", ""), resultFor(h.find(AgentCustomToolUse).ID, "ok"))
		}, `allow, result, running, "Shipped: result deploy", done, "Bye.", "Bye.", idle end_turn`},
		"denied": {func(h *house) {
			h.send(confirm(h.find(AgentToolUse).ID, "deny", "no"), resultFor(h.find(AgentCustomToolUse).ID, "ok"))
		}, `deny, result, running, done, "Shipped: result deploy", "I have heard look is done, ` +
			`Shipped: result deploy, no", "I have heard look is done, Shipped: result deploy, no", idle end_turn`},
		"in a pause": {func(h *house) {
			_ = h.rt.Pause(h.Context(), ada, h.session)
			h.send(resultFor(h.find(AgentCustomToolUse).ID, "ok"))
			h.restart()
			synctest.Wait()
			h.tells(releaseBegins + ", result")
			_ = h.rt.Resume(h.Context(), ada, h.session)
			synctest.Wait()
		}, `result, running, "Shipped: result deploy", idle requires_action 1`},
		"in time": {func(*house) { time.Sleep(2 * time.Hour) }, `done, running, "Shipped: result deploy", ` +
			`"I have heard look is done, Shipped: result deploy, ` + expiredCall + `", "I have heard look is done, ` +
			`Shipped: result deploy, ` + expiredCall + `", idle end_turn`},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				h := releaseHouse(t, map[string]int{})
				defer func() { h.close() }()
				if name == "in time" {
					custom := deploy().Tools[0]
					custom.Timeout = Duration(time.Hour)
					h.close()
					h = newProgramHouse(t, flow(t, releaseFlow, "look", "delete_file", "deploy"), Definition{Tools: []ToolConfig{
						custom, {Type: AgentToolset, Configs: []ToolPolicy{{Name: "delete_file",
							Permission: &Permission{Type: AlwaysAsk}}}}}}, releaseMinds(), releaseTools(map[string]int{})...)
				}
				h.send(Text("Release"))
				time.Sleep(time.Minute)
				c.answer(h)
				time.Sleep(time.Minute)
				synctest.Wait()
				h.tells(releaseBegins + ", " + c.want)
			})
		})
	}
}

// TestRunTooManyCalls lets as many calls wait as may, and refuses the others.
func TestRunTooManyCalls(t *testing.T) {
	in(t, func(t *testing.T) {
		text, list := "name: wide\nagents:\n", ""
		for i := range life.CallsMax + 2 {
			text += fmt.Sprintf("  - {name: l%d, type: tool, tool: deploy, output_key: k%d}\n", i, i)
			list += fmt.Sprintf("l%d, ", i)
		}
		h := newProgramHouse(t, flow(t, text+"orchestration: {type: parallel, agents: ["+list+"]}", "deploy"), deploy(),
			[]*mind{{name: "none"}})
		defer func() { h.close() }()
		h.send(Text("Go"))
		time.Sleep(time.Minute)
		synctest.Wait()
		ids := h.find(StatusIdle).StopReason.EventIDs
		if len(ids) != life.CallsMax {
			t.Fatalf("%d calls wait", len(ids))
		}
		for _, id := range ids {
			h.send(resultFor(id, "ok"))
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		if got := h.find(AgentMessage).Content[0].Text; !strings.HasPrefix(got, "refused: 64 calls wait") {
			t.Errorf("it ends with %s", got)
		}
	})
}

// TestRunTimeout kills a session around a call that takes too long and is tried again: the run keeps to what it has
// gone on with.
func TestRunTimeout(t *testing.T) {
	const text = "name: slow\nagents:\n  - {name: fetch, type: tool, tool: look, output_key: a, timeout: 10s, " +
		"retry: {attempts: 2, delay: 1s}}\n  - {name: write, type: llm, model: write, instruction: \"{a}\", " +
		"tools: [deploy]}\n" +
		"orchestration: {type: sequential, agents: [fetch, write]}\n"
	var m *mind
	s := &tale{begin: func(t *testing.T, ran map[string]int) *house {
		look := Tool{Declaration: &genai.FunctionDeclaration{Name: "look"}, Idempotent: true,
			Call: func(ctx context.Context, c ToolCall) (map[string]any, error) {
				if strings.HasSuffix(c.Key, "/1") {
					<-ctx.Done()
				}
				return map[string]any{"result": "try " + c.Key[len(c.Key)-1:]}, nil
			}}
		m = &mind{name: "write", do: func(heard string) provider.ScriptTurn {
			if heard == "result deploy" {
				return says("Bye.")
			}
			return calls(provider.ScriptCall{ID: "c1", Name: "deploy"})
		}}
		return newProgramHouse(t, flow(t, text, "look", "deploy"), Definition{Tools: []ToolConfig{deploy().Tools[0],
			{Type: AgentToolset}}}, []*mind{m}, look)
	}, play: func(h *house, restarted func()) {
		send := func(key string, events ...Event) {
			h.until(key, func() error {
				_, err := h.rt.Send(h.Context(), ada, h.session, Once{Key: key}, events...)
				restarted()
				return err
			})
			restarted()
		}
		send("one", Text("Go"))
		h.answer(send, AgentCustomToolUse)
		heard := strings.Join(m.asked, "\n") // the result of the first try may have come before the process was killed
		if strings.Contains(heard, "try 1") == strings.Contains(heard, "try 2") {
			h.Errorf("the model hears\n%s", heard)
		}
	}}
	s.everywhere(t)
}

// TestRunRetries: a request that failed, was made again by the workflow and then answered, is not made once more when
// the session tries the turn again.
func TestRunRetries(t *testing.T) {
	const text = "name: two\nagents:\n  - {name: a, type: llm, model: a, instruction: A, retry: {attempts: 2}}\n" +
		"  - {name: b, type: llm, model: b, instruction: B}\norchestration: {type: sequential, agents: [a, b]}\n"
	in(t, func(t *testing.T) {
		fails := func(name string) *mind {
			n := 0
			return &mind{name: name, do: func(heard string) provider.ScriptTurn {
				if n++; n == 1 {
					return says("") // an empty answer may be better the next time
				}
				return says(fmt.Sprint(heard, n))
			}}
		}
		a, b := fails("a"), fails("b")
		h := newProgramHouse(t, flow(t, text), Definition{}, []*mind{a, b})
		defer func() { h.close() }()
		h.send(Text("Go"))
		time.Sleep(time.Minute)
		synctest.Wait()
		h.tells(`mes, running, mes', "A2", error retrying, rescheduled, running, "B2", "B2", idle end_turn`)
		if len(a.asked) != 2 || len(b.asked) != 2 {
			t.Errorf("the models are asked %d and %d times", len(a.asked), len(b.asked))
		}
	})
}

// TestRunUnknown kills a session at every commit of a call whose outcome the client is to judge. The run parks, and
// the call is repeated with its key once the client says so.
func TestRunUnknown(t *testing.T) {
	const text = "name: one\nagents:\n  - {name: fetch, type: tool, tool: look, output_key: a}\n" +
		"orchestration: {type: sequential, agents: [fetch]}\n"
	asked := 0
	for at, over := 1, false; !over; at++ {
		in(t, func(t *testing.T) {
			ran := map[string]int{}
			h := newProgramHouse(t, flow(t, text, "look"), Definition{Tools: []ToolConfig{{Type: AgentToolset,
				Configs: []ToolPolicy{{Name: "look", Unknown: askUnknown}}}}}, []*mind{{name: "none"}}, counting("look", ran, nil))
			defer func() { h.close() }()
			dead := h.dieAt(at)
			_, _ = h.rt.Send(t.Context(), ada, h.session, Once{Key: "1"}, Text("Go"))
			time.Sleep(time.Second)
			synctest.Wait()
			over = !dead.Load()
			old := h.rt
			h.open()
			dead.Store(false)
			if _, err := h.rt.Recover(t.Context()); err != nil {
				t.Error(err)
			}
			_ = old.Close(context.Background())
			_, err := h.rt.Send(t.Context(), ada, h.session, Once{Key: "1"}, Text("Go"))
			time.Sleep(time.Minute)
			synctest.Wait()
			if idle := h.find(StatusIdle); idle.StopReason.Type == RequiresAction {
				asked++
				if idle.StopReason.Detail != "outcome_unknown" {
					t.Errorf("it waits because of %+v", idle.StopReason)
				}
				h.send(confirm(h.find(AgentToolUse).ID, "allow", ""))
				time.Sleep(time.Minute)
				synctest.Wait()
			}
			if got := h.find(AgentMessage).Content[0].Text; err != nil || got != "look is done" || len(ran) != 1 ||
				total(ran) > 2 {
				t.Errorf("killed at %d: the answer is %s, the tool ran %v, %v", at, got, ran, err)
			}
		})
	}
	if asked == 0 {
		t.Error("the client was never asked")
	}
}

// TestRunBudget: a run that the budget has stopped goes on where it was.
func TestRunBudget(t *testing.T) {
	const text = "name: two\nagents:\n  - {name: a, type: llm, model: a, instruction: A}\n" +
		"  - {name: b, type: llm, model: a, instruction: B}\norchestration: {type: sequential, agents: [a, b]}\n"
	in(t, func(t *testing.T) {
		m := &mind{name: "a", do: func(heard string) provider.ScriptTurn { return says("Said " + heard) }}
		h := newProgramHouse(t, flow(t, text), Definition{}, []*mind{m})
		defer func() { h.close() }()
		h.close()
		h.cfg.Models = provider.NewResolver()
		h.cfg.Models.Add("a", func(provider.Ref) (model.LLM, error) { return costly{m}, nil })
		h.open()
		h.raise(&Budget{Type: "limit", MaxTokens: 50})
		h.send(Text("Go"))
		time.Sleep(time.Second)
		h.restart()
		h.raise(nil)
		time.Sleep(time.Second)
		synctest.Wait()
		h.tells(`session.updated, mes, running, mes', "Said A", idle budget_reached, session.updated, running, "Said B", ` +
			`"Said B", idle end_turn`)
		if len(m.asked) != 2 {
			t.Errorf("the model is asked %d times: %v", len(m.asked), m.asked)
		}
	})
}
