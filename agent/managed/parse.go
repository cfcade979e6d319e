package managed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// definitionMax is the largest text of a definition, in bytes.
const definitionMax = 1 << 20

// ParseDefinition reads a definition from YAML or JSON, with the same fields. It refuses unknown fields and
// checks what a Runtime need not be asked for.
func ParseDefinition(text []byte) (*Definition, error) {
	if len(text) > definitionMax {
		return nil, invalid("", "the definition has %d bytes; at most %d are allowed", len(text), definitionMax)
	}
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		return nil, invalid("", "%s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, invalid("", "a key is no text: %v", err)
	}
	d := &Definition{}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(d); err != nil {
		if CodeOf(err) != "" {
			return nil, err
		}
		return nil, invalid("", "%s", strings.TrimPrefix(fmt.Sprint(err), "json: "))
	}
	return d, d.check()
}
