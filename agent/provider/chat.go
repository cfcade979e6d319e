package provider

import (
	"encoding/json"
	"fmt"
	"strconv"

	"google.golang.org/genai"
)

// chatWire is Chat Completions as many servers speak it,
// https://platform.openai.com/docs/api-reference/chat.
func chatWire() wire {
	return wire{traits: traits{ids: true, options: map[string]string{"Temperature": "temperature", "TopP": "top_p",
		"MaxOutputTokens": "max_tokens", "StopSequences": "stop", "Seed": "seed", "PresencePenalty": "presence_penalty",
		"FrequencyPenalty": "frequency_penalty"}}, path: "/chat/completions", header: bearer, encode: encodeChat,
		whole:  wholeChat,
		events: chatEvents, split: readEvents}
}

func encodeChat(p *prompt, o object) error {
	if o["stream"] == true {
		o["stream_options"] = object{"include_usage": true}
	}
	effort, err := p.effort(false)
	if err != nil {
		return err
	}
	if effort != "" {
		o["reasoning_effort"] = effort
	}
	if tools := functionTools(p.tools); len(tools) > 0 {
		o["tools"], o["tool_choice"] = tools, openAIChoice(p.mode)
	}
	if p.schema != nil {
		o["response_format"] = object{"type": "json_schema", "json_schema": object{"name": "response",
			"strict": strict(p.schema), "schema": p.schema}}
	} else if p.json {
		o["response_format"] = object{"type": "json_object"}
	}
	var list []object
	if p.system != "" {
		list = append(list, object{"role": "system", "content": p.system})
	}
	for _, c := range p.contents {
		if list, err = chatMessages(list, c); err != nil {
			return err
		}
	}
	o["messages"] = list
	return nil
}

// functionTools writes tools as Chat Completions and Ollama take them.
func functionTools(tools []tool) []object {
	var list []object
	for _, t := range tools {
		list = append(list, object{"type": "function", "function": object{"name": t.Name, "description": t.Description,
			"parameters": t.Schema}})
	}
	return list
}

// chatMessages adds the messages of a content: one for each result, and one for the rest.
func chatMessages(list []object, c *genai.Content) ([]object, error) {
	var (
		text    string
		media   []object
		calls   []object
		thought string
	)
	for _, p := range c.Parts {
		switch {
		case p.Thought:
			if _, ok := signature(p, Compatible); ok {
				thought += p.Text
			}
		case p.FunctionCall != nil:
			args, err := argsText(p.FunctionCall)
			if err != nil {
				return nil, err
			}
			calls = append(calls, object{"id": p.FunctionCall.ID, "type": "function",
				"function": object{"name": p.FunctionCall.Name, "arguments": args}})
		case p.FunctionResponse != nil:
			result, err := resultText(p.FunctionResponse)
			if err != nil {
				return nil, err
			}
			list = append(list, object{"role": "tool", "tool_call_id": p.FunctionResponse.ID, "content": result})
		case p.Text != "":
			text += p.Text
		default:
			url, err := image(p)
			if err != nil {
				return nil, err
			}
			if url != "" {
				media = append(media, object{"type": "image_url", "image_url": object{"url": url}})
			}
		}
	}
	if text == "" && len(media) == 0 && len(calls) == 0 {
		return list, nil
	}
	m := object{"role": "user", "content": text}
	if c.Role == genai.RoleModel {
		m["role"] = "assistant"
	}
	if len(media) > 0 {
		if text != "" {
			media = append([]object{{"type": "text", "text": text}}, media...)
		}
		m["content"] = media
	}
	if len(calls) > 0 {
		m["tool_calls"] = calls
		if thought != "" { // a model that thinks between calls must see what it thought
			m["reasoning_content"] = thought
		}
	}
	return append(list, m), nil
}

// chatMessage is a message, or a piece of it.
type chatMessage struct {
	Content   string `json:"content"`
	Refusal   string `json:"refusal"`
	Thought   string `json:"reasoning_content"`
	Reasoning string `json:"reasoning"` // the same, of other servers
	Calls     []struct {
		Index    *int   `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// chatBody is a response, or a chunk of it.
type chatBody struct {
	Model   string `json:"model"`
	Choices []struct {
		Message chatMessage `json:"message"`
		Delta   chatMessage `json:"delta"`
		Finish  string      `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt  int64 `json:"prompt_tokens"`
		Output  int64 `json:"completion_tokens"`
		Total   int64 `json:"total_tokens"`
		Details struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		Thoughts struct {
			Reasoning int64 `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

func wholeChat(body []byte, a *answer) error {
	var b chatBody
	if err := decode(body, &b); err != nil {
		return err
	}
	return chatPiece(a, &b, &chatCalls{})
}

// chatEvents reads the chunks of a stream.
func chatEvents(a *answer) frameFunc {
	calls := &chatCalls{}
	return func(_ string, data []byte) (bool, error) {
		if string(data) == "[DONE]" {
			return true, nil
		}
		var b chatBody
		if err := decode(data, &b); err != nil {
			return false, err
		}
		return false, chatPiece(a, &b, calls)
	}
}

// chatCalls tells the calls of a stream apart.
type chatCalls struct {
	n    int               // calls so far
	open map[string]string // the key of the open call by its index
}

// key returns the key of the call that a piece belongs to. A new id with a name begins a call, also at an
// index that is in use, because some servers give each call the index 0.
func (c *chatCalls) key(a *answer, index *int, id, name string) string {
	at := strconv.Itoa(c.n)
	switch {
	case index != nil:
		at = strconv.Itoa(*index)
	case name == "" && c.n > 0: // a piece of the last call
		at = strconv.Itoa(c.n - 1)
	}
	key, ok := c.open[at]
	if ok && (id == "" || name == "" || a.call(key).call.ID == id) {
		return key
	}
	if c.open == nil {
		c.open = map[string]string{}
	}
	c.n++
	key = fmt.Sprint("call", c.n)
	c.open[at] = key
	return key
}

// chatPiece adds a response, or a chunk of it.
func chatPiece(a *answer, b *chatBody, calls *chatCalls) error {
	if len(b.Error) > 0 && string(b.Error) != "null" {
		return parseFault(0, b.Error)
	}
	a.model = firstOf(b.Model, a.model)
	if u := b.Usage; u != nil {
		a.count(u.Prompt, u.Output, u.Thoughts.Reasoning, u.Details.Cached, u.Total)
	}
	if len(b.Choices) == 0 {
		return nil
	}
	c := b.Choices[0]
	for _, m := range []chatMessage{c.Message, c.Delta} {
		a.thought(firstOf(m.Thought, m.Reasoning))
		if p := a.last(); p != nil && p.Thought && len(p.ThoughtSignature) == 0 && (m.Content != "" || len(m.Calls) > 0) {
			a.sign(Compatible, "")
		}
		a.text(m.Content)
		if m.Refusal != "" {
			a.refuse(m.Refusal)
		}
		for _, call := range m.Calls {
			f := call.Function
			a.call(calls.key(a, call.Index, call.ID, f.Name)).named(call.ID, f.Name).args.WriteString(f.Arguments)
		}
	}
	switch c.Finish {
	case "":
	case "stop", "tool_calls", "function_call":
		a.end(genai.FinishReasonStop, "")
	case "length":
		a.end(genai.FinishReasonMaxTokens, c.Finish)
	case "content_filter":
		a.end(genai.FinishReasonSafety, c.Finish)
	default:
		a.end(genai.FinishReasonOther, c.Finish)
	}
	return nil
}
