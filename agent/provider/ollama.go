package provider

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"google.golang.org/genai"
)

// ollamaWire is Ollama's own API, https://docs.ollama.com/api.
func ollamaWire() wire {
	return wire{traits: traits{options: map[string]string{"Temperature": "temperature", "TopP": "top_p", "TopK": "top_k",
		"MaxOutputTokens": "num_predict", "StopSequences": "stop", "Seed": "seed", "PresencePenalty": "presence_penalty",
		"FrequencyPenalty": "frequency_penalty"}},
		path: "/api/chat", header: bearer, encode: encodeOllama, whole: wholeOllama, events: ollamaEvents, split: readLines}
}

func encodeOllama(p *prompt, o object) error {
	options := object{}
	for name, v := range o {
		if name != "model" && name != "stream" {
			options[name] = v
			delete(o, name)
		}
	}
	if len(options) > 0 {
		o["options"] = options
	}
	effort, err := p.effort(true)
	if err != nil {
		return err
	}
	if c := p.config.ThinkingConfig; c != nil {
		o["think"] = true
		if effort != "" {
			o["think"] = effort
		}
		if c.ThinkingBudget != nil && *c.ThinkingBudget == 0 {
			o["think"] = false
		} else if c.ThinkingBudget != nil && *c.ThinkingBudget > 0 {
			return unsupported("it takes no ThinkingBudget; use ThinkingLevel")
		}
	}
	switch p.mode {
	case genai.FunctionCallingConfigModeAny:
		return unsupported("it takes no tool mode %q", p.mode)
	case genai.FunctionCallingConfigModeNone: // without tools, the model calls none
	default:
		if tools := functionTools(p.tools); len(tools) > 0 {
			o["tools"] = tools
		}
	}
	if p.schema != nil {
		o["format"] = p.schema
	} else if p.json {
		o["format"] = "json"
	}
	var list []object
	if p.system != "" {
		list = append(list, object{"role": "system", "content": p.system})
	}
	for _, c := range p.contents {
		if list, err = ollamaMessages(list, c); err != nil {
			return err
		}
	}
	o["messages"] = list
	return nil
}

// ollamaMessages adds the messages of a content: one for each result, and one for the rest.
func ollamaMessages(list []object, c *genai.Content) ([]object, error) {
	var text, thought strings.Builder
	var images []string
	var calls []object
	for _, p := range c.Parts {
		switch {
		case p.Thought:
			if _, ok := signature(p, Ollama); ok {
				thought.WriteString(p.Text)
			}
		case p.FunctionCall != nil:
			args := p.FunctionCall.Args
			if args == nil {
				args = map[string]any{}
			}
			call := object{"function": object{"name": p.FunctionCall.Name, "arguments": args}}
			if p.FunctionCall.ID != "" {
				call["id"] = p.FunctionCall.ID
			}
			calls = append(calls, call)
		case p.FunctionResponse != nil:
			result, err := resultText(p.FunctionResponse)
			if err != nil {
				return nil, err
			}
			m := object{"role": "tool", "tool_name": p.FunctionResponse.Name, "content": result}
			if p.FunctionResponse.ID != "" {
				m["tool_call_id"] = p.FunctionResponse.ID
			}
			list = append(list, m)
		case p.InlineData != nil && strings.HasPrefix(p.InlineData.MIMEType, "image/"):
			images = append(images, base64.StdEncoding.EncodeToString(p.InlineData.Data))
		case p.InlineData != nil:
			return nil, unsupported("it takes images as inline data, not %q", p.InlineData.MIMEType)
		case p.FileData != nil:
			return nil, unsupported("it takes no FileData; send an image as inline data")
		default:
			text.WriteString(p.Text)
		}
	}
	if text.Len() == 0 && len(images) == 0 && len(calls) == 0 {
		return list, nil
	}
	m := object{"role": "user", "content": text.String()}
	if c.Role == genai.RoleModel {
		m["role"] = "assistant"
	}
	if len(images) > 0 {
		m["images"] = images
	}
	if len(calls) > 0 {
		m["tool_calls"] = calls
		if thought.Len() > 0 { // a model that thinks between calls must see what it thought
			m["thinking"] = thought.String()
		}
	}
	return append(list, m), nil
}

// ollamaBody is a response, or a line of one.
type ollamaBody struct {
	Model   string `json:"model"`
	Message struct {
		Content  string `json:"content"`
		Thinking string `json:"thinking"`
		Calls    []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
	Done   bool            `json:"done"`
	Reason string          `json:"done_reason"`
	Prompt int64           `json:"prompt_eval_count"`
	Output int64           `json:"eval_count"`
	Error  json.RawMessage `json:"error"`
}

func wholeOllama(body []byte, a *answer) error {
	_, err := ollamaEvents(a)("", body)
	return err
}

// ollamaEvents reads the lines of a stream.
func ollamaEvents(a *answer) frameFunc {
	return func(_ string, data []byte) (bool, error) {
		var b ollamaBody
		if err := decode(data, &b); err != nil {
			return false, err
		}
		if len(b.Error) > 0 && string(b.Error) != "null" {
			return false, parseFault(0, data)
		}
		a.model = firstOf(b.Model, a.model)
		m := b.Message
		a.thought(m.Thinking)
		if p := a.last(); p != nil && p.Thought && len(p.ThoughtSignature) == 0 && (m.Content != "" || len(m.Calls) > 0) {
			a.sign(Ollama, "")
		}
		a.text(m.Content)
		for _, c := range m.Calls {
			a.call(strconv.Itoa(len(a.calls))).named(c.ID, c.Function.Name).whole(string(c.Function.Arguments))
		}
		if !b.Done {
			return false, nil
		}
		a.count(b.Prompt, b.Output, 0, 0, 0)
		switch b.Reason {
		case "stop", "": // servers of 2024 give no reason
			a.end(genai.FinishReasonStop, "")
		case "length":
			a.end(genai.FinishReasonMaxTokens, b.Reason)
		default:
			a.end(genai.FinishReasonOther, b.Reason)
		}
		return true, nil
	}
}
