package wiretest

import (
	"fmt"
	"net/http"
	"strings"
)

// responses is OpenAI's Responses API.
func responses() dialect {
	return dialect{
		authorized: bearer,
		path:       func(p string) bool { return p == "/v1/responses" },
		stream:     func(r *Request) bool { return r.Body["stream"] == true },
		check:      checkResponses,
		whole: func(model string, t *Turn) any {
			return responsesBody(model, t, responsesItems(t))
		},
		frames: responsesFrames,
		fault:  openAIFault,
		event: func(message string) any {
			return obj{"type": "error", "code": "server_is_overloaded", "message": message, "param": nil, "sequence_number": 9}
		},
		alien: []any{obj{"type": "response.future.delta", "delta": obj{"x": 1}},
			obj{"type": "response.output_item.done", "output_index": 99, "item": obj{"type": "future_call", "id": 7,
				"arguments": obj{}}}},
		write: named,
		kind:  "text/event-stream; charset=utf-8",
	}
}

func openAIFault(status int, message string) any {
	code := map[int]any{401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}[status]
	kind := map[int]string{400: "invalid_request_error", 401: "invalid_request_error", 404: "invalid_request_error",
		429: "requests", 500: "server_error", 503: "server_error"}[status]
	return obj{"error": obj{"message": message, "type": kind, "param": nil, "code": code}}
}

func checkResponses(r *Request) string {
	var e exchange
	return first(
		fields(r.Body, []string{"model", "input"}, "store", "stream", "temperature", "top_p", "max_output_tokens",
			"instructions", "reasoning", "include", "tools", "tool_choice", "text"),
		each(r.Body["tools"], func(m map[string]any) string {
			if m["strict"] == true {
				if why := checkStrict(m["parameters"]); why != "" {
					return why
				}
			}
			return first(checkTool(m["name"], m["parameters"], "const"), fields(m, []string{"type", "name", "parameters"},
				"description", "strict"))
		}),
		each(r.Body["input"], func(m map[string]any) string { return checkResponsesItem(m, &e) }),
		e.others())
}

func checkResponsesItem(m map[string]any, e *exchange) string {
	switch m["type"] {
	case "message", nil:
		if why := e.others(); why != "" && m["role"] == "user" {
			return why
		}
		return each(m["content"], func(c map[string]any) string {
			want := []any{"input_text", "input_image"}
			if m["role"] == "assistant" {
				want = []any{"output_text", "refusal"}
			}
			if c["type"] != want[0] && c["type"] != want[1] {
				return fmt.Sprintf("invalid value: %q. Supported values are: %v", c["type"], want)
			}
			return ""
		})
	case "function_call":
		return first(e.call(m["call_id"]), isJSON(m["arguments"]))
	case "function_call_output":
		if _, ok := m["output"].(string); !ok {
			return "output must be a text"
		}
		return e.result(m["call_id"])
	case "reasoning":
		return fields(m, []string{"type", "id", "summary", "encrypted_content"})
	}
	return fmt.Sprintf("invalid item type %v", m["type"])
}

func responsesItems(t *Turn) []any {
	var items []any
	if t.Thought != "" || t.Signature != "" {
		summary := list{}
		if t.Thought != "" {
			summary = append(summary, obj{"type": "summary_text", "text": t.Thought})
		}
		items = append(items, obj{"type": "reasoning", "id": "rs_1", "summary": summary,
			"encrypted_content": t.Signature})
	}
	content := list{}
	if t.Text != "" {
		content = append(content, obj{"type": "output_text", "text": t.Text, "annotations": list{}})
	}
	if t.Refusal != "" {
		content = append(content, obj{"type": "refusal", "refusal": t.Refusal})
	}
	if len(content) > 0 {
		items = append(items, obj{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
			"content": content})
	}
	if t.Fault == Unknown {
		items = append(items, obj{"type": "future_call", "id": 7, "arguments": obj{}, "content": "x"})
	}
	for i, c := range t.Calls {
		items = append(items, obj{"type": "function_call", "id": fmt.Sprintf("fc_%d", i), "call_id": c.ID, "name": c.Name,
			"arguments": t.args(i), "status": "completed"})
	}
	return items
}

func responsesBody(model string, t *Turn, output []any) obj {
	u := t.Usage
	if output == nil {
		output = list{}
	}
	b := obj{"id": "resp_1", "object": "response", "created_at": 1, "model": model, "status": "completed",
		"output": output, "error": nil, "incomplete_details": nil, "usage": obj{
			"input_tokens": u.Prompt, "input_tokens_details": obj{"cached_tokens": u.Read},
			"output_tokens": u.Output, "output_tokens_details": obj{"reasoning_tokens": u.Thoughts},
			"total_tokens": u.Prompt + u.Output}}
	switch {
	case t.Fault == Unended:
		b["status"] = "in_progress"
	case t.Stop == MaxTokens:
		b["status"], b["incomplete_details"] = "incomplete", obj{"reason": "max_output_tokens"}
	case t.Stop == Filtered && t.Refusal == "":
		b["status"], b["incomplete_details"] = "incomplete", obj{"reason": "content_filter"}
	}
	return b
}

func responsesFrames(model string, t *Turn) []any {
	var frames []any
	n := 0
	add := func(kind string, m obj) {
		m["type"], m["sequence_number"] = "response."+kind, n
		n++
		frames = append(frames, m)
	}
	begun := responsesBody(model, &Turn{}, nil)
	begun["status"], begun["usage"] = "in_progress", nil
	add("created", obj{"response": begun})
	add("in_progress", obj{"response": begun})
	items := responsesItems(t)
	for i, v := range items {
		item := v.(obj)
		empty := obj{}
		for key, v := range item {
			if key != "content" && key != "summary" && key != "arguments" {
				empty[key] = v
			}
		}
		add("output_item.added", obj{"output_index": i, "item": empty})
		at := func(m obj) obj {
			m["output_index"], m["item_id"], m["content_index"] = i, item["id"], 0
			return m
		}
		switch item["type"] {
		case "reasoning":
			for _, w := range words(t.Thought) {
				add("reasoning_summary_text.delta", at(obj{"delta": w, "summary_index": 0}))
			}
		case "message":
			for _, w := range words(t.Text) {
				add("output_text.delta", at(obj{"delta": w, "logprobs": list{}}))
			}
			for _, w := range words(t.Refusal) {
				add("refusal.delta", at(obj{"delta": w}))
			}
		case "function_call":
			args, _ := item["arguments"].(string)
			for _, p := range pieces(args) {
				add("function_call_arguments.delta", at(obj{"delta": p}))
			}
			add("function_call_arguments.done", at(obj{"arguments": args, "name": item["name"]}))
		}
		add("output_item.done", obj{"output_index": i, "item": item})
	}
	if t.Fault != Unended {
		b := responsesBody(model, t, items)
		add(strings.TrimPrefix(fmt.Sprint(b["status"]), "response."), obj{"response": b})
	}
	return frames
}

// statusText names a status as providers without a table of codes do.
func statusText(status int) string {
	return strings.ReplaceAll(strings.ToLower(http.StatusText(status)), " ", "_")
}
