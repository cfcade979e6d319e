package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"
)

// Limits of a script.
const (
	scriptMax = 4 << 20 // bytes
	turnsMax  = 10_000
)

// Script is a model that answers from a list of turns. The contents of a request tell how often models
// have answered or failed before it, and so which turn is next. The same session gets the same answers,
// however many sessions use the Script.
type Script struct {
	Model string       `json:"name,omitempty"` // its name; "script" if there is none
	Turns []ScriptTurn `json:"turns"`
	// Repeat makes the script begin again after its last turn. Otherwise a request after the last turn
	// fails with ErrScriptOver.
	Repeat bool `json:"repeat,omitempty"`
}

// ScriptTurn is one response: words, then calls. With Error the model fails. A turn without anything is
// an empty response.
type ScriptTurn struct {
	Text  string       `json:"text,omitempty"`
	Calls []ScriptCall `json:"calls,omitempty"`
	Error string       `json:"error,omitempty"`
	// Finish is the finish reason, "STOP" if there is none.
	Finish genai.FinishReason `json:"finish,omitempty"`
}

// ScriptCall is one call of a tool.
type ScriptCall struct {
	ID   string         `json:"id,omitempty"`
	Name string         `json:"name"`
	Args map[string]any `json:"args,omitempty"`
}

// ErrScriptOver means that a script has no turn for a request.
var ErrScriptOver = errors.New("provider: the script has no turn for this request")

// OpenScript reads a script from a JSON file of at most 4 MiB.
func OpenScript(file string) (*Script, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("provider: script: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, scriptMax+1))
	if err != nil {
		return nil, fmt.Errorf("provider: script %s: %w", file, err)
	}
	s, err := ParseScript(b)
	if err != nil {
		return nil, fmt.Errorf("provider: script %s: %w", file, err)
	}
	return s, nil
}

// ParseScript reads a script of at most 4 MiB and 10,000 turns from JSON. It refuses unknown fields.
func ParseScript(b []byte) (*Script, error) {
	if len(b) > scriptMax {
		return nil, fmt.Errorf("it has more than %d bytes", scriptMax)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	s := &Script{}
	if err := d.Decode(s); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, fmt.Errorf("something follows the script at byte %d", d.InputOffset())
	}
	if len(s.Turns) == 0 || len(s.Turns) > turnsMax {
		return nil, fmt.Errorf("it has %d turns; it must have 1 to %d", len(s.Turns), turnsMax)
	}
	for i, t := range s.Turns {
		for k, c := range t.Calls {
			if c.Name == "" {
				return nil, fmt.Errorf("call %d of turn %d has no name", k, i)
			}
		}
	}
	return s, nil
}

// Name returns the name of the script.
func (s *Script) Name() string {
	if s.Model == "" {
		return "script"
	}
	return s.Model
}

// GenerateContent answers with the turn that belongs to the request. With stream it first yields the
// words of a text one by one.
func (s *Script) GenerateContent(ctx context.Context, r *model.LLMRequest, stream bool,
) iter.Seq2[*model.LLMResponse, error] {
	n := answersBefore(r.Contents)
	fail := func(err error) iter.Seq2[*model.LLMResponse, error] {
		return func(yield func(*model.LLMResponse, error) bool) { yield(nil, err) }
	}
	if len(s.Turns) == 0 || n >= len(s.Turns) && !s.Repeat {
		return fail(fmt.Errorf("%w: it has %d turns, and models have answered or failed %d times", ErrScriptOver,
			len(s.Turns), n))
	}
	t := s.Turns[n%len(s.Turns)]
	if t.Error != "" {
		return fail(errors.New(t.Error))
	}
	var parts []*genai.Part
	if t.Text != "" {
		parts = append(parts, &genai.Part{Text: t.Text})
	}
	for _, c := range t.Calls {
		parts = append(parts, &genai.Part{FunctionCall: &genai.FunctionCall{
			ID: c.ID, Name: c.Name, Args: maps.Clone(c.Args)}})
	}
	return yieldParts(ctx, parts, t.Finish, stream)
}

// answersBefore counts the answers of models in a session, and the contents of users that got none.
func answersBefore(list []*genai.Content) int {
	n, waiting := 0, false
	for _, c := range list {
		switch {
		case c == nil:
		case c.Role == genai.RoleModel:
			n++
			waiting = false
		default:
			if waiting {
				n++
			}
			waiting = true
		}
	}
	return n
}
