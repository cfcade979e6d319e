package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/provider/wiretest"
)

// bodies returns what a fake server writes in each of its moods, as seeds.
func bodies(provider string, stream bool) [][]byte {
	paths := map[string]string{OpenAI: "/v1/responses", Compatible: "/v1/chat/completions", Anthropic: "/v1/messages",
		Ollama: "/api/chat", Gemini: "/v1beta/models/m:generateContent"}
	if stream && provider == Gemini {
		paths[Gemini] = "/v1beta/models/m:streamGenerateContent"
	}
	var list [][]byte
	for _, turn := range []wiretest.Turn{fine, {Calls: menus}, {Thought: "Hm.", Signature: "s", Text: "Yes."},
		{Refusal: "No.", Stop: wiretest.Filtered}, {Fault: wiretest.Unknown, Text: "a b"}, fault(wiretest.ErrorEvent),
		fault(wiretest.Broken), {Calls: menus, Fault: wiretest.BrokenArgs}, {Text: "a", Stop: wiretest.MaxTokens}} {
		body, _ := json.Marshal(map[string]any{"model": "m", "stream": stream, "messages": []any{}, "input": []any{},
			"contents": []any{}, "max_tokens": 1, "stream_options": map[string]any{"include_usage": true}})
		for _, drop := range []string{"messages", "input", "contents", "max_tokens", "stream_options", "stream", "model"} {
			var m map[string]any
			json.Unmarshal(body, &m)
			keep := map[string][]string{OpenAI: {"input", "stream", "model"}, Gemini: {"contents"},
				Compatible: {"messages", "stream", "stream_options", "model"}, Ollama: {"messages", "stream", "model"},
				Anthropic: {"messages", "stream", "max_tokens", "model"}}[provider]
			if !strings.Contains(strings.Join(keep, " ")+" ", drop+" ") {
				delete(m, drop)
				body, _ = json.Marshal(m)
			}
		}
		r := httptest.NewRequest(http.MethodPost, paths[provider], bytes.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+wiretest.Key)
		r.Header.Set("X-Api-Key", wiretest.Key)
		r.Header.Set("X-Goog-Api-Key", wiretest.Key)
		r.Header.Set("Anthropic-Version", anthropicVersion)
		w := httptest.NewRecorder()
		wiretest.New(provider, turn).ServeHTTP(w, r)
		list = append(list, w.Body.Bytes())
	}
	return list
}

// canned is a transport whose response is always the same.
type canned struct {
	body   []byte
	stream bool
}

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	h := http.Header{"Content-Type": {"application/json"}}
	if c.stream {
		h.Set("Content-Type", "text/event-stream")
	}
	return &http.Response{StatusCode: 200, Header: h, Body: io.NopCloser(bytes.NewReader(c.body))}, nil
}

// fuzzWire gives a model any response. It must yield one whole response or one *Error, and partial ones
// before it alone; what it yields can be stored and sent again.
func fuzzWire(f *testing.F, provider string) {
	for _, stream := range []bool{false, true} {
		for _, b := range bodies(provider, stream) {
			f.Add(b, stream)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, stream bool) {
		cfg := Config{Keys: map[string]string{provider: "k"}, BaseURLs: map[string]string{provider: fakeURL(provider)},
			Client: &http.Client{Transport: canned{body, stream}}, Retry: Retry{Attempts: 1}, Limits: Limits{Line: 1000,
				Total: 10_000}}
		r, err := cfg.Resolver()
		if err != nil {
			t.Fatal(err)
		}
		llm, err := r.Open(Ref{Provider: provider, Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		ends := 0
		var whole *genai.Content
		for resp, err := range llm.GenerateContent(t.Context(), hello(), stream) {
			if ends > 0 {
				t.Fatal("something follows the end")
			}
			if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
				t.Fatalf("%v is no *Error", err)
			}
			switch {
			case err != nil:
				ends++
			case !resp.Partial:
				ends++
				whole = resp.Content
				if resp.FinishReason == "" || resp.FinishReason == genai.FinishReasonUnspecified {
					t.Fatal("a response has no finish reason")
				}
			case !stream || len(resp.Content.Parts) != 1 || resp.Content.Parts[0].Text == "":
				t.Fatalf("a partial response of %+v", resp.Content.Parts)
			}
		}
		if ends != 1 {
			t.Fatalf("%d ends", ends)
		}
		if whole == nil {
			return
		}
		if _, err := json.Marshal(whole); err != nil {
			t.Fatal(err)
		}
		next := &model.LLMRequest{Contents: []*genai.Content{user("a"), whole, user("b")}}
		for _, err := range llm.GenerateContent(t.Context(), next, stream) {
			if e := (*Error)(nil); errors.As(err, &e) && (e.Code == Invalid || e.Code == Unsupported) && e.Status == 0 &&
				provider != Gemini {
				t.Fatalf("the response cannot be sent again: %v", err)
			}
		}
	})
}

func FuzzGemini(f *testing.F)     { fuzzWire(f, Gemini) }
func FuzzOpenAI(f *testing.F)     { fuzzWire(f, OpenAI) }
func FuzzCompatible(f *testing.F) { fuzzWire(f, Compatible) }
func FuzzAnthropic(f *testing.F)  { fuzzWire(f, Anthropic) }
func FuzzOllama(f *testing.F)     { fuzzWire(f, Ollama) }

// FuzzFault reads any error of a server.
func FuzzFault(f *testing.F) {
	f.Add(400, []byte(`{"error":{"message":"x","code":"y","details":[{"retryDelay":"1s"}]}}`))
	f.Add(0, []byte(`{"error":"x"}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		e := parseFault(status, body)
		if e.Code == "" || e.RetryAfter < 0 || e.Retryable != e.Code.again() {
			t.Errorf("%+v", e)
		}
	})
}

// TestFrames splits streams as servers write them, and no longer lines than allowed.
func TestFrames(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		split          func(io.Reader, int, frameFunc) error
	}{
		{"events", "event: a\ndata: 1\n\ndata:2\n\n", "a=1 =2 ", readEvents},
		{"carriage returns", "event: a\r\ndata: 1\r\n\r\n", "a=1 ", readEvents},
		{"lines of one event", "data: 1\ndata: 2\n\n", "=1\n2 ", readEvents},
		{"comments and other fields", ": hi\nid: 7\nretry: 1\n\n: there\ndata: 1\n\n", "=1 ", readEvents},
		{"an event without data", "event: a\n\ndata: 1\n\n", "=1 ", readEvents},
		{"empty data", "data\n\ndata:\n\n", "= = ", readEvents},
		{"cut off", "data: 1\n\ndata: 2\n", "=1 ", readEvents},
		{"a long line", "data: " + strings.Repeat("x", 30) + "\n\n", "too_long", readEvents},
		{"last frame", "data: stop\n\ndata: 2\n\n", "=stop ", readEvents},
		{"lines", "{}\n\n  {\"a\":1}\r\n", `={} ={"a":1} `, readLines},
		{"no line end", `{"a":1}`, `={"a":1} `, readLines},
		{"last line", "stop\n2\n", "=stop ", readLines},
		{"a long line of lines", strings.Repeat("x", 30), "too_long", readLines},
	} {
		got := ""
		err := c.split(strings.NewReader(c.in), 20, func(event string, data []byte) (bool, error) {
			got += event + "=" + string(data) + " "
			return string(data) == "stop", nil
		})
		if e := (*Error)(nil); errors.As(err, &e) {
			got += string(e.Code)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
