package managed

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/voicegw/voicegw/internal/strictjson"
)

// definitionMax is the largest text of a definition, in bytes.
const definitionMax = 1 << 20

// Decode reads JSON that a client has written into a value, such as a Definition or a list of Events of the
// user. It refuses fields that the value does not have, also those that belong to another "type" of a tool, an
// event or a block. The error has the code Invalid and names the field by its path.
func Decode(text []byte, to any) error {
	err := decoder.Decode(text, to)
	if own := (*strictjson.Error)(nil); errors.As(err, &own) {
		return invalid(own.Path, "%s", own.Message)
	}
	return err
}

var decoder = strictjson.Decoder{Wrap: within, Variants: map[reflect.Type]map[string][]string{
	reflect.TypeFor[Event](): {
		string(UserMessage):      {"content"},
		string(UserInterrupt):    {},
		string(UserConfirmation): {"tool_use_id", "result", "deny_message"},
		string(UserCustomResult): {"custom_tool_use_id", "content", "is_error"},
	},
	reflect.TypeFor[Block]():  {"text": {"text"}, "image": {"source"}, "document": {"source", "title", "context"}},
	reflect.TypeFor[Source](): {"base64": {"media_type", "data"}, "url": {"url"}, "text": {"media_type", "data"}},
	reflect.TypeFor[ToolConfig](): {
		CustomTool:   {"name", "description", "input_schema", "timeout"},
		MCPToolset:   {"mcp_server_name", "default_config", "configs", "timeout"},
		AgentToolset: {"default_config", "configs", "timeout"},
	},
	reflect.TypeFor[MCPServer](): {"url": {"name", "url"}, "stdio": {"name", "command", "args", "env"}},
}}

// within is an error of a part, as one of the whole.
func within(path string, err error) error {
	own, inner := (*Error)(nil), (*strictjson.Error)(nil)
	switch {
	case errors.As(err, &own):
		return &Error{Code: own.Code, Param: strictjson.Join(path, own.Param), Message: own.Message, Err: own.Err}
	case errors.As(err, &inner):
		return invalid(strictjson.Join(path, inner.Path), "%s", inner.Message)
	}
	return invalid(path, "%s", strings.TrimPrefix(strings.TrimPrefix(err.Error(), "json: "), "time: "))
}

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
	if err := plain("", v); err != nil {
		return nil, err
	}
	if _, ok := v.(map[string]any); !ok {
		return nil, invalid("", "it is no definition; give fields such as name and model")
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, invalid("", "%v", err)
	}
	d := &Definition{}
	if err := Decode(b, d); err != nil {
		return nil, err
	}
	return d, d.check()
}

// plain finds what JSON does not have in a value of YAML.
func plain(path string, v any) error {
	switch v := v.(type) {
	case map[any]any:
		for k := range v {
			if _, ok := k.(string); !ok {
				return invalid(path, "the key %v is no text; put it into quotes", k)
			}
		}
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			if err := plain(strictjson.Join(path, name), v[name]); err != nil {
				return err
			}
		}
	case []any:
		for i, one := range v {
			if err := plain(fmt.Sprintf("%s[%d]", path, i), one); err != nil {
				return err
			}
		}
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return invalid(path, "%v is no number of JSON", v)
		}
	}
	return nil
}
