package managed

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// mind is a model that answers to the last text of a request.
type mind struct {
	name string
	do   func(heard string) provider.ScriptTurn

	mu    sync.Mutex
	asked []string // all contents, as text
}

func (m *mind) Name() string { return m.name }

func (m *mind) GenerateContent(ctx context.Context, r *model.LLMRequest, stream bool,
) iter.Seq2[*model.LLMResponse, error] {
	var all []string
	for _, c := range r.Contents {
		for _, p := range c.Parts {
			switch {
			case p.FunctionCall != nil:
				all = append(all, "call "+p.FunctionCall.Name)
			case p.FunctionResponse != nil:
				all = append(all, "result "+p.FunctionResponse.Name)
			default:
				all = append(all, p.Text)
			}
		}
	}
	m.mu.Lock()
	m.asked = append(m.asked, strings.Join(all, " | "))
	m.mu.Unlock()
	s := &provider.Script{Turns: []provider.ScriptTurn{m.do(all[len(all)-1])}, Repeat: true}
	return s.GenerateContent(ctx, r, stream)
}

// newProgramHouse begins a session of an agent with a program. The models are known by their names.
func newProgramHouse(t *testing.T, f ProgramFunc, d Definition, minds []*mind, tools ...Tool) *house {
	t.Helper()
	models := provider.NewResolver()
	for _, m := range minds {
		models.Add(m.name, func(provider.Ref) (model.LLM, error) { return m, nil })
	}
	h := &house{T: t, engine: journaltest.NewMemory()}
	h.cfg = Config{Journal: h.engine, Models: models, Tools: tools, Node: "a", Programs: map[string]ProgramFunc{"own": f}}
	h.open()
	d.Name, d.Model.ID, d.Program = "desk", minds[0].name, "own"
	a, err := h.rt.CreateAgent(t.Context(), ada, d)
	if err != nil {
		t.Fatal(err)
	}
	s, err := h.rt.StartSession(t.Context(), ada, SessionRequest{Agent: a.ID})
	if err != nil {
		t.Fatal(err)
	}
	h.session = s.ID
	return h
}

// all makes a program of agents with all tools of the definition.
func all(list ...agent.Agent) ProgramFunc {
	return func(_ context.Context, w *Work) (*agent.Program, error) {
		c := agent.Config{}
		for _, a := range list {
			a.Tools = w.Tools()
			made, err := w.Agent(a, a.Name)
			if err != nil {
				return nil, err
			}
			c.Agents = append(c.Agents, made)
		}
		return w.New(c)
	}
}

func transfer(to string) provider.ScriptTurn {
	return calls(provider.ScriptCall{ID: "to_" + to, Name: "transfer_to_agent", Args: map[string]any{"agent_name": to}})
}

// kitchenMinds are a host who hands over to a kitchen, which calls tools and hands back.
func kitchenMinds() []*mind {
	host := &mind{name: "host", do: func(heard string) provider.ScriptTurn {
		if strings.Contains(heard, "cook") {
			return transfer("kitchen")
		}
		return says("Bye.")
	}}
	kitchen := &mind{name: "kitchen", do: func(heard string) provider.ScriptTurn {
		switch {
		case strings.Contains(heard, "bill"):
			return transfer("host")
		case strings.Contains(heard, "transferred"):
			return calls(provider.ScriptCall{ID: "to_kitchen", Name: "look"})
		case heard == "result look":
			return says("There is soup.")
		case strings.Contains(heard, "order"):
			return calls(provider.ScriptCall{ID: "c2", Name: "deploy"}, provider.ScriptCall{ID: "c3", Name: "delete_file"})
		}
		return says("It comes.")
	}}
	return []*mind{host, kitchen}
}

// kitchenStory begins a session of two agents that hand over to each other.
func kitchenStory(t *testing.T, ran map[string]int) *house {
	d := Definition{Tools: []ToolConfig{deploy().Tools[0], {Type: AgentToolset, Configs: []ToolPolicy{
		{Name: "delete_file", Permission: &Permission{Type: AlwaysAsk}}}}}}
	return newProgramHouse(t, all(agent.Agent{Name: "host", TransferTo: []string{"kitchen"}},
		agent.Agent{Name: "kitchen", TransferTo: []string{"host"}}), d, kitchenMinds(),
		counting("look", ran, nil), counting("delete_file", ran, nil))
}

// playKitchen goes to the kitchen and back.
func (h *house) playKitchen(restarted func()) {
	send := h.sender(restarted)
	send("one", Text("What can you cook?"))
	send("two", Text("I order soup"))
	for _, ev := range h.events() {
		switch {
		case ev.Type == AgentCustomToolUse:
			send("three", Event{Type: UserCustomResult, CustomID: ev.ID, Content: []Block{{Type: "text", Text: "ok"}}})
		case ev.Permission == "ask":
			send("four", Event{Type: UserConfirmation, ToolUseID: ev.ID, Result: "allow"})
		}
	}
	send("five", Text("The bill, please"))
}

// TestTransfer holds the session to who says what, and the models to what they hear, over restarts.
func TestTransfer(t *testing.T) {
	in(t, func(t *testing.T) {
		minds := kitchenMinds()
		h := newProgramHouse(t, all(agent.Agent{Name: "host", TransferTo: []string{"kitchen"}},
			agent.Agent{Name: "kitchen", TransferTo: []string{"host"}}), Definition{Tools: []ToolConfig{{Type: AgentToolset}}},
			minds, counting("look", map[string]int{}, nil))
		defer func() { h.close() }()
		for _, text := range []string{"What can you cook?", "Thanks", "The bill, please"} {
			h.send(Text(text))
			h.restart()
		}
		h.tells(`mes, running, mes', use transfer_to_agent, done, use look, done, "There is soup.", idle end_turn, ` +
			`mes, running, mes', "It comes.", idle end_turn, ` +
			`mes, running, mes', use transfer_to_agent, done, "Bye.", idle end_turn`)
		var who []string
		ids := map[string]bool{}
		for _, ev := range h.events() {
			if ids[ev.CallID] {
				t.Errorf("two calls of different agents have the id %s", ev.CallID)
			}
			ids[ev.CallID] = ev.CallID != ""
			if ev.Type == AgentMessage {
				who = append(who, ev.Agent)
			}
		}
		if got := strings.Join(who, " "); got != "kitchen kitchen host" {
			t.Errorf("the messages are of %s", got)
		}
		if got := minds[1].asked[len(minds[1].asked)-1]; got != "What can you cook? | [host] called the tool "+
			`transfer_to_agent with {"agent_name":"kitchen"} | [host] got from the tool transfer_to_agent: `+
			`{"result":"transferred"} | call look | result look | There is soup. | Thanks | It comes. | The bill, please` {
			t.Errorf("the kitchen hears %s", got)
		}
		if got := minds[0].asked[len(minds[0].asked)-1]; !strings.Contains(got, "call transfer_to_agent | "+
			"result transfer_to_agent | [kitchen] called the tool look with {} | [kitchen] got from the tool look: ") ||
			!strings.Contains(got, "[kitchen] said: It comes.") {
			t.Errorf("the host hears %s", got)
		}
	})
}

// strategies begin sessions of an agent with two branches, of which one is quicker before a crash. Afterwards both
// answers may be there at once.
func strategies(quick string) map[string]func(t *testing.T, ran map[string]int) *house {
	race := func(name string) *mind {
		return &mind{name: name, do: func(heard string) provider.ScriptTurn {
			if name != quick {
				time.Sleep(time.Second)
			}
			switch heard {
			case "Look":
				return calls(provider.ScriptCall{ID: "c1", Name: "look"})
			case "result look":
				return says("I am " + name)
			}
			return says("Bye.")
		}}
	}
	begin := func(st func(list ...agent.Branch) agent.Strategy) func(t *testing.T, ran map[string]int) *house {
		f := func(_ context.Context, w *Work) (*agent.Program, error) {
			ann, errA := w.Branch("host", "ann", "ann")
			bob, errB := w.Branch("host", "bob", "bob")
			one, errC := w.Agent(agent.Agent{Name: "host", Tools: w.Tools(), Strategy: st(ann, bob)}, "")
			if err := errors.Join(errA, errB, errC); err != nil {
				return nil, err
			}
			return w.New(agent.Config{Agents: []agent.Agent{one}})
		}
		return func(t *testing.T, ran map[string]int) *house {
			return newProgramHouse(t, f, Definition{Tools: []ToolConfig{{Type: AgentToolset}}},
				[]*mind{race("ann"), race("bob")}, counting("look", ran, nil))
		}
	}
	return map[string]func(t *testing.T, ran map[string]int) *house{
		"race": begin(func(list ...agent.Branch) agent.Strategy { return agent.Race{Tiers: [][]agent.Branch{list}} }),
		"quorum": begin(func(list ...agent.Branch) agent.Strategy {
			return agent.Quorum{K: 2, Branches: list, Merge: func(all []*agent.Attempt) *model.LLMResponse { return all[0].Out }}
		}),
	}
}

// playStrategy plays a story of strategies.
func (h *house) playStrategy(restarted func()) {
	for _, text := range []string{"Look", "Bye"} {
		h.until(text, func() error {
			_, err := h.rt.Send(h.Context(), ada, h.session, Once{Key: text}, Text(text))
			restarted()
			return err
		})
		restarted()
	}
}

// TestSideBySide lets two authors of a program work side by side. After a crash they are there in another order;
// the journal has them as it had them.
func TestSideBySide(t *testing.T) {
	for at, over := 1, false; !over; at++ {
		in(t, func(t *testing.T) {
			order := []string{"left", "right", "left", "right"}
			var turn *agent.Turn
			n, of := 0, map[string]int{}
			next := func(_ context.Context, now *agent.Turn) (*session.Event, error) {
				if now != turn {
					turn, n, of = now, 0, map[string]int{}
				}
				if n == len(order) {
					return nil, nil
				}
				who := order[n]
				n++
				of[who]++
				ev := &session.Event{Author: who}
				ev.Content = genai.NewContentFromText(fmt.Sprint(who, of[who]), genai.RoleModel)
				return ev, nil
			}
			f := func(_ context.Context, w *Work) (*agent.Program, error) {
				return w.New(agent.Config{Agents: []agent.Agent{{Name: "both", Work: agent.Work{Next: next}}}})
			}
			h := newProgramHouse(t, f, Definition{}, []*mind{{name: "none"}})
			defer func() { h.close() }()
			dead := h.dieAt(at)
			_, _ = h.rt.Send(t.Context(), ada, h.session, Once{Key: "1"}, Text("Go"))
			synctest.Wait()
			crashed := dead.Load()
			over = !crashed
			old, seen := h.rt, letters(h.events())
			order = []string{"right", "right", "left", "left"}
			h.open()
			dead.Store(false)
			if _, err := h.rt.Recover(t.Context()); err != nil {
				t.Error(err)
			}
			_ = old.Close(context.Background())
			_, err := h.rt.Send(t.Context(), ada, h.session, Once{Key: "1"}, Text("Go"))
			time.Sleep(time.Minute)
			synctest.Wait()
			all := letters(h.events())
			if err != nil || !strings.HasPrefix(all, seen) || !strings.HasSuffix(all, "idle end_turn") {
				t.Errorf("killed at %d: it told\n\t%s, and tells %v\n\t%s", at, seen, err, all)
			}
			for _, who := range []string{"left1", "left2", "right1", "right2"} {
				if strings.Count(all, who) != 1 {
					t.Errorf("killed at %d: %s is there %d times: %s", at, who, strings.Count(all, who), all)
				}
			}
			if !crashed && !strings.Contains(all, `"left1", "right1", "left2", "right2"`) {
				t.Errorf("it tells %s", all)
			}
		})
	}
}

// TestProgramRefusals names what is wrong with a program.
func TestProgramRefusals(t *testing.T) {
	in(t, func(t *testing.T) {
		m := &mind{name: "host", do: func(string) provider.ScriptTurn { return says("Hello.") }}
		h := newProgramHouse(t, all(agent.Agent{Name: "host"}), Definition{}, []*mind{m})
		defer func() { h.close() }()
		h.close()
		own := Tool{Declaration: &genai.FunctionDeclaration{Name: "look"},
			Call: func(context.Context, ToolCall) (map[string]any, error) { return nil, nil }}
		h.cfg.Programs["none"] = func(context.Context, *Work) (*agent.Program, error) { return nil, nil }
		h.cfg.Programs["model"] = all(agent.Agent{Name: "nobody"})
		h.cfg.Programs["stranger"] = func(_ context.Context, w *Work) (*agent.Program, error) {
			_, err := w.Agent(agent.Agent{Name: "host", Tools: []agent.Tool{agent.FuncTool[int]{}}}, "")
			return nil, err
		}
		h.cfg.Programs["twice"] = func(_ context.Context, w *Work) (*agent.Program, error) {
			_, err := w.Tool(own, ToolPolicy{})
			if err == nil {
				_, err = w.Tool(own, ToolPolicy{})
			}
			return nil, err
		}
		h.cfg.Programs["policy"] = func(_ context.Context, w *Work) (*agent.Program, error) {
			_, err := w.Tool(own, ToolPolicy{Unknown: "guess"})
			return nil, err
		}
		h.open()
		for name, want := range map[string]string{"other": `there is no program "other"; there are: model, none, own, policy`,
			"none": "its function returned nil", "model": "nobody", "stranger": "make it with Work.Tool",
			"twice": `two tools are called "look"`, "policy": `"guess" is none of`,
			strings.Repeat("x", 257): "more than 256"} {
			_, err := h.rt.CreateAgent(t.Context(), ada, Definition{Name: "desk", Model: ModelRef{ID: "host"}, Program: name})
			if CodeOf(err) != Invalid || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the error is %v, want %s", name, err, want)
			}
		}
		h.close()
		h.cfg.Programs = nil
		h.open()
		_, err := h.rt.CreateAgent(t.Context(), ada, Definition{Name: "desk", Model: ModelRef{ID: "host"}, Program: "own"})
		if CodeOf(err) != Invalid || !strings.Contains(err.Error(), "the operator has none") {
			t.Errorf("the error is %v", err)
		}
	})
}

// TestProgramLosesAgent tells what is wrong when the agent that has the session is no more, and goes on when it is
// back.
func TestProgramLosesAgent(t *testing.T) {
	in(t, func(t *testing.T) {
		minds := kitchenMinds()
		two := all(agent.Agent{Name: "host", TransferTo: []string{"kitchen"}}, agent.Agent{Name: "kitchen"})
		h := newProgramHouse(t, two, Definition{Tools: []ToolConfig{{Type: AgentToolset}}}, minds,
			counting("look", map[string]int{}, nil))
		defer func() { h.close() }()
		h.send(Text("What can you cook?"))
		h.cfg.Programs["own"] = all(agent.Agent{Name: "host"})
		h.restart()
		h.send(Text("Hello?"))
		if got := h.find(SessionError).Error.Message; !strings.Contains(got, `no session can begin with "kitchen"`) {
			t.Errorf("the error is %s", got)
		}
		h.cfg.Programs["own"] = two
		h.restart()
		h.send(Text("Hello?"))
		if got := h.find(AgentMessage); got.Agent != "kitchen" || got.Content[0].Text != "It comes." {
			t.Errorf("the answer is %+v", got)
		}
	})
}

// TestProgramKeepsMessage refuses a program that stores the message of the user once more.
func TestProgramKeepsMessage(t *testing.T) {
	in(t, func(t *testing.T) {
		m := &mind{name: "host", do: func(string) provider.ScriptTurn { return says("Hello.") }}
		f := func(_ context.Context, w *Work) (*agent.Program, error) {
			a, err := w.Agent(agent.Agent{Name: "host"}, "")
			if err != nil {
				return nil, err
			}
			return agent.New(agent.Config{Agents: []agent.Agent{a}})
		}
		h := newProgramHouse(t, f, Definition{}, []*mind{m})
		defer h.close()
		h.send(Text("Hi"))
		if got := h.find(SessionError).Error.Message; !strings.Contains(got, "KeepsMessage") {
			t.Errorf("the error is %s", got)
		}
	})
}

// TestProgramOffers gives an agent the MCP servers that it has, and leaves a request that branches share as it is.
func TestProgramOffers(t *testing.T) {
	r := &turnRun{o: &owned{agent: &program{named: true, has: map[string]*hasTools{"host": {servers: map[string][]string{
		"files": {"re*"}}}}}}, offered: []offer{{"files", "read", &genai.FunctionDeclaration{Name: "x"}},
		{"files", "write", &genai.FunctionDeclaration{Name: "read"}},
		{"mail", "read", &genai.FunctionDeclaration{Name: "send"}}}}
	for of, want := range map[string]int{"host": 2, "kitchen": 1} {
		req := &model.LLMRequest{Config: &genai.GenerateContentConfig{Tools: []*genai.Tool{{
			FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "look"}}}}}}
		own := *req
		r.offer(of, &own)
		if n := len(own.Config.Tools[0].FunctionDeclarations); n != want {
			t.Errorf("%s has %d tools, want %d", of, n, want)
		}
		if n := len(req.Config.Tools[0].FunctionDeclarations); n != 1 {
			t.Errorf("the request has %d tools now", n)
		}
		bare := &model.LLMRequest{}
		r.offer(of, bare)
		if (bare.Config != nil) != (of == "host") {
			t.Errorf("%s has %+v", of, bare.Config)
		}
	}
}
