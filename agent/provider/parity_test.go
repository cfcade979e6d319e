package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/provider/wiretest"
	"github.com/voicegw/voicegw/transport/ws/wstest"
)

// networked are the providers that the tests compare. A new one gets a line in Providers(), a wire here
// and a dialect in wiretest; each test then runs for it, too.
func networked() []string {
	var list []string
	for _, info := range Providers() {
		list = append(list, info.Name)
	}
	return list
}

// fakeURL is the address of a provider's fake server.
func fakeURL(provider string) string {
	if provider == OpenAI || provider == Compatible {
		return "http://fake.test/v1"
	}
	return "http://fake.test"
}

// local returns a transport to a server in the bubble of the test.
func local(t *testing.T, h http.Handler) http.RoundTripper {
	network := wstest.New()
	server := &http.Server{Handler: h}
	transport := &http.Transport{DialContext: network.Dial}
	go server.Serve(network)
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
	})
	return transport
}

// serve starts a fake server in the bubble of the test and opens its model.
func serve(t *testing.T, provider string, change func(*Config), turns ...wiretest.Turn) (model.LLM, *wiretest.Server) {
	t.Helper()
	fake := wiretest.New(provider, turns...)
	cfg := Config{Keys: map[string]string{provider: wiretest.Key},
		BaseURLs: map[string]string{provider: fakeURL(provider)},
		Client:   &http.Client{Transport: local(t, fake)}, Limits: Limits{Line: 64 << 10, Total: 256 << 10}}
	if change != nil {
		change(&cfg)
	}
	r, err := cfg.Resolver()
	if err != nil {
		t.Fatal(err)
	}
	llm, err := r.Open(Ref{Provider: provider, Model: "m-1"})
	if err != nil {
		t.Fatal(err)
	}
	return llm, fake
}

// heard writes down all that a model yields: partial responses as ~"words", then the whole one or the
// error. Signatures are left out: they are the provider's own.
func heard(ctx context.Context, llm model.LLM, r *model.LLMRequest, stream bool) string {
	var list []string
	for resp, err := range llm.GenerateContent(ctx, r, stream) {
		list = append(list, one(resp, err))
	}
	return strings.Join(list, " ")
}

func one(r *model.LLMResponse, err error) string {
	if e := (*Error)(nil); errors.As(err, &e) {
		return fmt.Sprintf("! %s status=%d attempts=%d again=%v", e.Code, e.Status, e.Attempts, e.Retryable)
	}
	if err != nil {
		return "! " + err.Error()
	}
	s := ""
	if !r.Partial {
		s = string(r.FinishReason)
	}
	for _, p := range r.Content.Parts {
		switch {
		case p.FunctionCall != nil:
			b, _ := json.Marshal(p.FunctionCall.Args)
			s += fmt.Sprintf(" %s#%s%s", p.FunctionCall.Name, p.FunctionCall.ID, b)
		case p.Thought:
			s += fmt.Sprintf(" thought%q", p.Text)
		default:
			s += fmt.Sprintf(" %q", p.Text)
		}
	}
	if r.Partial {
		return "~" + strings.TrimSpace(s)
	}
	if u := r.UsageMetadata; u != nil {
		s += fmt.Sprintf(" %d+%d=%d", u.PromptTokenCount, u.CandidatesTokenCount, u.TotalTokenCount)
	}
	if r.ErrorCode != "" {
		s += " error=" + r.ErrorCode
	}
	if !r.TurnComplete || r.ModelVersion != "m-1" || r.Content.Role != genai.RoleModel {
		s += fmt.Sprintf(" turn complete %v, of model %q, of role %q", r.TurnComplete, r.ModelVersion, r.Content.Role)
	}
	return s
}

// hello asks something, with a tool at hand.
func hello() *model.LLMRequest {
	return &model.LLMRequest{Contents: []*genai.Content{user("hello")}, Config: &genai.GenerateContentConfig{
		Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "menu", Description: "the menu",
			Parameters: &genai.Schema{Type: genai.TypeObject, Properties: map[string]*genai.Schema{
				"day": {Type: genai.TypeString, Enum: []string{"monday", "sunday"}}}}}}}}}}
}

// behaviour is what models do, and what all of them must be mapped to.
type behaviour struct {
	name   string
	turns  []wiretest.Turn
	whole  string // without stream; "" if it happens in streams alone
	stream string // "" if it is that of whole
	took   time.Duration
	not    map[string]string // providers that cannot do that, and why
}

var (
	usage = wiretest.Usage{Prompt: 5, Output: 2}
	fine  = wiretest.Turn{Text: "Good morning to you.", Usage: usage}
	menus = []wiretest.Call{{ID: "a", Name: "menu", Args: `{"day":"monday"}`}, {ID: "b", Name: "menu",
		Args: `{"day":"sunday"}`}}
)

const (
	fineWhole  = `STOP "Good morning to you." 5+2=7`
	fineStream = `~"Good " ~"morning " ~"to " ~"you." STOP "Good morning to you." 5+2=7`
)

func with(t wiretest.Turn, change func(*wiretest.Turn)) wiretest.Turn {
	change(&t)
	return t
}

func fault(f wiretest.Fault) wiretest.Turn {
	return with(fine, func(t *wiretest.Turn) { t.Fault = f })
}

func status(code int, h http.Header) wiretest.Turn { return wiretest.Turn{Status: code, Header: h} }

func answers() []behaviour {
	noFilter := map[string]string{Ollama: "its API has no filter"}
	calls := wiretest.Turn{Text: "Wait.", Calls: menus, Usage: usage}
	return []behaviour{
		{name: "words", turns: []wiretest.Turn{fine}, whole: fineWhole, stream: fineStream},
		{name: "thoughts", turns: []wiretest.Turn{{Thought: "Let me see.", Signature: "s", Text: "Yes.", Usage: usage}},
			whole:  `STOP thought"Let me see." "Yes." 5+2=7`,
			stream: `~thought"Let " ~thought"me " ~thought"see." ~"Yes." STOP thought"Let me see." "Yes." 5+2=7`},
		{name: "parallel calls in pieces", turns: []wiretest.Turn{calls},
			whole:  `STOP "Wait." menu#a{"day":"monday"} menu#b{"day":"sunday"} 5+2=7`,
			stream: `~"Wait." STOP "Wait." menu#a{"day":"monday"} menu#b{"day":"sunday"} 5+2=7`},
		{name: "calls with the same id", turns: []wiretest.Turn{{Calls: []wiretest.Call{menus[0], menus[0]}, Usage: usage}},
			whole: `STOP menu#a{"day":"monday"} menu#a{"day":"monday"} 5+2=7`},
		{name: "calls without ids", turns: []wiretest.Turn{{Calls: []wiretest.Call{{Name: "menu", Args: "{}"},
			{Name: "menu", Args: "{}"}}, Usage: usage}}, whole: `STOP menu#{} menu#{} 5+2=7`},
		{name: "nothing", turns: []wiretest.Turn{{Usage: usage}}, whole: `STOP 5+2=7`},
		{name: "limit in words", turns: []wiretest.Turn{{Text: "Good", Stop: wiretest.MaxTokens, Usage: usage}},
			whole: `MAX_TOKENS "Good" 5+2=7`, stream: `~"Good" MAX_TOKENS "Good" 5+2=7`},
		{name: "limit in a call", turns: []wiretest.Turn{with(calls, func(t *wiretest.Turn) {
			t.Stop, t.Fault = wiretest.MaxTokens, wiretest.BrokenArgs
		})}, whole: `MAX_TOKENS "Wait." menu#a{"day":"monday"} 5+2=7`,
			stream: `~"Wait." MAX_TOKENS "Wait." menu#a{"day":"monday"} 5+2=7`,
			not:    map[string]string{Gemini: "it leaves out the call that is cut off; see the next", Ollama: "likewise"}},
		{name: "limit after a call", turns: []wiretest.Turn{with(calls,
			func(t *wiretest.Turn) { t.Stop = wiretest.MaxTokens })},
			whole:  `MAX_TOKENS "Wait." menu#a{"day":"monday"} 5+2=7`,
			stream: `~"Wait." MAX_TOKENS "Wait." menu#a{"day":"monday"} 5+2=7`},
		{name: "filter", turns: []wiretest.Turn{{Stop: wiretest.Filtered, Usage: usage}}, whole: `SAFETY 5+2=7 error=SAFETY`,
			not: noFilter},
		{name: "refusal", turns: []wiretest.Turn{{Refusal: "I cannot.", Stop: wiretest.Filtered, Usage: usage}},
			whole: `SAFETY "I cannot." 5+2=7`, stream: `~"I " ~"cannot." SAFETY "I cannot." 5+2=7`, not: noFilter},
		{name: "unknown types", turns: []wiretest.Turn{fault(wiretest.Unknown)}, whole: fineWhole, stream: fineStream},
	}
}

// faults are those of servers. A fault is repaired by another attempt, unless words were handed over.
func faults() []behaviour {
	mute := func(f wiretest.Fault) []wiretest.Turn { return []wiretest.Turn{{Fault: f}, fine} }
	twice := func(t wiretest.Turn) []wiretest.Turn { return []wiretest.Turn{t, fine} }
	const half = time.Second / 2
	broken := wiretest.Turn{Calls: menus, Fault: wiretest.BrokenArgs}
	return []behaviour{
		{name: "cut", turns: twice(fault(wiretest.Cut)), whole: fineWhole, took: half,
			stream: `~ ! disconnected status=0 attempts=1 again=true`},
		{name: "cut first", turns: twice(fault(wiretest.CutFirst)), whole: fineWhole, stream: fineStream, took: half},
		{name: "cut before words", turns: mute(wiretest.Cut), whole: fineWhole, stream: fineStream, took: half},
		{name: "unended", turns: twice(fault(wiretest.Unended)), whole: fineWhole, took: half,
			stream: `~ ! incomplete status=0 attempts=1 again=true`},
		{name: "unended before words", turns: mute(wiretest.Unended), whole: fineWhole, stream: fineStream, took: half},
		{name: "error event", turns: twice(fault(wiretest.ErrorEvent)),
			stream: `~ ! overloaded status=0 attempts=1 again=true`},
		{name: "error event before words", turns: mute(wiretest.ErrorEvent), stream: fineStream, took: half},
		{name: "broken JSON", turns: twice(fault(wiretest.Broken)), whole: fineWhole, took: half,
			stream: `~ ! malformed status=0 attempts=1 again=true`},
		{name: "broken JSON before words", turns: mute(wiretest.Broken), whole: fineWhole, stream: fineStream, took: half},
		{name: "huge", turns: twice(fault(wiretest.Huge)), whole: `! too_long status=0 attempts=1 again=false`,
			stream: `~ ! too_long status=0 attempts=1 again=false`},
		{name: "silence", turns: twice(fault(wiretest.Silent)), whole: fineWhole, stream: fineStream,
			took: time.Minute + half},
		{name: "silence in the middle", turns: twice(fault(wiretest.Stalled)), whole: fineWhole, took: time.Minute + half,
			stream: `~ ! timed_out status=0 attempts=1 again=true`},
		{name: "silence before words", turns: mute(wiretest.Stalled), whole: fineWhole, stream: fineStream,
			took: time.Minute + half},
		{name: "broken arguments", turns: twice(broken), whole: fineWhole, stream: fineStream, took: half},
		{name: "broken arguments for ever", turns: []wiretest.Turn{broken}, took: 7 * half,
			whole: `! malformed_call status=0 attempts=4 again=true`},
	}
}

// refusals are answers with an HTTP status.
func refusals() []behaviour {
	no := func(name string, code int, kind Code) behaviour {
		return behaviour{name: name, turns: []wiretest.Turn{status(code, nil)},
			whole: fmt.Sprintf("! %s status=%d attempts=1 again=false", kind, code)}
	}
	again := func(name string, code int, kind Code) behaviour {
		return behaviour{name: name, turns: []wiretest.Turn{status(code, nil)}, took: 3500 * time.Millisecond,
			whole: fmt.Sprintf("! %s status=%d attempts=4 again=true", kind, code)}
	}
	late := func(d time.Duration) []wiretest.Turn {
		return []wiretest.Turn{status(http.StatusTooManyRequests, wiretest.RetryAfter(d)), fine}
	}
	return []behaviour{
		no("schema refused", 400, Invalid), no("wrong key", 401, Unauthenticated), no("no permission", 403, Forbidden),
		no("no such model", 404, NotFound), no("redirect", 307, Invalid),
		again("late", 408, TimedOut), again("too many", 429, RateLimited), again("failed", 500, Failed),
		again("bad gateway", 502, Failed), again("unavailable", 503, Overloaded), again("overloaded", 529, Overloaded),
		{name: "too many, with a time", turns: late(7 * time.Second), whole: fineWhole, stream: fineStream,
			took: 7 * time.Second},
		{name: "too many, for an hour", turns: late(time.Hour), whole: "! rate_limited status=429 attempts=1 again=true"},
		{name: "overloaded once", turns: []wiretest.Turn{status(529, nil), fine}, whole: fineWhole, stream: fineStream,
			took: time.Second / 2},
	}
}

// TestParity holds every provider to the same behaviour.
func TestParity(t *testing.T) {
	for _, b := range append(append(answers(), faults()...), refusals()...) {
		for _, provider := range networked() {
			if b.not[provider] != "" {
				continue
			}
			for _, stream := range []bool{false, true} {
				want := b.whole
				if stream && b.stream != "" {
					want = b.stream
				}
				if want == "" {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/stream=%v", b.name, provider, stream), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { b.try(t, provider, stream, want) })
				})
			}
		}
	}
}

func (b *behaviour) try(t *testing.T, provider string, stream bool, want string) {
	llm, fake := serve(t, provider, nil, b.turns...)
	began := time.Now()
	got := heard(t.Context(), llm, hello(), stream)
	took := time.Since(began)
	words, broke := strings.CutPrefix(want, "~ ")
	if broke { // after some words
		at := strings.Index(got, "!")
		if !strings.HasPrefix(got, `~"`) || at < 0 {
			t.Fatalf("%s; want words and then %s", got, words)
		}
		got, want = got[at:], words
	} else if took != b.took {
		t.Errorf("it took %v, want %v", took, b.took)
	}
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, r := range fake.Requests() {
		if r.Stream != stream {
			t.Errorf("the server was asked for a stream: %v", r.Stream)
		}
	}
}
