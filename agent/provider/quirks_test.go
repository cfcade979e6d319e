package provider

import (
	"net/http"
	"strings"
	"testing"
)

// TestQuirks reads what some servers write although the format says otherwise.
func TestQuirks(t *testing.T) {
	chunk := func(delta, rest string) string {
		return `data: {"model":"m-1","choices":[{"delta":` + delta + rest + "}]}\n\n"
	}
	stop := chunk("{}", `,"finish_reason":"stop"`)
	call := func(fields string) string { return `{"tool_calls":[{` + fields + `}]}` }
	event := func(json string) string { return "data: " + json + "\n\n" }
	for _, c := range []struct{ name, provider, body, want string }{
		{"every call has the index 0", Compatible,
			chunk(call(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`), "") +
				chunk(call(`"index":0,"id":"b","function":{"name":"g","arguments":"{}"}`), "") + stop, `STOP f#a{} g#b{}`},
		{"no index", Compatible, chunk(call(`"id":"a","function":{"name":"f","arguments":"{\"a\":"}`), "") +
			chunk(call(`"function":{"arguments":"1}"}`), "") + chunk(call(`"id":"b","function":{"name":"g"}`), "") + stop,
			`STOP f#a{"a":1} g#b{}`},
		{"id and name in each piece", Compatible,
			chunk(call(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"a\":"}`), "") +
				chunk(call(`"index":0,"id":"a","function":{"name":"f","arguments":"1}"}`), "") + stop, `STOP f#a{"a":1}`},
		{"thoughts under another name", Compatible, chunk(`{"reasoning":"Hm."}`, "") + chunk(`{"content":"a"}`, "") + stop,
			`~thought"Hm." ~"a" STOP thought"Hm." "a"`},
		{"null for everything", Compatible, chunk(`{"content":null,"tool_calls":null,"refusal":null}`,
			`,"finish_reason":null`) +
			stop, `STOP`},
		{"an error in place of a chunk", Compatible, event(`{"error":{"message":"x","type":"overloaded_error"}}`),
			`! overloaded status=0 attempts=1 again=true`},
		{"null arguments", Compatible, chunk(call(`"id":"a","function":{"name":"f","arguments":"null"}`), "") + stop,
			`STOP f#a{}`},
		{"arguments that are a list", Compatible, chunk(call(`"id":"a","function":{"name":"f","arguments":"[1]"}`),
			"") + stop,
			`! malformed_call status=0 attempts=1 again=true`},
		{"a call without a name", Compatible, chunk(call(`"id":"a","function":{"arguments":"{}"}`), "") + stop,
			`! malformed_call status=0 attempts=1 again=true`},
		{"another reason", Compatible, chunk(`{"content":"a"}`, `,"finish_reason":"eos"`), `~"a" OTHER "a"`},
		{"no choices", Compatible, event(`{"model":"m-1","choices":[]}`), `! incomplete status=0 attempts=1 again=true`},
		{"a whole response in place of a stream", Compatible, `{"choices":[]}`,
			`! incomplete status=0 attempts=1 again=true`},
		{"words at the start of a block", Anthropic, event(`{"type":"message_start","message":{"model":"m-1"}}`) +
			event(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}`) +
			event(`{"type":"message_delta","delta":{"stop_reason":"pause_turn"}}`) + event(`{"type":"message_stop"}`),
			`~"a" OTHER "a" 0+0=0`},
		{"no reason", Ollama, `{"model":"m-1","message":{"content":"a"},"done":true}`, `~"a" STOP "a" 0+0=0`},
		{"loaded", Ollama, `{"model":"m-1","message":{"content":""},"done":true,"done_reason":"load"}`,
			`OTHER 0+0=0 error=OTHER`},
		{"failed in the middle", OpenAI,
			event(`{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded"}}}`),
			`! rate_limited status=0 attempts=1 again=true`},
		{"cancelled", OpenAI, event(`{"type":"response.completed","response":{"model":"m-1","status":"cancelled"}}`),
			`OTHER error=OTHER`},
		{"another limit", OpenAI, event(`{"type":"response.incomplete","response":{"model":"m-1","status":"incomplete",` +
			`"incomplete_details":{"reason":"future"}}}`), `OTHER error=OTHER`},
		{"filtered", OpenAI, event(`{"type":"response.incomplete","response":{"model":"m-1","status":"incomplete",` +
			`"incomplete_details":{"reason":"content_filter"}}}`), `SAFETY error=SAFETY`},
		{"a refused prompt", Gemini, event(`{"modelVersion":"m-1","promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`),
			`SAFETY error=SAFETY`},
		{"a finer reason", Gemini, event(`{"modelVersion":"m-1","candidates":[{"finishReason":"RECITATION"}]}`),
			`RECITATION error=RECITATION`},
		{"no total", Gemini, event(`{"modelVersion":"m-1","candidates":[{"finishReason":"STOP"}],` +
			`"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":2}}`), `STOP 5+2=7`},
		{"another shape", Gemini, event(`{"candidates":{}}`), `! malformed status=0 attempts=1 again=true`},
	} {
		cfg := Config{Keys: map[string]string{c.provider: "k"}, BaseURLs: map[string]string{c.provider: fakeURL(c.provider)},
			Client: &http.Client{Transport: canned{[]byte(c.body), true}}, Retry: Retry{Attempts: 1}}
		r, err := cfg.Resolver()
		if err != nil {
			t.Fatal(err)
		}
		llm, err := r.Open(Ref{Provider: c.provider, Model: "m-1"})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(heard(t.Context(), llm, hello(), true)); got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.name, c.provider, got, c.want)
		}
	}
}
