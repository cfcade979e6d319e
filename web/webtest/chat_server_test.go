package webtest_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/managed/api"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/internal/browsertest"
	"github.com/voicegw/voicegw/journal/journaltest"
	"github.com/voicegw/voicegw/web"
)

// chatToken is what the sessions API of tests asks for.
const chatToken = "a-token"

var chatOwner = managed.Owner{Tenant: "acme"}

// slowParrot is a parrot. Told something that begins with "slow", it says two words, and the others when
// the gate opens.
type slowParrot struct {
	provider.Parrot
	gate chan struct{}
}

func (p slowParrot) GenerateContent(ctx context.Context, r *model.LLMRequest, stream bool,
) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		words := 0
		for resp, err := range p.Parrot.GenerateContent(ctx, r, stream) {
			if err == nil && resp.Partial {
				if words++; words == 3 && p.slow(r) {
					select {
					case <-p.gate:
					case <-ctx.Done():
						yield(nil, ctx.Err())
						return
					}
				}
			}
			if !yield(resp, err) {
				return
			}
		}
	}
}

func (slowParrot) slow(r *model.LLMRequest) bool {
	parts := r.Contents[len(r.Contents)-1].Parts
	return len(parts) > 0 && strings.HasPrefix(parts[0].Text, "slow")
}

// waiter is the model of the picture.
func waiter() *provider.Script {
	asks := func(text, tool string, args map[string]any) provider.ScriptTurn {
		return provider.ScriptTurn{Text: text, Calls: []provider.ScriptCall{{Name: tool, Args: args}}}
	}
	return &provider.Script{Model: "waiter", Turns: []provider.ScriptTurn{
		asks("Good evening! Let me see what is free at eight.", "lookup", map[string]any{"at": "20:00", "guests": 2}),
		{Text: "There are two tables: one by the window, and one in the quiet corner. Which one shall it be?"},
		asks("With pleasure. I book it now.", "book_table", map[string]any{"table": "window", "at": "20:00"}),
	}}
}

// chatServer is a gateway with the chat page and the sessions API, which ends and begins again like one
// whose process does.
type chatServer struct {
	*testing.T
	*httptest.Server
	cfg    managed.Config
	rt     *managed.Runtime
	api    atomic.Pointer[api.Server] // nil while it is down
	gate   chan struct{}
	booked atomic.Int32 // calls of book_table
}

func newChatServer(t *testing.T) *chatServer {
	t.Helper()
	s := &chatServer{T: t, gate: make(chan struct{})}
	models := provider.NewResolver()
	models.Add("parrot", func(provider.Ref) (model.LLM, error) { return slowParrot{gate: s.gate}, nil })
	models.Add("waiter", func(provider.Ref) (model.LLM, error) { return waiter(), nil })
	s.cfg = managed.Config{Journal: journaltest.NewMemory(), Models: models, Tools: []managed.Tool{{
		Declaration: &genai.FunctionDeclaration{Name: "book_table", Description: "books a table"},
		Call: func(context.Context, managed.ToolCall) (map[string]any, error) {
			s.booked.Add(1)
			return map[string]any{"result": "booked"}, nil
		}}}}
	s.up()
	mux := http.NewServeMux()
	mux.Handle("/chat/", http.StripPrefix("/chat", web.ChatPage(web.ChatPageConfig{HomePath: "/"})))
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		served := s.api.Load()
		if served == nil {
			panic(http.ErrAbortHandler)
		}
		served.ServeHTTP(w, r)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		s.down()
		s.Server.Close()
	})
	return s
}

// up begins to serve the API. Sessions that were at work go on.
func (s *chatServer) up() {
	s.Helper()
	rt, err := managed.New(s.cfg)
	if err != nil {
		s.Fatal(err)
	}
	served, err := api.New(api.Config{Runtime: rt, Authorize: func(_ *http.Request, key string) (managed.Owner, error) {
		if key != chatToken {
			return managed.Owner{}, errors.New("wrong token")
		}
		return chatOwner, nil
	}})
	if err != nil {
		s.Fatal(err)
	}
	if _, err := rt.Recover(s.Context()); err != nil {
		s.Fatal(err)
	}
	s.rt = rt
	s.api.Store(served)
}

// down cuts all connections and ends the process of the sessions. What it was doing stays undone.
func (s *chatServer) down() {
	s.api.Store(nil)
	s.CloseClientConnections()
	_ = s.rt.Close(context.Background())
}

// desk makes an agent with tools: one that the person runs, and one that asks first.
// desk makes an agent that says why it is not proved, as a workflow does.
func (s *chatServer) desk() *managed.Agent {
	return s.agent("desk", "parrot", map[string]string{"unverified": "nobody tried"})
}

func (s *chatServer) agent(name, model string, metadata map[string]string) *managed.Agent {
	s.Helper()
	ask := &managed.ToolPolicy{Permission: &managed.Permission{Type: managed.AlwaysAsk}}
	a, err := s.rt.CreateAgent(s.Context(), chatOwner, managed.Definition{Name: name, Metadata: metadata,
		Model: managed.ModelRef{ID: model}, Tools: []managed.ToolConfig{
			{Type: managed.CustomTool, Name: "lookup", Description: "looks up", InputSchema: []byte(`{"type":"object"}`)},
			{Type: managed.AgentToolset, Default: ask},
		}})
	if err != nil {
		s.Fatal(err)
	}
	return a
}

// session starts a session of an agent.
func (s *chatServer) session(a *managed.Agent, title string, messages ...string) string {
	s.Helper()
	var initial []managed.Event
	for _, text := range messages {
		initial = append(initial, managed.Text(text))
	}
	one, err := s.rt.StartSession(s.Context(), chatOwner, managed.SessionRequest{Agent: a.ID, Title: title,
		Initial: initial})
	if err != nil {
		s.Fatal(err)
	}
	return one.ID
}

// chatTab is a tab on the page.
type chatTab struct {
	*testing.T
	*browsertest.Tab
}

// openChat opens the page and gives it the token.
func (s *chatServer) openChat(at string) chatTab {
	s.Helper()
	tab := chatTab{s.T, withoutMicrophone.Browser(s.T).Open(s.T, s.URL+"/chat/"+at)}
	tab.unlock()
	return tab
}

func (tab chatTab) unlock() {
	tab.Helper()
	tab.Click("#token")
	tab.Press(chatToken + browsertest.Enter)
	tab.WaitFor(`!document.querySelector("#app").hidden && document.body.dataset.view !== "token"`)
}

// say sends a message with the keyboard.
func (tab chatTab) say(text string) {
	tab.Helper()
	tab.Click("#text")
	tab.Command("Input.insertText", map[string]any{"text": text}, nil)
	tab.Press(browsertest.Enter)
}

// shows waits until an element has a text in it.
func (tab chatTab) shows(selector, text string) {
	tab.Helper()
	tab.WaitFor(`[...document.querySelectorAll(` + quote(selector) + `)].some((e) => e.checkVisibility() &&
		e.textContent.includes(` + "`" + text + "`" + `))`)
}

// count is how many elements a selector finds.
func (tab chatTab) count(selector string) (n int) {
	tab.Helper()
	tab.Eval(`document.querySelectorAll(`+quote(selector)+`).length`, &n)
	return n
}

// rows are the texts of the conversation.
func (tab chatTab) rows() (list []string) {
	tab.Helper()
	tab.Eval(`[...document.querySelectorAll("#log > li")].map((e) => e.textContent)`, &list)
	return list
}
