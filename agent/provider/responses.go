package provider

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"

	"google.golang.org/genai"
)

// responsesWire is OpenAI's Responses API, https://platform.openai.com/docs/api-reference/responses.
func responsesWire() wire {
	return wire{traits: traits{ids: true, options: map[string]string{"Temperature": "temperature", "TopP": "top_p",
		"MaxOutputTokens": "max_output_tokens"}}, path: "/responses", header: bearer,
		encode: encodeResponses, whole: wholeResponses, events: responsesEvents, split: readEvents}
}

// reasoning are the models whose thoughts come back encrypted.
var reasoning = regexp.MustCompile(`^(o[0-9]|gpt-[5-9])`)

func encodeResponses(p *prompt, o object) error {
	o["store"] = false // the session keeps the history
	if p.system != "" {
		o["instructions"] = p.system
	}
	effort, err := p.effort(false)
	if err != nil {
		return err
	}
	think := object{}
	if effort != "" {
		think["effort"] = effort
	}
	if c := p.config.ThinkingConfig; c != nil && c.IncludeThoughts {
		think["summary"] = "auto"
	}
	if len(think) > 0 {
		o["reasoning"] = think
	}
	if len(think) > 0 || reasoning.MatchString(p.model) {
		o["include"] = []string{"reasoning.encrypted_content"}
	}
	var tools []object
	for _, t := range p.tools {
		tools = append(tools, object{"type": "function", "name": t.Name, "description": t.Description,
			"strict": strict(t.Schema), "parameters": t.Schema})
	}
	if len(tools) > 0 {
		o["tools"], o["tool_choice"] = tools, openAIChoice(p.mode)
	}
	if p.schema != nil {
		o["text"] = object{"format": object{"type": "json_schema", "name": "response", "strict": strict(p.schema),
			"schema": p.schema}}
	} else if p.json {
		o["text"] = object{"format": object{"type": "json_object"}}
	}
	var input []object
	for _, c := range p.contents {
		if input, err = responsesInput(input, c); err != nil {
			return err
		}
	}
	o["input"] = input
	return nil
}

// openAIChoice says which tools the model must call.
func openAIChoice(mode genai.FunctionCallingConfigMode) string {
	switch mode {
	case genai.FunctionCallingConfigModeAny:
		return "required"
	case genai.FunctionCallingConfigModeNone:
		return "none"
	}
	return "auto"
}

// sealed is the signature of a thought of this API.
type sealed struct {
	ID   string `json:"id"`
	Data string `json:"encrypted_content"`
}

// responsesInput adds the items of a content. Words beside each other are one message.
func responsesInput(input []object, c *genai.Content) ([]object, error) {
	role, kind := "user", "input_text"
	if c.Role == genai.RoleModel {
		role, kind = "assistant", "output_text"
	}
	var words []object
	flush := func() {
		if len(words) > 0 {
			input = append(input, object{"type": "message", "role": role, "content": words})
			words = nil
		}
	}
	for _, p := range c.Parts {
		switch {
		case p.Thought:
			var s sealed
			if text, ok := signature(p, OpenAI); ok && json.Unmarshal([]byte(text), &s) == nil {
				flush()
				summary := []object{}
				if p.Text != "" {
					summary = append(summary, object{"type": "summary_text", "text": p.Text})
				}
				input = append(input, object{"type": "reasoning", "id": s.ID, "encrypted_content": s.Data, "summary": summary})
			}
		case p.FunctionCall != nil:
			args, err := argsText(p.FunctionCall)
			if err != nil {
				return nil, err
			}
			flush()
			input = append(input, object{"type": "function_call", "call_id": p.FunctionCall.ID, "name": p.FunctionCall.Name,
				"arguments": args})
		case p.FunctionResponse != nil:
			text, err := resultText(p.FunctionResponse)
			if err != nil {
				return nil, err
			}
			flush()
			input = append(input, object{"type": "function_call_output", "call_id": p.FunctionResponse.ID, "output": text})
		case p.Text != "":
			words = append(words, object{"type": kind, "text": p.Text})
		default:
			url, err := image(p)
			if err != nil {
				return nil, err
			}
			if url != "" {
				words = append(words, object{"type": "input_image", "image_url": url})
			}
		}
	}
	flush()
	return input, nil
}

// responsesItem is an item of the output.
type responsesItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Encrypted string          `json:"encrypted_content"`
	Content   []responsesText `json:"content"`
	Summary   []responsesText `json:"summary"`
}

// UnmarshalJSON decodes an item of a type that is mapped. Others have fields of the same names with other
// values.
func (i *responsesItem) UnmarshalJSON(b []byte) error {
	type plain responsesItem
	_, err := eventType(b, (*plain)(i), "message", "function_call", "reasoning")
	return err
}

type responsesText struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// responsesBody is a response, whole or at the end of a stream.
type responsesBody struct {
	Model      string          `json:"model"`
	Status     string          `json:"status"`
	Error      json.RawMessage `json:"error"`
	Output     []responsesItem `json:"output"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage *struct {
		Input   int64 `json:"input_tokens"`
		Output  int64 `json:"output_tokens"`
		Total   int64 `json:"total_tokens"`
		Details struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		Thoughts struct {
			Reasoning int64 `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

func wholeResponses(body []byte, a *answer) error {
	var r responsesBody
	if err := decode(body, &r); err != nil {
		return err
	}
	for i, item := range r.Output {
		for _, c := range append(item.Summary, item.Content...) {
			switch {
			case item.Type == "reasoning":
				a.thought(c.Text)
			case c.Type == "output_text":
				a.text(c.Text)
			case c.Type == "refusal":
				a.refuse(c.Refusal)
			}
		}
		finishItem(a, strconv.Itoa(i), item)
	}
	return finishResponses(a, &r)
}

// finishItem takes what is known of an item once it is whole. Items of other types, such as those of
// tools that the provider runs, have nothing to map.
func finishItem(a *answer, key string, item responsesItem) {
	switch item.Type {
	case "function_call":
		a.call(key).named(item.CallID, item.Name).whole(item.Arguments)
	case "reasoning":
		if item.Encrypted != "" {
			b, _ := json.Marshal(sealed{item.ID, item.Encrypted}) // two texts always are JSON
			a.sign(OpenAI, string(b))
		}
	}
}

// finishResponses reads why a response ended and what it cost.
func finishResponses(a *answer, r *responsesBody) error {
	a.model = firstOf(r.Model, a.model)
	if u := r.Usage; u != nil {
		a.count(u.Input, u.Output, u.Thoughts.Reasoning, u.Details.Cached, u.Total)
	}
	switch r.Status {
	case "completed":
		a.end(genai.FinishReasonStop, "")
	case "failed":
		return parseFault(0, r.Error)
	case "incomplete":
		switch r.Incomplete.Reason {
		case "max_output_tokens":
			a.end(genai.FinishReasonMaxTokens, r.Incomplete.Reason)
		case "content_filter":
			a.end(genai.FinishReasonSafety, r.Incomplete.Reason)
		default:
			a.end(genai.FinishReasonOther, r.Incomplete.Reason)
		}
	case "cancelled":
		a.end(genai.FinishReasonOther, r.Status)
	}
	return nil
}

// responsesEvents reads the events of a stream. Their order is that of the output.
func responsesEvents(a *answer) frameFunc {
	return func(_ string, data []byte) (bool, error) {
		if string(data) == "[DONE]" {
			return true, nil
		}
		var e struct {
			Index    int             `json:"output_index"`
			Delta    string          `json:"delta"`
			Item     responsesItem   `json:"item"`
			Response json.RawMessage `json:"response"`
		}
		kind, err := eventType(data, &e, "response.output_item.added", "response.output_text.delta", "response.refusal.delta",
			"response.reasoning_text.delta", "response.reasoning_summary_text.delta", "response.output_item.done",
			"response.function_call_arguments.delta", "response.completed", "response.incomplete", "response.failed", "error")
		if err != nil {
			return false, err
		}
		key := strconv.Itoa(e.Index)
		switch kind {
		case "response.output_item.added":
			if e.Item.Type == "function_call" {
				a.call(key).named(e.Item.CallID, e.Item.Name)
			}
		case "response.output_text.delta":
			a.text(e.Delta)
		case "response.refusal.delta":
			a.refuse(e.Delta)
		case "response.reasoning_text.delta", "response.reasoning_summary_text.delta":
			a.thought(e.Delta)
		case "response.function_call_arguments.delta":
			a.appendArgs(key, e.Delta)
		case "response.output_item.done":
			finishItem(a, key, e.Item)
		case "response.completed", "response.incomplete", "response.failed":
			var r responsesBody
			if err := decode(e.Response, &r); err != nil {
				return false, err
			}
			return true, finishResponses(a, &r)
		case "error":
			return false, parseFault(0, data)
		}
		return false, nil
	}
}

// eventType returns the type of an event. It decodes the event if the type is one of known: others may
// have fields of the same names with other values.
func eventType(data []byte, into any, known ...string) (string, error) {
	var e struct {
		Type string `json:"type"`
	}
	if err := decode(data, &e); err != nil || !slices.Contains(known, e.Type) {
		return "", err
	}
	return e.Type, decode(data, into)
}
