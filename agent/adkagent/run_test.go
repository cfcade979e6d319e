package adkagent

import (
	"testing"

	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/provider"
)

func response(c *genai.Content) model.LLMResponse { return model.LLMResponse{Content: c} }

// waiter is an agent with one tool.
func waiter(t testing.TB, m model.LLM) llmagent.Config {
	return llmagent.Config{Name: "host", Description: "takes orders", Instruction: "You take orders.", Model: m,
		Tools: []tool.Tool{menu(t)}}
}

func TestTurn(t *testing.T) {
	w := newWorld(t, mustNew(t, waiter(t, script(calls(monday(), monday()), text("Soup."), text("Bye."))), Options{}))
	w.must("what is there?", `host call menu{"day":"monday"} call menu{"day":"monday"}`,
		`host result menu{"dish":"soup of monday"} result menu{"dish":"soup of monday"}`, `host "Soup."`)
	w.must("thanks", `host "Bye."`)
	var got []string
	for _, e := range w.events() {
		got = append(got, line(e))
		if e.ID == "" || e.Timestamp.IsZero() || e.InvocationID == "" {
			t.Errorf("incomplete: %+v", e)
		}
	}
	same(t, got, []string{`user "what is there?"`, `host call menu{"day":"monday"} call menu{"day":"monday"}`,
		`host result menu{"dish":"soup of monday"} result menu{"dish":"soup of monday"}`, `host "Soup."`, `user "thanks"`,
		`host "Bye."`})
}

var _ = provider.Parrot{}
