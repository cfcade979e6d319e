package voicegw

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// ToolSchema is the JSON schema of a struct, as a model is told of a function's
// arguments: fields by their json names, with what their jsonschema tags say of
// them; those without omitempty are required.
func ToolSchema[In any]() (json.RawMessage, error) {
	if t := reflect.TypeFor[In](); t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("the arguments are %s; a struct is possible", t)
	}
	s, err := jsonschema.For[In](nil)
	if err != nil {
		return nil, fmt.Errorf("the arguments: %w", err)
	}
	s.AdditionalProperties = nil // models do not know it
	return json.Marshal(s)
}
