package wiretest

import (
	"encoding/json"
	"net/http"
	"strings"
)

// gemini is the Gemini API's generateContent and streamGenerateContent?alt=sse.
func gemini() dialect {
	return dialect{
		authorized: func(h http.Header) bool { return h.Get("X-Goog-Api-Key") == Key },
		path: func(p string) bool {
			return strings.HasPrefix(p, "/v1beta/models/") &&
				(strings.HasSuffix(p, ":generateContent") || strings.HasSuffix(p, ":streamGenerateContent"))
		},
		stream: func(r *Request) bool { return strings.HasSuffix(r.Path, ":streamGenerateContent") },
		check:  checkGemini,
		whole: func(model string, t *Turn) any {
			return geminiChunk(model, t, true, geminiParts(t)...)
		},
		frames: geminiFrames,
		fault:  geminiFault,
		event:  func(message string) any { return geminiFault(http.StatusServiceUnavailable, message) },
		alien:  []any{obj{"futureField": 1, "candidates": list{obj{"content": obj{"role": "model"}, "index": 0}}}},
		write:  sse,
		kind:   "text/event-stream",
	}
}

func geminiFault(status int, message string) any {
	word := map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 404: "NOT_FOUND", 408: "DEADLINE_EXCEEDED",
		429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 529: "UNAVAILABLE"}[status]
	return obj{"error": obj{"code": status, "message": message, "status": word}}
}

func checkGemini(r *Request) string {
	if why := fields(r.Body, []string{"contents"}, "systemInstruction", "tools", "toolConfig", "generationConfig",
		"safetySettings", "cachedContent", "labels"); why != "" {
		return why
	}
	if why := each(at(r.Body, "tools"), func(m map[string]any) string {
		return each(m["functionDeclarations"], func(d map[string]any) string {
			if d["parameters"] != nil {
				return "only parametersJsonSchema is checked here"
			}
			return checkTool(d["name"], d["parametersJsonSchema"], "const")
		})
	}); why != "" {
		return why
	}
	return each(r.Body["contents"], func(m map[string]any) string {
		if m["role"] != "user" && m["role"] != "model" {
			return "please use a valid role: user, model"
		}
		return ""
	})
}

func geminiCall(t *Turn, i int) any {
	var args any
	json.Unmarshal([]byte(t.Calls[i].Args), &args)
	call := obj{"name": t.Calls[i].Name, "args": args}
	if id := t.Calls[i].ID; id != "" {
		call["id"] = id
	}
	part := obj{"functionCall": call}
	if t.Signature != "" && i == 0 { // of all calls of a step, the first has it
		part["thoughtSignature"] = t.Signature
	}
	return part
}

// geminiParts are the parts of a whole answer. Of a call that is cut off, the server sends nothing.
func geminiParts(t *Turn) []any {
	var parts []any
	if t.Thought != "" {
		parts = append(parts, obj{"text": t.Thought, "thought": true})
	}
	if t.text() != "" {
		parts = append(parts, obj{"text": t.text()})
	}
	for i := range t.Calls {
		if t.Fault != BrokenArgs || i < len(t.Calls)-1 {
			parts = append(parts, geminiCall(t, i))
		}
	}
	return parts
}

// geminiChunk is a response, or a chunk of it; the last has the reason for the end.
func geminiChunk(model string, t *Turn, last bool, parts ...any) any {
	candidate := obj{"index": 0}
	if parts != nil {
		candidate["content"] = obj{"role": "model", "parts": parts}
	}
	chunk := obj{"candidates": list{candidate}, "modelVersion": model, "responseId": "r1"}
	if !last {
		return chunk
	}
	u := t.Usage
	chunk["usageMetadata"] = obj{"promptTokenCount": u.Prompt, "candidatesTokenCount": u.Output - u.Thoughts,
		"thoughtsTokenCount": u.Thoughts, "cachedContentTokenCount": u.Read, "totalTokenCount": u.Prompt + u.Output}
	switch {
	case t.Fault == Unended:
		chunk["candidates"] = list{}
	case t.Fault == BrokenArgs && t.Stop == Done:
		candidate["finishReason"], candidate["finishMessage"] = "MALFORMED_FUNCTION_CALL", "Malformed function call"
	case t.Stop == MaxTokens:
		candidate["finishReason"] = "MAX_TOKENS"
	case t.Stop == Filtered:
		candidate["finishReason"] = "SAFETY"
	default:
		candidate["finishReason"] = "STOP"
	}
	if t.Fault == Unknown {
		candidate["futureField"] = "x"
	}
	return chunk
}

func geminiFrames(model string, t *Turn) []any {
	var frames []any
	for _, w := range words(t.Thought) {
		frames = append(frames, geminiChunk(model, t, false, obj{"text": w, "thought": true}))
	}
	for _, w := range words(t.text()) {
		frames = append(frames, geminiChunk(model, t, false, obj{"text": w}))
	}
	for i := range t.Calls {
		if t.Fault != BrokenArgs || i < len(t.Calls)-1 {
			frames = append(frames, geminiChunk(model, t, false, geminiCall(t, i)))
		}
	}
	return append(frames, geminiChunk(model, t, true))
}
