package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/internal/spelling"
)

// Ref names a model of a provider. As text it is "PROVIDER/MODEL", or PROVIDER alone, or MODEL alone if
// its beginning tells the provider: "gpt-5-mini" is "openai/gpt-5-mini". In JSON it is this text, or an
// object with the same fields, where model may be an object, too. The empty Ref is the default model.
type Ref struct {
	Provider string `json:"provider"`
	Model    string `json:"model,omitempty"`
	BaseURL  string `json:"base_url,omitempty"`     // an address of its own; Config.Allow decides about it
	KeyName  string `json:"api_key_name,omitempty"` // the variable that holds a key of its own; likewise
}

// families are the beginnings of names of models, and who has these models.
func families() []struct{ prefix, provider string } {
	return []struct{ prefix, provider string }{
		{"gemini-", Gemini}, {"gpt", OpenAI}, {"o1", OpenAI}, {"o3", OpenAI}, {"o4", OpenAI}, {"claude", Anthropic},
		{"llama", Ollama}, {"mistral", Ollama}, {"deepseek", Ollama},
	}
}

// ParseRef reads a Ref from text.
func ParseRef(text string) (Ref, error) {
	p, m, ok := strings.Cut(text, "/")
	if p == "" && ok {
		return Ref{}, fmt.Errorf("provider: the name %q of a model has no provider; write PROVIDER/MODEL, such as %q",
			text, "script/desk.json")
	}
	for _, f := range families() {
		if !ok && strings.HasPrefix(strings.ToLower(p), f.prefix) {
			return Ref{Provider: f.provider, Model: p}, nil
		}
	}
	return Ref{Provider: p, Model: m}, nil
}

// String returns the name as text.
func (r Ref) String() string {
	if r.Model == "" {
		return r.Provider
	}
	return r.Provider + "/" + r.Model
}

// UnmarshalJSON reads a text or an object. It refuses unknown fields, and a key: a Ref holds no secret.
func (r *Ref) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		ref, err := ParseRef(text)
		*r = ref
		return err
	}
	type plain Ref
	var outer struct {
		plain
		Model json.RawMessage `json:"model"`
	}
	err := strictly(b, &outer)
	ref := Ref(outer.plain)
	if err == nil && len(outer.Model) > 0 && json.Unmarshal(outer.Model, &ref.Model) != nil {
		inner := plain(ref)
		err = strictly(outer.Model, &inner)
		ref = Ref(inner)
	}
	if err == nil && ref.Provider == "" {
		err = errors.New("the field provider is missing")
	}
	if err != nil {
		return fmt.Errorf("provider: a model is a text PROVIDER/MODEL, or an object with provider and model: %w", err)
	}
	*r = ref
	return nil
}

// strictly decodes an object of known fields.
func strictly(b []byte, into any) error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(b, &fields) == nil && fields["api_key"] != nil {
		return errors.New("api_key is a secret; name the variable that holds it in api_key_name")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// ErrUnknown means that there is no provider of that name.
var ErrUnknown = errors.New("no such provider")

// ErrNoKey means that a provider needs a key and has none: neither Config.Keys nor a variable holds it.
var ErrNoKey = errors.New("it has no key")

// Opener opens a model of one provider.
type Opener func(ref Ref) (model.LLM, error)

// Resolver opens models by name. It must not change once it is in use.
type Resolver struct {
	open     map[string]Opener
	fallback Ref
}

// NewResolver returns a Resolver of the models that need no network: "parrot", which is its default, and
// "script". Config.Resolver adds the others.
func NewResolver() *Resolver {
	return &Resolver{fallback: Ref{Provider: "parrot"}, open: map[string]Opener{
		"parrot": func(Ref) (model.LLM, error) { return Parrot{}, nil },
		"script": func(r Ref) (model.LLM, error) { return OpenScript(r.Model) },
	}}
}

// Add adds a provider, or replaces one.
func (r *Resolver) Add(name string, open Opener) { r.open[name] = open }

// Names returns the names of the providers, sorted.
func (r *Resolver) Names() []string { return slices.Sorted(maps.Keys(r.open)) }

// Default returns the model that an empty Ref stands for.
func (r *Resolver) Default() Ref { return r.fallback }

// Open opens a model. For a name that no provider has, the error wraps ErrUnknown and lists the names;
// for a provider of Config.Resolver that lacks its key, it wraps ErrNoKey.
func (r *Resolver) Open(ref Ref) (model.LLM, error) {
	if ref == (Ref{}) {
		ref = r.fallback
	}
	open := r.open[ref.Provider]
	if open == nil {
		hint := ""
		if near := spelling.Nearest(ref.Provider, r.Names()); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		return nil, fmt.Errorf("provider: open %s: %w: the providers are %s%s", ref, ErrUnknown,
			strings.Join(r.Names(), ", "), hint)
	}
	llm, err := open(ref)
	if err != nil {
		return nil, fmt.Errorf("provider: open %s: %w", ref, err)
	}
	return llm, nil
}
