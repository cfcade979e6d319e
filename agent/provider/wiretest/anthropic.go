package wiretest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// anthropic is Anthropic's Messages API.
func anthropic() dialect {
	return dialect{
		authorized: func(h http.Header) bool {
			return h.Get("X-Api-Key") == Key && h.Get("Anthropic-Version") == "2023-06-01"
		},
		path:   func(p string) bool { return p == "/v1/messages" },
		stream: func(r *Request) bool { return r.Body["stream"] == true },
		check:  checkAnthropic,
		whole: func(model string, t *Turn) any {
			m := anthropicMessage(model, t)
			m["content"], m["stop_reason"] = anthropicContent(t), anthropicStop(t)
			return m
		},
		frames: anthropicFrames,
		fault: func(status int, message string) any {
			kind := map[int]string{400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
				404: "not_found_error", 408: "timeout_error", 429: "rate_limit_error", 529: "overloaded_error"}[status]
			return obj{"type": "error", "error": obj{"type": or(kind, "api_error"), "message": message}, "request_id": "req_1"}
		},
		event: func(message string) any {
			return obj{"type": "error", "error": obj{"type": "overloaded_error", "message": message}}
		},
		alien: []any{obj{"type": "ping"}, obj{"type": "future_event", "x": 1},
			obj{"type": "content_block_start", "index": 98, "content_block": obj{"type": "future_block", "text": obj{"x": 1}}},
			obj{"type": "content_block_delta", "index": 98, "delta": obj{"type": "input_json_delta", "partial_json": "{"}},
			obj{"type": "content_block_delta", "index": 98, "delta": obj{"type": "future_delta", "x": 1}},
			obj{"type": "content_block_stop", "index": 98}},
		write: named,
		kind:  "text/event-stream; charset=utf-8",
	}
}

func checkAnthropic(r *Request) string {
	last := any(nil)
	var e exchange
	return first(
		fields(r.Body, []string{"model", "messages", "max_tokens"}, "stream", "temperature", "top_p", "top_k", "system",
			"stop_sequences", "thinking", "output_config", "tools", "tool_choice"),
		each(r.Body["tools"], func(m map[string]any) string { return checkTool(m["name"], m["input_schema"]) }),
		each(r.Body["messages"], func(m map[string]any) string {
			if m["role"] == last || m["role"] != "user" && m["role"] != "assistant" {
				return fmt.Sprintf("role %v after %v", m["role"], last)
			}
			last = m["role"]
			if content, _ := m["content"].([]any); len(content) == 0 {
				return "messages must have non-empty content"
			}
			why := each(m["content"], func(b map[string]any) string { return checkAnthropicBlock(b, &e) })
			if m["role"] == "user" {
				why = first(why, e.others())
			}
			return why
		}),
		e.others())
}

func checkAnthropicBlock(b map[string]any, e *exchange) string {
	switch b["type"] {
	case "text":
		return fields(b, []string{"type", "text"})
	case "image":
		return fields(b, []string{"type", "source"})
	case "thinking":
		return fields(b, []string{"type", "thinking", "signature"})
	case "redacted_thinking":
		return fields(b, []string{"type", "data"})
	case "tool_use":
		return first(fields(b, []string{"type", "id", "name", "input"}), e.call(b["id"]))
	case "tool_result":
		return first(fields(b, []string{"type", "tool_use_id", "content"}, "is_error"), e.result(b["tool_use_id"]))
	}
	return fmt.Sprintf("unexpected block %v", b["type"])
}

func anthropicMessage(model string, t *Turn) obj {
	u := t.Usage
	return obj{"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": list{},
		"stop_reason": nil, "stop_sequence": nil, "usage": obj{"input_tokens": u.Prompt - u.Read - u.Written,
			"cache_creation_input_tokens": u.Written, "cache_read_input_tokens": u.Read, "output_tokens": u.Output}}
}

func anthropicStop(t *Turn) any {
	switch {
	case t.Fault == Unended:
		return nil
	case t.Stop == MaxTokens:
		return "max_tokens"
	case t.Stop == Filtered:
		return "refusal"
	case len(t.Calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

func anthropicContent(t *Turn) list {
	content := list{}
	switch {
	case t.Thought != "":
		content = append(content, obj{"type": "thinking", "thinking": t.Thought, "signature": t.Signature})
	case t.Signature != "":
		content = append(content, obj{"type": "redacted_thinking", "data": t.Signature})
	}
	if t.text() != "" {
		content = append(content, obj{"type": "text", "text": t.text()})
	}
	if t.Fault == Unknown {
		content = append(content, obj{"type": "future_block", "text": obj{"x": 1}})
	}
	for i, c := range t.Calls {
		var input any = t.args(i) // arguments that are no JSON come as a text
		var m map[string]any
		if json.Unmarshal([]byte(t.args(i)), &m) == nil {
			input = m
		}
		content = append(content, obj{"type": "tool_use", "id": c.ID, "name": c.Name, "input": input})
	}
	return content
}

func anthropicFrames(model string, t *Turn) []any {
	frames := []any{obj{"type": "message_start", "message": func() obj {
		m := anthropicMessage(model, t)
		m["usage"].(obj)["output_tokens"] = 1
		return m
	}()}, obj{"type": "ping"}}
	calls := 0
	for i, v := range anthropicContent(t) {
		block := v.(obj)
		empty := obj{"type": block["type"]}
		var deltas []obj
		switch block["type"] {
		case "thinking":
			empty["thinking"], empty["signature"] = "", ""
			for _, w := range words(t.Thought) {
				deltas = append(deltas, obj{"type": "thinking_delta", "thinking": w})
			}
			deltas = append(deltas, obj{"type": "signature_delta", "signature": t.Signature})
		case "text":
			empty["text"] = ""
			for _, w := range words(t.text()) {
				deltas = append(deltas, obj{"type": "text_delta", "text": w})
			}
		case "tool_use":
			empty["id"], empty["name"], empty["input"] = block["id"], block["name"], obj{}
			deltas = append(deltas, obj{"type": "input_json_delta", "partial_json": ""})
			for _, p := range pieces(t.args(calls)) {
				deltas = append(deltas, obj{"type": "input_json_delta", "partial_json": p})
			}
			calls++
		default:
			empty = block
		}
		frames = append(frames, obj{"type": "content_block_start", "index": i, "content_block": empty})
		for _, d := range deltas {
			frames = append(frames, obj{"type": "content_block_delta", "index": i, "delta": d})
		}
		frames = append(frames, obj{"type": "content_block_stop", "index": i})
	}
	if t.Fault == Unended {
		return frames
	}
	return append(frames, obj{"type": "message_delta", "delta": obj{"stop_reason": anthropicStop(t), "stop_sequence": nil},
		"usage": obj{"output_tokens": t.Usage.Output}}, obj{"type": "message_stop"})
}
