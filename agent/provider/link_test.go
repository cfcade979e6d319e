package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/provider/wiretest"
)

// failure asks once and returns the error.
func failure(t *testing.T, provider string, stream bool, change func(*Config), turns ...wiretest.Turn) *Error {
	t.Helper()
	llm, _ := serve(t, provider, change, turns...)
	var e *Error
	for _, err := range llm.GenerateContent(t.Context(), hello(), stream) {
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%s: %v is no *Error", provider, err)
		}
	}
	if e == nil {
		t.Fatalf("%s: no error", provider)
	}
	return e
}

// TestErrors reads errors as each provider writes them. No error shows the key, which the fake server
// quotes; none shows what a model said.
func TestErrors(t *testing.T) {
	for _, provider := range networked() {
		synctest.Test(t, func(t *testing.T) {
			e := failure(t, provider, false, func(c *Config) { c.Keys[provider] = "sk-wrong-key-0123456789" }, fine)
			if e.Code != Unauthenticated || e.Status != 401 || e.RequestID != "req_1" || e.Retryable ||
				!strings.Contains(e.Message, "wrong key") || strings.Contains(fmt.Sprint(e, e.Message, e.Err), "sk-wrong") {
				t.Errorf("%s: %+v", provider, e)
			}
			turn := wiretest.Turn{Status: 429, Message: strings.Repeat("slow down ", 100),
				Header: wiretest.RetryAfter(time.Hour)}
			e = failure(t, provider, true, nil, turn)
			if e.RetryAfter != time.Hour || len(e.Message) > messageMax || !strings.HasPrefix(e.Message, "slow down") {
				t.Errorf("%s: %+v", provider, e)
			}
			e = failure(t, provider, true, nil, wiretest.Turn{Fault: wiretest.ErrorEvent, Text: "my secret is this one",
				Message: "no room"})
			if e.Message == "" || !strings.Contains(e.Message, "no room") || e.Attempts != 1 {
				t.Errorf("%s: %+v", provider, e)
			}
			e = failure(t, provider, false, func(c *Config) { c.Retry.Attempts = 1 }, with(fine, func(t *wiretest.Turn) {
				t.Fault, t.Text = wiretest.Broken, "my secret is long enough to be in the half of the response that arrives"
			}))
			if strings.Contains(e.Error(), "secret") || e.Code != Malformed {
				t.Errorf("%s: %v", provider, e)
			}
		})
	}
}

// TestParseFault reads errors of more servers.
func TestParseFault(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   string
	}{
		{429, `{"error":{"message":"You exceeded it","type":"insufficient_quota","code":"insufficient_quota"}}`,
			"out_of_quota insufficient_quota You exceeded it 0s"},
		{429, `[{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED",
			"details":[{},{"retryDelay":"13.5s"}]}}]`,
			"rate_limited RESOURCE_EXHAUSTED quota 13.5s"},
		{400, `{"error":{"message":"too many tokens","code":"context_length_exceeded"}}`,
			"invalid context_length_exceeded too many tokens 0s"},
		{404, `{"error":"model 'x' not found"}`, "not_found  model 'x' not found 0s"},
		{422, `{"detail":[{"msg":"x"}]}`, "invalid   0s"},
		{502, `<html>Bad gateway</html>`, "failed  <html>Bad gateway</html> 0s"},
		{500, `{"error":"error parsing tool call: raw='{'"}`, "malformed_call  error parsing tool call: raw='{' 0s"},
		{0, `{"type":"error","code":"rate_limit_exceeded","message":"slow"}`, "rate_limited rate_limit_exceeded slow 0s"},
		{0, `{"error":{"code":503,"message":"later"}}`, "overloaded  later 0s"},
		{0, `{"error":{"code":400,"message":"no"}}`, "invalid  no 0s"},
		{0, `"it broke"`, "failed  it broke 0s"}, {0, ``, "failed   0s"}, {0, `null`, "failed   0s"},
		{0, `{"error":null,"message":7,"code":{"a":1},"details":{}}`, "failed   0s"},
	} {
		e := parseFault(c.status, []byte(c.body))
		if got := fmt.Sprintf("%s %s %s %v", e.Code, e.Reason, e.Message, e.RetryAfter); got != c.want {
			t.Errorf("%s: %q, want %q", c.body, got, c.want)
		}
		if e.Status != c.status {
			t.Errorf("%s: status %d", c.body, e.Status)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second}, {"Retry-After", "0.5", time.Second / 2}, {"Retry-After", "-1", 0},
		{"Retry-After", now.Add(time.Minute).Format(http.TimeFormat), time.Minute},
		{"Retry-After", now.Add(-time.Minute).Format(http.TimeFormat), 0}, {"Retry-After", "soon", 0},
		{"Retry-After", "1e300", 0}, {"Retry-After", "NaN", 0}, {"Retry-After-Ms", "250", 250 * time.Millisecond},
	} {
		if got := retryAfter(http.Header{c.name: {c.value}}, now); got != c.want {
			t.Errorf("%s: %s: %v, want %v", c.name, c.value, got, c.want)
		}
	}
}

// TestRetryBounds reaches each bound on attempts.
func TestRetryBounds(t *testing.T) {
	fail := func(code Code) *Error { return newError(code, "x") }
	shouldNot := &Error{Code: Failed}
	for _, c := range []struct {
		name  string
		r     Retry
		e     *Error
		n     int
		spent time.Duration
		wait  time.Duration
		again bool
	}{
		{"first", Retry{}, fail(Failed), 1, 0, 500 * time.Millisecond, true},
		{"third", Retry{}, fail(Failed), 3, 0, 2 * time.Second, true},
		{"last", Retry{}, fail(Failed), 4, 0, 0, false},
		{"longest wait", Retry{Attempts: 100}, fail(Failed), 70, 0, 20 * time.Second, true},
		{"no time left", Retry{}, fail(Failed), 1, 2 * time.Minute, 500 * time.Millisecond, false},
		{"final", Retry{}, fail(Invalid), 1, 0, 0, false}, {"the provider says no", Retry{}, shouldNot, 1, 0, 0, false},
		{"asked to wait", Retry{}, &Error{Retryable: true, RetryAfter: 19 * time.Second}, 1, 0, 19 * time.Second, true},
		{"asked to wait too long", Retry{}, &Error{Retryable: true, RetryAfter: time.Hour}, 1, 0, time.Hour, false},
		{"asked to wait a little too long", Retry{}, &Error{Retryable: true, RetryAfter: 21 * time.Second}, 1, 0,
			21 * time.Second,
			false},
		{"jitter", Retry{Jitter: func() float64 { return 1 }}, fail(Failed), 1, 0, 250 * time.Millisecond, true},
		{"wild jitter", Retry{Jitter: func() float64 { return 9 }}, fail(Failed), 1, 0, 250 * time.Millisecond, true},
	} {
		wait, again := c.r.filled().next(c.e, c.n, c.spent)
		if wait != c.wait || again != c.again {
			t.Errorf("%s: %v, %v; want %v, %v", c.name, wait, again, c.wait, c.again)
		}
	}
}

// TestShouldRetry obeys a provider that says whether to come back.
func TestShouldRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := failure(t, Anthropic, false, nil, wiretest.Turn{Status: 500, Header: http.Header{"X-Should-Retry": {"false"}}})
		if e.Retryable || e.Attempts != 1 {
			t.Errorf("%+v", e)
		}
		llm, _ := serve(t, OpenAI, nil, wiretest.Turn{Status: 409, Header: http.Header{"X-Should-Retry": {"true"}}}, fine)
		if got := heard(t.Context(), llm, hello(), false); got != fineWhole {
			t.Error(got)
		}
	})
}

// TestContextEnds stops requests while they wait for a server, for words, and for the next attempt.
func TestContextEnds(t *testing.T) {
	for _, provider := range networked() {
		for name, turn := range map[string]wiretest.Turn{"silent": fault(wiretest.Silent), "stalled": fault(wiretest.Stalled),
			"between attempts": status(429, wiretest.RetryAfter(15*time.Second))} {
			synctest.Test(t, func(t *testing.T) {
				llm, _ := serve(t, provider, nil, turn)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				began, last := time.Now(), error(nil)
				for _, err := range llm.GenerateContent(ctx, hello(), true) {
					last = err
				}
				if took := time.Since(began); !errors.Is(last, context.DeadlineExceeded) || took != 10*time.Second {
					t.Errorf("%s, %s: %v after %v", provider, name, last, took)
				}
			})
		}
	}
}

// TestAttemptEnds bounds a response that never ends although it is never silent.
func TestAttemptEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drip := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for {
				io.WriteString(w, ": still here\n\n")
				http.NewResponseController(w).Flush()
				select {
				case <-time.After(30 * time.Second):
				case <-r.Context().Done():
					return
				}
			}
		})
		began := time.Now()
		e := failure(t, Anthropic, true, func(c *Config) {
			c.Client = &http.Client{Transport: local(t, drip)}
			c.Retry.Attempts = 1
		}, fine)
		if took := time.Since(began); e.Code != TimedOut || took != 10*time.Minute {
			t.Errorf("%v after %v", e, took)
		}
	})
}

// TestSlowReader takes longer for a piece than a server may be silent. That is no silence of the server.
func TestSlowReader(t *testing.T) {
	for _, provider := range networked() {
		synctest.Test(t, func(t *testing.T) {
			llm, _ := serve(t, provider, nil, fine)
			got := ""
			for resp, err := range llm.GenerateContent(t.Context(), hello(), true) {
				<-time.After(2 * time.Minute)
				got = one(resp, err)
			}
			if got != fineWhole {
				t.Errorf("%s: %s", provider, got)
			}
		})
	}
}

// TestPanicOfReader lets a panic of the reader pass; it is not the provider's.
func TestPanicOfReader(t *testing.T) {
	for _, provider := range networked() {
		synctest.Test(t, func(t *testing.T) {
			llm, _ := serve(t, provider, nil, fine)
			defer func() {
				if v := recover(); v != "mine" {
					t.Errorf("%s: recovered %v", provider, v)
				}
			}()
			for range llm.GenerateContent(t.Context(), hello(), true) {
				panic("mine")
			}
		})
	}
}

// TestClientTimeout maps the limit of a caller's own http.Client.
func TestClientTimeout(t *testing.T) {
	for _, provider := range networked() {
		for _, turn := range []wiretest.Turn{fault(wiretest.Silent), {Fault: wiretest.Stalled}} {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				e := failure(t, provider, false, func(c *Config) { c.Client.Timeout, c.Retry.Attempts = time.Second, 1 }, turn)
				if took := time.Since(began); e.Code != TimedOut || !e.Retryable || took != time.Second {
					t.Errorf("%s: %v after %v", provider, e, took)
				}
			})
		}
	}
}

// TestReaderLeaves stops a stream in the middle. The server notices, and nothing is left.
func TestReaderLeaves(t *testing.T) {
	for _, provider := range networked() {
		synctest.Test(t, func(t *testing.T) {
			llm, fake := serve(t, provider, nil, fault(wiretest.Stalled))
			began := time.Now()
			for resp, err := range llm.GenerateContent(t.Context(), hello(), true) {
				if err != nil || !resp.Partial {
					t.Errorf("%s: %v, %v", provider, resp, err)
				}
				break
			}
			if n, took := len(fake.Requests()), time.Since(began); n != 1 || took != 0 {
				t.Errorf("%s: %d requests, and the stream ended after %v", provider, n, took)
			}
		})
	}
}

// TestUsage maps tokens of thoughts and caches as far as each provider counts them.
func TestUsage(t *testing.T) {
	turn := wiretest.Turn{Text: "a", Usage: wiretest.Usage{Prompt: 100, Output: 30, Thoughts: 20, Read: 40, Written: 10}}
	for provider, want := range map[string]string{
		Gemini: "100 10 20 40 130 <nil>", OpenAI: "100 10 20 40 130 <nil>", Compatible: "100 10 20 40 130 <nil>",
		Anthropic: "100 30 0 40 130 10", Ollama: "100 30 0 0 130 <nil>",
	} {
		for _, stream := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				llm, _ := serve(t, provider, nil, turn)
				for resp, err := range llm.GenerateContent(t.Context(), hello(), stream) {
					if err != nil || resp.Partial {
						continue
					}
					u := resp.UsageMetadata
					got := fmt.Sprint(u.PromptTokenCount, u.CandidatesTokenCount, u.ThoughtsTokenCount,
						u.CachedContentTokenCount, u.TotalTokenCount, resp.CustomMetadata[CacheWriteTokens])
					if got != want {
						t.Errorf("%s, stream %v: %s, want %s", provider, stream, got, want)
					}
				}
			})
		}
	}
	a := &answer{names: &names{}, finish: genai.FinishReasonStop}
	a.count(-5, 1<<40, -1, -1, -3)
	if u := a.usage; u.PromptTokenCount != 0 || u.CandidatesTokenCount != 1<<31-1 || u.TotalTokenCount != 1<<31-1 {
		t.Errorf("absurd counts: %+v", u)
	}
}

// TestThinking writes how much to think as each provider takes it.
func TestThinking(t *testing.T) {
	for _, c := range []struct {
		provider string
		think    genai.ThinkingConfig
		want     string
	}{
		{OpenAI, genai.ThinkingConfig{ThinkingLevel: genai.ThinkingLevelHigh, IncludeThoughts: true},
			`"include":["reasoning.encrypted_content"],"reasoning":{"effort":"high","summary":"auto"}`},
		{Compatible, genai.ThinkingConfig{ThinkingLevel: genai.ThinkingLevelLow}, `"reasoning_effort":"low"`},
		{Anthropic, genai.ThinkingConfig{ThinkingBudget: ptr(int32(2000)), IncludeThoughts: true},
			`"max_tokens":10192,"thinking":{"budget_tokens":2000,"display":"summarized","type":"enabled"}`},
		{Anthropic, genai.ThinkingConfig{ThinkingLevel: genai.ThinkingLevelMedium},
			`"output_config":{"effort":"medium"},"thinking":{"type":"adaptive"}`},
		{Anthropic, genai.ThinkingConfig{ThinkingBudget: ptr(int32(0))}, `"thinking":{"type":"disabled"}`},
		{Ollama, genai.ThinkingConfig{ThinkingLevel: genai.ThinkingLevelLow}, `"think":"low"`},
		{Ollama, genai.ThinkingConfig{ThinkingBudget: ptr(int32(0))}, `"think":false`},
		{Ollama, genai.ThinkingConfig{IncludeThoughts: true}, `"think":true`},
		{Gemini, genai.ThinkingConfig{ThinkingBudget: ptr(int32(9)), IncludeThoughts: true},
			`"thinkingConfig":{"includeThoughts":true,"thinkingBudget":9}`},
	} {
		synctest.Test(t, func(t *testing.T) {
			llm, fake := serve(t, c.provider, nil, fine)
			r := hello()
			r.Config.Tools, r.Config.ThinkingConfig = nil, &c.think
			if got := heard(t.Context(), llm, r, false); got != fineWhole {
				t.Fatal(got)
			}
			body := fake.Requests()[0].Body
			for _, key := range []string{"messages", "input", "contents", "model", "stream", "store"} {
				delete(body, key)
			}
			if c.provider == Anthropic && !strings.Contains(c.want, "max_tokens") {
				delete(body, "max_tokens")
			}
			b, _ := json.Marshal(body)
			if got := string(b); !strings.Contains(got, c.want) || c.provider != Gemini && got != "{"+c.want+"}" {
				t.Errorf("%s: %s, want %s", c.provider, got, c.want)
			}
		})
	}
}
