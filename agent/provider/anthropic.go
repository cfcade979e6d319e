package provider

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/genai"
)

const (
	anthropicVersion = "2023-06-01"
	// anthropicTokens is max_tokens of a request that has none, because the API requires it.
	anthropicTokens = 8192
	// hidden begins the signature of a thought that the provider does not show.
	hidden = "redacted:"
)

// anthropicWire is Anthropic's Messages API, https://docs.anthropic.com/en/api/messages.
func anthropicWire() wire {
	return wire{traits: traits{schemas: dialect{keeps: true}, ids: true,
		options: map[string]string{"Temperature": "temperature", "TopP": "top_p", "TopK": "top_k",
			"MaxOutputTokens": "max_tokens", "StopSequences": "stop_sequences"}}, path: "/v1/messages", header: anthropicKey,
		encode: encodeAnthropic, whole: wholeAnthropic, events: anthropicEvents, split: readEvents}
}

func anthropicKey(h http.Header, key string) {
	h.Set("X-Api-Key", key)
	h.Set("Anthropic-Version", anthropicVersion)
}

func encodeAnthropic(p *prompt, o object) error {
	if p.system != "" {
		o["system"] = p.system
	}
	if err := anthropicThinking(p, o); err != nil {
		return err
	}
	if p.json && p.schema == nil {
		return unsupported("it takes no JSON without a schema; set ResponseJsonSchema")
	}
	var tools []object
	for _, t := range p.tools {
		tools = append(tools, object{"name": t.Name, "description": t.Description, "input_schema": t.Schema})
	}
	if len(tools) > 0 {
		choice := "auto"
		switch p.mode {
		case genai.FunctionCallingConfigModeAny:
			choice = "any"
		case genai.FunctionCallingConfigModeNone:
			choice = "none"
		}
		o["tools"], o["tool_choice"] = tools, object{"type": choice}
	}
	var list []object
	for _, c := range p.contents {
		blocks, err := anthropicBlocks(c)
		if err != nil {
			return err
		}
		role := "user"
		if c.Role == genai.RoleModel {
			role = "assistant"
		}
		// The results of calls must be in one message, before anything else.
		if n := len(list); n > 0 && list[n-1]["role"] == role {
			list[n-1]["content"] = append(list[n-1]["content"].([]object), blocks...)
		} else if len(blocks) > 0 {
			list = append(list, object{"role": role, "content": blocks})
		}
	}
	o["messages"] = list
	return nil
}

// anthropicThinking sets thinking, its room, and the output's format.
func anthropicThinking(p *prompt, o object) error {
	effort, err := p.effort(true)
	if err != nil {
		return err
	}
	limit, output := int32(anthropicTokens), object{}
	if effort == "minimal" {
		return unsupported("it takes no ThinkingLevel MINIMAL; use LOW, MEDIUM or HIGH")
	}
	if c := p.config.ThinkingConfig; c != nil {
		think := object{"type": "adaptive"}
		if c.ThinkingBudget != nil {
			switch budget := *c.ThinkingBudget; {
			case budget == 0:
				think["type"] = "disabled"
			case budget > 0:
				think["type"], think["budget_tokens"] = "enabled", budget
				limit += budget
			}
		}
		if c.IncludeThoughts && think["type"] != "disabled" {
			think["display"] = "summarized"
		}
		if effort != "" {
			output["effort"] = effort
		}
		o["thinking"] = think
	}
	if o["max_tokens"] == nil {
		o["max_tokens"] = limit
	}
	if p.schema != nil {
		closeObjects(p.schema)
		output["format"] = object{"type": "json_schema", "schema": p.schema}
	}
	if len(output) > 0 {
		o["output_config"] = output
	}
	return nil
}

// anthropicBlocks writes a content: results first.
func anthropicBlocks(c *genai.Content) ([]object, error) {
	var results, blocks []object
	for _, p := range c.Parts {
		switch {
		case p.Thought:
			s, ok := signature(p, Anthropic)
			if data, dark := strings.CutPrefix(s, hidden); ok && dark {
				blocks = append(blocks, object{"type": "redacted_thinking", "data": data})
			} else if ok {
				blocks = append(blocks, object{"type": "thinking", "thinking": p.Text, "signature": s})
			}
		case p.FunctionCall != nil:
			args := p.FunctionCall.Args
			if args == nil {
				args = map[string]any{}
			}
			blocks = append(blocks, object{"type": "tool_use", "id": p.FunctionCall.ID, "name": p.FunctionCall.Name,
				"input": args})
		case p.FunctionResponse != nil:
			text, err := resultText(p.FunctionResponse)
			if err != nil {
				return nil, err
			}
			_, failed := p.FunctionResponse.Response["error"]
			results = append(results, object{"type": "tool_result", "tool_use_id": p.FunctionResponse.ID, "content": text,
				"is_error": failed})
		case p.Text != "":
			blocks = append(blocks, object{"type": "text", "text": p.Text})
		default:
			block, err := anthropicImage(p)
			if err != nil {
				return nil, err
			}
			if block != nil {
				blocks = append(blocks, block)
			}
		}
	}
	return append(results, blocks...), nil
}

func anthropicImage(p *genai.Part) (object, error) {
	url, err := image(p)
	if err != nil || url == "" {
		return nil, err
	}
	source := object{"type": "url", "url": url}
	if p.InlineData != nil {
		_, data, _ := strings.Cut(url, ",")
		source = object{"type": "base64", "media_type": p.InlineData.MIMEType, "data": data}
	}
	return object{"type": "image", "source": source}, nil
}

// anthropicBlock is a block of content.
type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

// UnmarshalJSON decodes a block of a type that is mapped, as that of responsesItem does.
func (i *anthropicBlock) UnmarshalJSON(b []byte) error {
	type plain anthropicBlock
	_, err := eventType(b, (*plain)(i), "text", "thinking", "redacted_thinking", "tool_use")
	return err
}

// anthropicUsage counts tokens; in a stream, later counts replace earlier ones.
type anthropicUsage struct {
	Input   int64 `json:"input_tokens"`
	Written int64 `json:"cache_creation_input_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
	Output  int64 `json:"output_tokens"`
}

// anthropicBody is a message.
type anthropicBody struct {
	Model string           `json:"model"`
	Stop  string           `json:"stop_reason"`
	Block []anthropicBlock `json:"content"`
	Usage anthropicUsage   `json:"usage"`
}

func (u anthropicUsage) count(a *answer) {
	a.count(u.Input+u.Written+u.Read, u.Output, 0, u.Read, 0)
	a.cacheWrite = tokens(u.Written)
}

func wholeAnthropic(body []byte, a *answer) error {
	var m anthropicBody
	if err := decode(body, &m); err != nil {
		return err
	}
	a.model = firstOf(m.Model, a.model)
	for i, b := range m.Block {
		key := strconv.Itoa(i)
		startBlock(a, key, b)
		if b.Type == "tool_use" {
			a.call(key).whole(string(b.Input))
		}
		if b.Signature != "" {
			a.sign(Anthropic, b.Signature)
		}
	}
	m.Usage.count(a)
	anthropicEnd(a, m.Stop)
	return nil
}

// startBlock takes what is known of a block when it begins. Blocks of other types, such as those of tools
// that the provider runs, have nothing to map.
func startBlock(a *answer, key string, b anthropicBlock) {
	switch b.Type {
	case "text":
		a.text(b.Text)
	case "thinking":
		a.thought(b.Thinking)
	case "redacted_thinking":
		a.sign(Anthropic, hidden+b.Data)
	case "tool_use":
		a.call(key).named(b.ID, b.Name)
	}
}

func anthropicEnd(a *answer, stop string) {
	switch stop {
	case "":
	case "end_turn", "tool_use", "stop_sequence":
		a.end(genai.FinishReasonStop, "")
	case "max_tokens", "model_context_window_exceeded":
		a.end(genai.FinishReasonMaxTokens, stop)
	case "refusal":
		a.end(genai.FinishReasonSafety, stop)
	default:
		a.end(genai.FinishReasonOther, stop)
	}
}

// anthropicEvents reads the events of a stream.
func anthropicEvents(a *answer) frameFunc {
	var usage anthropicUsage
	return func(_ string, data []byte) (bool, error) {
		var e struct {
			Index   int             `json:"index"`
			Message anthropicBody   `json:"message"`
			Block   anthropicBlock  `json:"content_block"`
			Usage   json.RawMessage `json:"usage"`
			Delta   struct {
				Type      string `json:"type"`
				Text      string `json:"text"`
				Thinking  string `json:"thinking"`
				Signature string `json:"signature"`
				JSON      string `json:"partial_json"`
				Stop      string `json:"stop_reason"`
			} `json:"delta"`
		}
		kind, err := eventType(data, &e, "message_start", "content_block_start", "content_block_delta", "message_delta",
			"message_stop", "error")
		if err != nil {
			return false, err
		}
		key := strconv.Itoa(e.Index)
		switch kind {
		case "message_start":
			a.model = firstOf(e.Message.Model, a.model)
			usage = e.Message.Usage
		case "content_block_start":
			startBlock(a, key, e.Block)
		case "content_block_delta":
			switch e.Delta.Type {
			case "text_delta":
				a.text(e.Delta.Text)
			case "thinking_delta":
				a.thought(e.Delta.Thinking)
			case "signature_delta":
				a.sign(Anthropic, e.Delta.Signature)
			case "input_json_delta":
				if e.Delta.JSON != "" {
					a.appendArgs(key, e.Delta.JSON)
				}
			}
		case "message_delta":
			if len(e.Usage) > 0 {
				if err := decode(e.Usage, &usage); err != nil {
					return false, err
				}
			}
			usage.count(a)
			anthropicEnd(a, e.Delta.Stop)
		case "message_stop":
			return true, nil
		case "error":
			return false, parseFault(0, data)
		}
		return false, nil
	}
}
