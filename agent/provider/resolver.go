package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/internal/spelling"
)

// Ref names a model of a provider. As text it is "PROVIDER/MODEL", or PROVIDER alone; in JSON it is this
// text, or an object with the same two fields.
type Ref struct {
	Provider string `json:"provider"`
	Model    string `json:"model,omitempty"`
}

// ParseRef reads a Ref from text.
func ParseRef(text string) (Ref, error) {
	p, m, _ := strings.Cut(text, "/")
	if p == "" {
		return Ref{}, fmt.Errorf("provider: the name %q of a model has no provider; write PROVIDER/MODEL, such as %q",
			text, "script/desk.json")
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

// UnmarshalJSON reads a text or an object.
func (r *Ref) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		ref, err := ParseRef(text)
		*r = ref
		return err
	}
	type plain Ref
	var p plain
	if err := json.Unmarshal(b, &p); err != nil || p.Provider == "" {
		return fmt.Errorf("provider: a model is a text PROVIDER/MODEL, or an object with provider and model: %w",
			errors.Join(err, errNoProvider(p.Provider)))
	}
	*r = Ref(p)
	return nil
}

func errNoProvider(name string) error {
	if name == "" {
		return errors.New("the field provider is missing")
	}
	return nil
}

// ErrUnknown means that there is no provider of that name.
var ErrUnknown = errors.New("no such provider")

// Opener opens a model of one provider.
type Opener func(ref Ref) (model.LLM, error)

// Resolver opens models by name. It must not change once it is in use.
type Resolver struct{ open map[string]Opener }

// NewResolver returns a Resolver of the models that need no network: "parrot" and "script".
func NewResolver() *Resolver {
	return &Resolver{open: map[string]Opener{
		"parrot": func(Ref) (model.LLM, error) { return Parrot{}, nil },
		"script": func(r Ref) (model.LLM, error) { return OpenScript(r.Model) },
	}}
}

// Add adds a provider, or replaces one.
func (r *Resolver) Add(name string, open Opener) { r.open[name] = open }

// Names returns the names of the providers, sorted.
func (r *Resolver) Names() []string { return slices.Sorted(maps.Keys(r.open)) }

// Open opens a model. For a name that no provider has, the error wraps ErrUnknown and lists the names.
func (r *Resolver) Open(ref Ref) (model.LLM, error) {
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
