package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"gopkg.in/yaml.v3"
)

// Limits of a document.
const (
	documentMax = 16 << 20  // bytes
	valuesMax   = 1_000_000 // aliases counted as often as they are used
	depthMax    = 64
)

// parse reads a document and checks it. It reads no other file.
func parse(data []byte) (doc *openapi3.T, err error) {
	defer func() {
		if p := recover(); p != nil { // of the library, whatever the document made it do
			doc, err = nil, fmt.Errorf("it is no OpenAPI document that can be read: %v", p)
		}
	}()
	if len(data) > documentMax {
		return nil, fmt.Errorf("it has %d bytes; at most %d are allowed", len(data), documentMax)
	}
	text, err := toJSON(data)
	if err != nil {
		return nil, err
	}
	var version struct{ OpenAPI, Swagger any }
	if err := json.Unmarshal(text, &version); err != nil {
		return nil, errors.New("it must be an object")
	}
	if s, _ := version.OpenAPI.(string); !strings.HasPrefix(s, "3.") {
		return nil, fmt.Errorf("its version is openapi %v, swagger %v; it must be openapi 3", version.OpenAPI,
			version.Swagger)
	}
	doc = &openapi3.T{}
	if err := json.Unmarshal(text, doc); err != nil {
		return nil, short(err)
	}
	loader := openapi3.NewLoader() // which allows no references to other files
	if err := loader.ResolveRefsIn(doc, nil); err != nil {
		if errors.As(err, new(*openapi3.DisallowedExternalRefError)) {
			return nil, fmt.Errorf("it refers to another file, which is not supported; put everything into one: %w", short(err))
		}
		return nil, short(err)
	}
	err = doc.Validate(context.Background(), openapi3.DisableExamplesValidation(),
		openapi3.DisableSchemaDefaultsValidation(), openapi3.DisableSchemaPatternValidation())
	if err != nil {
		return nil, short(err)
	}
	return doc, nil
}

// short is an error of the library without what it quotes of the document.
func short(err error) error {
	words := strings.Join(strings.Fields(err.Error()), " ")
	if len(words) > 500 {
		words = strings.ToValidUTF8(words[:500], "") + "..."
	}
	return errors.New(words)
}

// toJSON turns YAML into JSON, and holds both to the limits.
func toJSON(data []byte) ([]byte, error) {
	c := &counter{}
	if text := bytes.TrimLeft(data, " \t\r\n"); len(text) > 0 && text[0] == '{' {
		return text, c.json(text)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("it is no YAML: %w", short(err))
	}
	if len(doc.Content) == 0 {
		return nil, errors.New("it is empty")
	}
	v, err := c.yaml(doc.Content[0], 0)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// counter counts values.
type counter struct{ values int }

func (c *counter) more(depth int) error {
	if c.values++; c.values > valuesMax {
		return fmt.Errorf("it has more than %d values", valuesMax)
	}
	if depth > depthMax {
		return fmt.Errorf("its values are nested more than %d levels deep", depthMax)
	}
	return nil
}

func (c *counter) json(text []byte) error {
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		return fmt.Errorf("it is no JSON: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	for depth := 0; ; {
		t, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("it is no JSON: %w", err)
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
			continue
		}
		if err := c.more(depth); err != nil {
			return err
		}
	}
}

// yaml is a node as a value of JSON, with copies in place of aliases.
func (c *counter) yaml(n *yaml.Node, depth int) (any, error) {
	if err := c.more(depth); err != nil {
		return nil, err
	}
	switch n.Kind {
	case yaml.AliasNode:
		return c.yaml(n.Alias, depth+1)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, one := range n.Content {
			v, err := c.yaml(one, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.MappingNode:
		d := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if _, twice := d[key.Value]; twice || key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
				return nil, fmt.Errorf("line %d: the key %.40q is there twice, or is no text", key.Line, key.Value)
			}
			v, err := c.yaml(n.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			d[key.Value] = v
		}
		return d, nil
	}
	return scalar(n)
}

func scalar(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool", "!!int", "!!float":
		var v any
		if err := n.Decode(&v); err != nil {
			return nil, fmt.Errorf("line %d: %w", n.Line, short(err))
		}
		if _, err := json.Marshal(v); err != nil {
			return nil, fmt.Errorf("line %d: %q is no number of JSON", n.Line, n.Value)
		}
		return v, nil
	}
	return n.Value, nil // texts, and dates, which JSON writes as texts
}
