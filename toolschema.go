package voicegw

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// ToolSchema returns the JSON schema of the struct In, for Tool.Parameters. It has the fields by
// their json names with the descriptions of their jsonschema tags. Fields without omitempty are
// required.
func ToolSchema[In any]() (json.RawMessage, error) {
	if t := reflect.TypeFor[In](); t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("the arguments are %s; a struct is possible", t)
	}
	s, err := jsonschema.For[In](nil)
	if err != nil {
		return nil, fmt.Errorf("the arguments: %w", err)
	}
	s.AdditionalProperties = nil // Gemini refuses it
	return json.Marshal(s)
}
