package wiretest

import (
	"fmt"
)

// chat is Chat Completions.
func chat() dialect {
	return dialect{
		authorized: bearer,
		path:       func(p string) bool { return p == "/v1/chat/completions" },
		stream:     func(r *Request) bool { return r.Body["stream"] == true },
		check:      checkChat,
		whole:      chatWhole,
		frames:     chatFrames,
		fault: func(status int, message string) any { // as vLLM writes it
			return obj{"object": "error", "message": message, "type": statusText(status), "param": nil, "code": status}
		},
		event: func(message string) any { return obj{"error": obj{"message": message, "code": 503}} },
		alien: []any{raw(": still working"), obj{"object": "future.chunk", "choices": list{}},
			obj{"choices": list{obj{"index": 0, "delta": obj{"future": 1}}}}},
		write: named,
		kind:  "text/event-stream",
	}
}

func checkChat(r *Request) string {
	var e exchange
	if r.Stream && at(r.Body, "stream_options", "include_usage") != true {
		return "a stream without stream_options.include_usage has no usage"
	}
	return first(
		fields(r.Body, []string{"model", "messages"}, "stream", "stream_options", "temperature", "top_p", "max_tokens",
			"stop", "seed", "presence_penalty", "frequency_penalty", "reasoning_effort", "tools", "tool_choice",
			"response_format"),
		each(r.Body["tools"], func(m map[string]any) string {
			return checkTool(at(m, "function", "name"), at(m, "function", "parameters"), "const")
		}),
		each(r.Body["messages"], func(m map[string]any) string { return checkChatMessage(m, &e) }),
		e.others())
}

func checkChatMessage(m map[string]any, e *exchange) string {
	if m["role"] == "tool" {
		return e.result(m["tool_call_id"])
	}
	if why := e.others(); why != "" {
		return why
	}
	switch m["role"] {
	case "system", "user":
	case "assistant":
		if m["reasoning_content"] != nil && m["tool_calls"] == nil {
			return "reasoning_content belongs beside calls"
		}
		return each(m["tool_calls"], func(c map[string]any) string {
			return first(e.call(c["id"]), isJSON(at(c, "function", "arguments")))
		})
	default:
		return fmt.Sprintf("invalid role %v", m["role"])
	}
	return ""
}

func chatFinish(t *Turn) any {
	switch {
	case t.Fault == Unended:
		return nil
	case t.Stop == MaxTokens:
		return "length"
	case t.Stop == Filtered && t.Refusal == "":
		return "content_filter"
	case len(t.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func chatUsage(u Usage) any {
	return obj{"prompt_tokens": u.Prompt, "completion_tokens": u.Output, "total_tokens": u.Prompt + u.Output,
		"prompt_tokens_details":     obj{"cached_tokens": u.Read},
		"completion_tokens_details": obj{"reasoning_tokens": u.Thoughts}}
}

func chatWhole(model string, t *Turn) any {
	m := obj{"role": "assistant", "content": nil}
	if t.Text != "" {
		m["content"] = t.Text
	}
	if t.Refusal != "" {
		m["refusal"] = t.Refusal
	}
	if t.Thought != "" {
		m["reasoning_content"] = t.Thought
	}
	var calls list
	for i, c := range t.Calls {
		calls = append(calls, obj{"id": c.ID, "type": "function", "function": obj{"name": c.Name, "arguments": t.args(i)}})
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	if t.Fault == Unknown {
		m["future"] = obj{"x": 1}
	}
	return obj{"id": "c1", "object": "chat.completion", "created": 1, "model": model, "usage": chatUsage(t.Usage),
		"choices": list{obj{"index": 0, "message": m, "finish_reason": chatFinish(t)}}}
}

func chatFrames(model string, t *Turn) []any {
	var frames []any
	add := func(delta obj, finish any) {
		frames = append(frames, obj{"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": model,
			"choices": list{obj{"index": 0, "delta": delta, "finish_reason": finish}}, "usage": nil})
	}
	add(obj{"role": "assistant", "content": ""}, nil)
	for _, w := range words(t.Thought) {
		add(obj{"reasoning_content": w}, nil)
	}
	for _, w := range words(t.Text) {
		add(obj{"content": w}, nil)
	}
	for _, w := range words(t.Refusal) {
		add(obj{"refusal": w}, nil)
	}
	for i, c := range t.Calls {
		call := func(m obj) obj {
			m["index"] = i
			return obj{"tool_calls": list{m}}
		}
		add(call(obj{"id": c.ID, "type": "function", "function": obj{"name": c.Name, "arguments": ""}}), nil)
		for _, p := range pieces(t.args(i)) {
			add(call(obj{"function": obj{"arguments": p}}), nil)
		}
	}
	if t.Fault == Unended {
		return frames
	}
	add(obj{}, chatFinish(t))
	return append(frames, obj{"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": model,
		"choices": list{}, "usage": chatUsage(t.Usage)}, raw("[DONE]"))
}
