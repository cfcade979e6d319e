package adkagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/adk/v2/tool/loadmemorytool"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/provider"
)

// spy is a model that keeps the requests as JSON.
type spy struct {
	model.LLM
	mu   sync.Mutex
	said []string
}

func (s *spy) GenerateContent(ctx context.Context, r *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse,
	error] {
	var names []string
	for _, t := range r.Config.Tools {
		for _, d := range t.FunctionDeclarations {
			names = append(names, d.Name)
		}
	}
	slices.Sort(names)
	contents, _ := json.Marshal(r.Contents)
	schema, _ := json.Marshal(r.Config.ResponseSchema)
	s.mu.Lock()
	s.said = append(s.said, fmt.Sprintf("%s\ntools %v, schema %s, temperature %v", contents, names, schema,
		r.Config.Temperature != nil))
	s.mu.Unlock()
	return s.LLM.GenerateContent(ctx, r, stream)
}

func (s *spy) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said
}

// story is what happens in a session, to be compared between ADK's own agent and ours.
type story struct {
	name   string
	turns  []provider.ScriptTurn
	config func(t testing.TB, c *llmagent.Config)
	runner func(c *runner.Config)
	// messages are what the user says: text, or what replies makes of the events so far.
	messages []any
}

type replies func(events []*session.Event) *genai.Content

// play runs a story with an agent, and returns the events, the requests to the model, and the state.
func (s *story) play(t testing.TB, make func(llmagent.Config) (adk.Agent, error)) (events, requests []string,
	state string) {
	t.Helper()
	m := &spy{LLM: script(s.turns...)}
	c := llmagent.Config{Name: "host", Description: "takes orders", Model: m, Instruction: "You take orders."}
	if s.config != nil {
		s.config(t, &c)
	}
	a, err := make(c)
	if err != nil {
		t.Fatal(err)
	}
	var w *world
	if s.runner != nil {
		w = newWorld(t, a, s.runner)
	} else {
		w = newWorld(t, a)
	}
	for _, msg := range s.messages {
		var content *genai.Content
		switch msg := msg.(type) {
		case string:
			content = genai.NewContentFromText(msg, genai.RoleUser)
		case replies:
			content = msg(w.events())
		}
		if _, err := w.run(t.Context(), content, sid); err != nil {
			events = append(events, "error "+err.Error())
		}
	}
	for _, e := range w.events() {
		events = append(events, line(e))
	}
	got, err := w.svc.Get(t.Context(), &session.GetRequest{AppName: app, UserID: user, SessionID: sid})
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]any{}
	for k, v := range got.Session.State().All() {
		kept[k] = v
	}
	j, _ := json.Marshal(kept)
	return events, m.requests(), string(j)
}

// respond answers the last call of a name with a response.
func respond(name string, response map[string]any) replies {
	return func(events []*session.Event) *genai.Content {
		for _, e := range slices.Backward(events) {
			for _, p := range partsOf(e) {
				if p.FunctionCall != nil && p.FunctionCall.Name == name {
					return &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{
						ID: p.FunctionCall.ID, Name: name, Response: response}}}}
				}
			}
		}
		return nil
	}
}

func stories() []story {
	tools := func(list ...func(testing.TB) tool.Tool) func(testing.TB, *llmagent.Config) {
		return func(t testing.TB, c *llmagent.Config) {
			for _, f := range list {
				c.Tools = append(c.Tools, f(t))
			}
		}
	}
	confirmed := func(t testing.TB) tool.Tool {
		return fn(t, "pay", func(adk.Context, dayArgs) (map[string]any, error) { return map[string]any{"paid": true}, nil },
			func(c *functiontool.Config) { c.RequireConfirmation = true })
	}
	long := func(answer map[string]any) func(t testing.TB) tool.Tool {
		return func(t testing.TB) tool.Tool {
			return fn(t, "cook", func(adk.Context, dayArgs) (map[string]any, error) { return answer, nil },
				func(c *functiontool.Config) { c.IsLongRunning = true })
		}
	}
	const confirm = "adk_request_confirmation"
	pay := []provider.ScriptTurn{calls(call("pay", "day", "monday")), text("a"), text("b"), text("c")}
	return []story{
		{name: "words", turns: []provider.ScriptTurn{text("Hello."), text("Bye.")}, messages: []any{"hi", "bye"}},
		{name: "tool", turns: []provider.ScriptTurn{calls(monday(), call("menu", "day", "friday")), text("Soup."),
			text("Bye.")},
			config: tools(menu), messages: []any{"food", "bye"}},
		{name: "tool in steps", turns: []provider.ScriptTurn{calls(monday()), calls(monday()), text("Soup.")},
			config:   tools(menu),
			messages: []any{"food"}},
		{name: "state", turns: []provider.ScriptTurn{calls(call("set", "day", "monday")), text("Done."), text("Again.")},
			config: func(t testing.TB, c *llmagent.Config) {
				c.OutputKey, c.Instruction = "last", "It is {day?} in {user:city?} after {last?}. {not a name}"
				c.Tools = []tool.Tool{fn(t, "set", func(ctx adk.Context, a dayArgs) (map[string]any, error) {
					return map[string]any{"ok": true}, errors.Join(ctx.State().Set("day", a.Day), ctx.State().Set("user:city",
						"Berne"),
						ctx.State().Set("temp:x", 1))
				})}
			}, messages: []any{"go", "again"}},
		{name: "provider and config", turns: []provider.ScriptTurn{text("Hello.")},
			config: func(_ testing.TB, c *llmagent.Config) {
				c.InstructionProvider = func(ctx adk.ReadonlyContext) (string, error) {
					return "for " + ctx.UserID() + " of " + ctx.AppName() + " in " + ctx.SessionID() + " by " + ctx.AgentName(), nil
				}
				c.GlobalInstruction = "Be kind."
				c.GenerateContentConfig = &genai.GenerateContentConfig{Temperature: genai.Ptr[float32](0.5)}
				c.OutputSchema = &genai.Schema{Type: genai.TypeObject}
			}, messages: []any{"hi"}},
		{name: "no history", turns: []provider.ScriptTurn{calls(monday()), text("Soup."), text("No idea."), text("x"),
			text("y")},
			config: func(t testing.TB, c *llmagent.Config) {
				c.Tools, c.IncludeContents = []tool.Tool{menu(t)}, llmagent.IncludeContentsNone
			}, messages: []any{"food", "what did I ask?"}},
		{name: "exit", turns: []provider.ScriptTurn{calls(call("bye")), text("Late.")},
			config: func(t testing.TB, c *llmagent.Config) {
				c.Tools = []tool.Tool{fn(t, "bye", func(ctx adk.Context, _ struct{}) (map[string]any, error) {
					ctx.Actions().SkipSummarization = true
					return map[string]any{"said": "bye"}, nil
				})}
			}, messages: []any{"go"}},
		{name: "failing tool", turns: []provider.ScriptTurn{calls(call("oven")), text("Sorry.")},
			config: func(t testing.TB, c *llmagent.Config) {
				c.Tools = []tool.Tool{fn(t, "oven", func(adk.Context, struct{}) (map[string]any, error) {
					return nil, errors.New("cold")
				})}
			}, messages: []any{"go"}},
		{name: "long running", turns: []provider.ScriptTurn{calls(call("cook", "day", "monday")), text("Here it is.")},
			config: tools(long(nil)), messages: []any{"cook", respond("cook", map[string]any{"dish": "soup"})}},
		{name: "long running with a ticket", turns: []provider.ScriptTurn{calls(call("cook", "day", "monday")), text("Wait."),
			text("Here it is."), text("x")}, config: tools(long(map[string]any{"ticket": 7})),
			messages: []any{"cook", respond("cook", map[string]any{"dish": "soup"})}},
		{name: "confirmed", turns: pay, config: tools(confirmed),
			messages: []any{"pay", respond(confirm, map[string]any{"confirmed": true}), "thanks"}},
		{name: "confirmed by the web page", turns: pay, config: tools(confirmed),
			messages: []any{"pay", respond(confirm, map[string]any{"response": `{"confirmed": true}`})}},
		{name: "rejected", turns: pay, config: tools(confirmed),
			messages: []any{"pay", respond(confirm, map[string]any{"confirmed": false})}},
		{name: "not answered", turns: pay, config: tools(confirmed), messages: []any{"pay", "never mind"}},
		{name: "agent as tool", turns: []provider.ScriptTurn{calls(call("poet", "request", "a poem")), text("There.")},
			config: func(t testing.TB, c *llmagent.Config) {
				poet, err := llmagent.New(llmagent.Config{Name: "poet", Description: "writes", Model: script(text("A rose."))})
				if err != nil {
					t.Fatal(err)
				}
				c.Tools = []tool.Tool{agenttool.New(poet, nil)}
			}, messages: []any{"a poem"}},
		{name: "memory and artifacts", turns: []provider.ScriptTurn{calls(call("load_memory", "query", "soup")),
			calls(call("keep")),
			text("Kept.")}, config: func(t testing.TB, c *llmagent.Config) {
			c.Tools = []tool.Tool{loadmemorytool.New(), fn(t, "keep", func(ctx adk.Context, _ struct{}) (map[string]any, error) {
				r, err := ctx.Artifacts().Save(ctx, "note", genai.NewPartFromText("soup"))
				if err != nil {
					return nil, err
				}
				back, err := ctx.Artifacts().Load(ctx, "note")
				if err != nil {
					return nil, err
				}
				return map[string]any{"version": r.Version, "text": back.Part.Text}, nil
			})}
		}, messages: []any{"keep it"}},
		{name: "confirmation of a toolset", turns: pay, config: func(t testing.TB, c *llmagent.Config) {
			c.Toolsets = []tool.Toolset{tool.WithConfirmation(set{fn(t, "pay", func(adk.Context, dayArgs) (map[string]any,
				error) {
				return map[string]any{"paid": true}, nil
			})}, true, nil)}
		}, messages: []any{"pay", respond(confirm, map[string]any{"confirmed": true})}},
	}
}

// set is a toolset.
type set []tool.Tool

func (set) Name() string                                     { return "set" }
func (s set) Tools(adk.ReadonlyContext) ([]tool.Tool, error) { return s, nil }

// TestLikeStock plays stories with ADK's own agent and with ours: the same events, requests and state.
func TestLikeStock(t *testing.T) {
	for _, s := range stories() {
		t.Run(s.name, func(t *testing.T) {
			events, requests, state := s.play(t, func(c llmagent.Config) (adk.Agent, error) { return llmagent.New(c) })
			got, asked, kept := s.play(t, func(c llmagent.Config) (adk.Agent, error) { return New(c, Options{}) })
			id := regexp.MustCompile(`"id":"adk-[-0-9a-f]+"`)
			for i := range got {
				got[i], _, _ = strings.Cut(id.ReplaceAllString(got[i], "id"), " ! ") // faults are ours
			}
			for i := range events {
				events[i] = id.ReplaceAllString(events[i], "id")
			}
			same(t, got, events)
			same(t, asked, requests)
			if kept != state {
				t.Errorf("the state is %s; want %s", kept, state)
			}
			if len(events) < 2 {
				t.Errorf("nothing happened: %q", events)
			}
		})
	}
}

// counts counts callbacks in order.
type counts struct {
	mu   sync.Mutex
	list []string
}

func (c *counts) add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, name)
}

// all sets every callback of a configuration and of a plugin.
func (c *counts) all(t testing.TB, cfg *llmagent.Config) *plugin.Plugin {
	cb := func(name string) func(adk.Context) (*genai.Content, error) {
		return func(adk.Context) (*genai.Content, error) { c.add(name); return nil, nil }
	}
	before := func(name string) func(adk.Context, *model.LLMRequest) (*model.LLMResponse, error) {
		return func(adk.Context, *model.LLMRequest) (*model.LLMResponse, error) { c.add(name); return nil, nil }
	}
	after := func(name string) func(adk.Context, *model.LLMResponse, error) (*model.LLMResponse, error) {
		return func(adk.Context, *model.LLMResponse, error) (*model.LLMResponse, error) { c.add(name); return nil, nil }
	}
	failed := func(name string) func(adk.Context, *model.LLMRequest, error) (*model.LLMResponse, error) {
		return func(_ adk.Context, _ *model.LLMRequest, err error) (*model.LLMResponse, error) {
			c.add(name)
			if name == "agent" {
				return &model.LLMResponse{Content: genai.NewContentFromText("instead of "+err.Error(), genai.RoleModel)}, nil
			}
			return nil, nil
		}
	}
	bt := func(name string) func(adk.Context, tool.Tool, map[string]any) (map[string]any, error) {
		return func(_ adk.Context, t tool.Tool, _ map[string]any) (map[string]any, error) {
			c.add(name + " " + t.Name())
			return nil, nil
		}
	}
	at := func(name string) func(adk.Context, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
		return func(_ adk.Context, t tool.Tool, _, _ map[string]any, err error) (map[string]any, error) {
			c.add(fmt.Sprintf("%s %s %v", name, t.Name(), err))
			return nil, nil
		}
	}
	et := func(name string) func(adk.Context, tool.Tool, map[string]any, error) (map[string]any, error) {
		return func(_ adk.Context, t tool.Tool, _ map[string]any, _ error) (map[string]any, error) {
			c.add(name + " " + t.Name())
			return nil, nil
		}
	}
	cfg.BeforeAgentCallbacks = []adk.BeforeAgentCallback{cb("before agent")}
	cfg.AfterAgentCallbacks = []adk.AfterAgentCallback{cb("after agent")}
	cfg.BeforeModelCallbacks = []llmagent.BeforeModelCallback{before("before model")}
	cfg.AfterModelCallbacks = []llmagent.AfterModelCallback{after("after model")}
	cfg.OnModelErrorCallbacks = []llmagent.OnModelErrorCallback{failed("agent")}
	cfg.BeforeToolCallbacks = []llmagent.BeforeToolCallback{bt("before tool")}
	cfg.AfterToolCallbacks = []llmagent.AfterToolCallback{at("after tool")}
	cfg.OnToolErrorCallbacks = []llmagent.OnToolErrorCallback{et("tool error")}
	p, err := plugin.New(plugin.Config{Name: "counts",
		OnUserMessageCallback: func(adk.InvocationContext, *genai.Content) (*genai.Content, error) {
			c.add("plugin message")
			return nil, nil
		},
		OnEventCallback: func(_ adk.InvocationContext, e *session.Event) (*session.Event, error) {
			c.add("plugin event " + e.Author)
			return nil, nil
		},
		BeforeRunCallback: func(adk.InvocationContext) (*genai.Content, error) {
			c.add("plugin before run")
			return nil,
				nil
		},
		AfterRunCallback:    func(adk.InvocationContext) { c.add("plugin after run") },
		BeforeAgentCallback: cb("plugin before agent"), AfterAgentCallback: cb("plugin after agent"),
		BeforeModelCallback: before("plugin before model"), AfterModelCallback: after("plugin after model"),
		OnModelErrorCallback: failed("plugin model error"), BeforeToolCallback: bt("plugin before tool"),
		AfterToolCallback: at("plugin after tool"), OnToolErrorCallback: et("plugin tool error")})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestCallbacks counts every callback and plugin, in order, for ADK's own agent and for ours.
func TestCallbacks(t *testing.T) {
	play := func(make func(llmagent.Config) (adk.Agent, error)) ([]string, []string) {
		c, cfg := &counts{}, llmagent.Config{Name: "host"}
		p := c.all(t, &cfg)
		cfg.Model = script(calls(monday()), calls(call("nowhere")), calls(call("oven")), provider.ScriptTurn{Error: "down"})
		cfg.Tools = []tool.Tool{menu(t), fn(t, "oven", func(adk.Context, struct{}) (map[string]any, error) {
			return nil, errors.New("cold")
		})}
		a, err := make(cfg)
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, a, func(r *runner.Config) { r.PluginConfig.Plugins = []*plugin.Plugin{p} })
		got, err := w.say("go")
		if err != nil {
			t.Error(err)
		}
		return c.list, got
	}
	want, _ := play(func(c llmagent.Config) (adk.Agent, error) { return llmagent.New(c) })
	got, events := play(func(c llmagent.Config) (adk.Agent, error) { return New(c, Options{}) })
	same(t, got, want)
	if last := events[len(events)-1]; last != `host "instead of down"` || len(want) < 25 {
		t.Errorf("%s after %d callbacks", last, len(want))
	}
}

// TestCallbacksAnswer lets each callback answer in place of what it watches.
func TestCallbacksAnswer(t *testing.T) {
	say := func(s string) (*model.LLMResponse, error) {
		return &model.LLMResponse{Content: genai.NewContentFromText(s, genai.RoleModel)}, nil
	}
	for name, change := range map[string]func(c *llmagent.Config){
		"before model": func(c *llmagent.Config) {
			c.BeforeModelCallbacks = []llmagent.BeforeModelCallback{func(ctx adk.Context,
				_ *model.LLMRequest) (*model.LLMResponse,
				error) {
				_ = ctx.State().Set("seen", true)
				return say("cached")
			}}
		},
		"after model": func(c *llmagent.Config) {
			c.AfterModelCallbacks = []llmagent.AfterModelCallback{func(adk.Context, *model.LLMResponse,
				error) (*model.LLMResponse,
				error) {
				return say("censored")
			}}
		},
		"before tool": func(c *llmagent.Config) {
			c.BeforeToolCallbacks = []llmagent.BeforeToolCallback{func(adk.Context, tool.Tool, map[string]any) (map[string]any,
				error) {
				return map[string]any{"cached": true}, nil
			}}
		},
		"after tool": func(c *llmagent.Config) {
			c.AfterToolCallbacks = []llmagent.AfterToolCallback{func(adk.Context, tool.Tool, map[string]any, map[string]any,
				error) (map[string]any, error) {
				return map[string]any{"changed": true}, nil
			}}
		},
		"tool error": func(c *llmagent.Config) {
			c.BeforeToolCallbacks = []llmagent.BeforeToolCallback{func(adk.Context, tool.Tool, map[string]any) (map[string]any,
				error) {
				return nil, errors.New("no")
			}}
			c.OnToolErrorCallbacks = []llmagent.OnToolErrorCallback{func(_ adk.Context, _ tool.Tool, _ map[string]any,
				err error) (map[string]any, error) {
				return map[string]any{"mended": err.Error()}, nil
			}}
		},
		"before agent": func(c *llmagent.Config) {
			c.BeforeAgentCallbacks = []adk.BeforeAgentCallback{func(adk.Context) (*genai.Content, error) {
				return genai.NewContentFromText("closed", genai.RoleModel), nil
			}}
		},
		"after agent": func(c *llmagent.Config) {
			c.AfterAgentCallbacks = []adk.AfterAgentCallback{func(adk.Context) (*genai.Content, error) {
				return genai.NewContentFromText("and more", genai.RoleModel), nil
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := story{turns: []provider.ScriptTurn{calls(monday()), text("Soup.")}, messages: []any{"go"},
				config: func(t testing.TB, c *llmagent.Config) {
					c.Tools = []tool.Tool{menu(t)}
					change(c)
				}}
			events, requests, state := s.play(t, func(c llmagent.Config) (adk.Agent, error) { return llmagent.New(c) })
			got, asked, kept := s.play(t, func(c llmagent.Config) (adk.Agent, error) { return New(c, Options{}) })
			same(t, got, events)
			same(t, asked, requests)
			if kept != state {
				t.Errorf("the state is %s; want %s", kept, state)
			}
		})
	}
}
