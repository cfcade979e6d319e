package wiretest

import (
	"encoding/json"
	"fmt"
	"io"
)

// ollama is Ollama's own API.
func ollama() dialect {
	return dialect{
		authorized: bearer,
		path:       func(p string) bool { return p == "/api/chat" },
		stream:     func(r *Request) bool { return r.Body["stream"] != false },
		check:      checkOllama,
		whole: func(model string, t *Turn) any {
			if t.brokenCall() {
				return ollamaBroken()
			}
			m := obj{"role": "assistant", "content": t.text()}
			if t.Thought != "" {
				m["thinking"] = t.Thought
			}
			var calls list
			for i := range t.Calls {
				calls = append(calls, ollamaCall(t, i))
			}
			if calls != nil {
				m["tool_calls"] = calls
			}
			return ollamaLine(model, t, m, true)
		},
		frames: ollamaFrames,
		fault:  func(_ int, message string) any { return obj{"error": message} },
		event:  func(message string) any { return obj{"error": "overloaded: " + message} },
		alien:  []any{obj{"future": 1}, obj{"model": "", "message": obj{"role": "assistant", "future": "x"}, "done": false}},
		write: func(w io.Writer, frame any) {
			writeJSON(w, frame)
			io.WriteString(w, "\n")
		},
		kind: "application/x-ndjson",
	}
}

func checkOllama(r *Request) string {
	return first(
		fields(r.Body, []string{"model", "messages"}, "stream", "options", "think", "tools", "format"),
		each(r.Body["tools"], func(m map[string]any) string {
			return checkTool(at(m, "function", "name"), at(m, "function", "parameters"), "const")
		}),
		each(r.Body["messages"], func(m map[string]any) string {
			if _, ok := m["content"].(string); !ok {
				return "content must be a text"
			}
			switch m["role"] {
			case "system", "user", "assistant":
				return each(m["tool_calls"], func(c map[string]any) string {
					if _, ok := at(c, "function", "arguments").(map[string]any); !ok {
						return "arguments must be an object"
					}
					return ""
				})
			case "tool":
				return fields(m, []string{"role", "content", "tool_name"}, "tool_call_id")
			}
			return fmt.Sprintf("invalid role %v", m["role"])
		}))
}

// brokenCall tells whether the server finds arguments that it cannot read.
func (t *Turn) brokenCall() bool { return t.Fault == BrokenArgs && t.Stop == Done }

func ollamaBroken() any {
	return obj{"error": `error parsing tool call: raw='{"day":', err=unexpected end of JSON input`}
}

func ollamaCall(t *Turn, i int) any {
	var args any
	json.Unmarshal([]byte(t.Calls[i].Args), &args)
	call := obj{"function": obj{"name": t.Calls[i].Name, "arguments": args}}
	if id := t.Calls[i].ID; id != "" {
		call["id"] = id
	}
	return call
}

func ollamaLine(model string, t *Turn, message obj, last bool) any {
	line := obj{"model": model, "created_at": "2026-01-01T00:00:00Z", "message": message, "done": false}
	if !last || t.Fault == Unended {
		return line
	}
	reason := "stop"
	if t.Stop == MaxTokens {
		reason = "length"
	}
	line["done"], line["done_reason"], line["total_duration"] = true, reason, 1
	line["prompt_eval_count"], line["eval_count"] = t.Usage.Prompt, t.Usage.Output
	if t.Fault == Unknown {
		line["future"] = obj{"x": 1}
	}
	return line
}

func ollamaFrames(model string, t *Turn) []any {
	var frames []any
	add := func(m obj) {
		m["role"] = "assistant"
		if m["content"] == nil {
			m["content"] = ""
		}
		frames = append(frames, ollamaLine(model, t, m, false))
	}
	for _, w := range words(t.Thought) {
		add(obj{"thinking": w})
	}
	for _, w := range words(t.text()) {
		add(obj{"content": w})
	}
	if t.brokenCall() {
		return append(frames, ollamaBroken())
	}
	for i := range t.Calls {
		add(obj{"tool_calls": list{ollamaCall(t, i)}})
	}
	if t.Fault == Unended {
		return frames
	}
	return append(frames, ollamaLine(model, t, obj{"role": "assistant", "content": ""}, true))
}
