package settings

import (
	"encoding/json"
	"strings"
)

// object is a JSON object. Its keys are written in alphabetical order.
type object = map[string]any

// Schema returns the JSON Schema (draft 2020-12) of the YAML file, for editors: it holds the keys,
// their values, defaults, limits and purposes.
func Schema() []byte {
	properties := object{}
	for _, r := range Rows() {
		section, name, nested := strings.Cut(r.Key, ".")
		if !nested {
			properties[section] = r.schema()
			continue
		}
		if properties[section] == nil {
			properties[section] = closed(object{})
		}
		properties[section].(object)["properties"].(object)[name] = r.schema()
	}
	root := closed(properties)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Settings of voicegw serve"
	b, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err) // it holds maps, texts and numbers
	}
	return append(b, '\n')
}

// closed describes an object with no other properties, or nothing in its place.
func closed(properties object) object {
	return object{"type": []string{"object", "null"}, "properties": properties, "additionalProperties": false}
}

// timePattern matches lengths of time such as 1m30s and 1.5s.
const timePattern = `^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`

// schema describes the row's values in YAML. A key without a value counts as absent.
func (r *Row) schema() object {
	o := object{"description": r.Doc + ". Default: " + r.Default + ". Valid: " + r.Want + "."}
	text := object{"type": "string", "maxLength": textBytesMax}
	switch r.Kind {
	case Bool:
		o["type"] = []string{"boolean", "null"}
	case Word:
		o["enum"] = append(anyOf(r.Words), nil)
	case Number:
		o["type"], o["minimum"], o["maximum"] = []string{"integer", "null"}, number(r.Min), number(r.Max)
		if r.zero {
			o["minimum"], o["not"] = 0, object{"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": number(r.Min)}
		}
	case Score:
		o["type"], o["exclusiveMinimum"], o["maximum"] = []string{"number", "null"}, number(r.Min), number(r.Max)
	case Time:
		o["type"], o["pattern"] = []string{"string", "null"}, timePattern
	case List:
		if r.Words != nil {
			text = object{"enum": anyOf(r.Words)}
		}
		o["type"], o["items"], o["maxItems"] = []string{"array", "string", "null"}, text, number(r.Max)
		if r.mapped {
			o["type"], o["additionalProperties"] = []string{"array", "string", "object", "null"}, text
		}
	case Text:
		o["type"], o["maxLength"] = []string{"string", "null"}, number(r.Max)
		if r.numeric {
			o["type"] = []string{"number", "string", "null"}
		}
		if r.mapped {
			o["type"], o["additionalProperties"] = []string{"string", "object", "null"}, text
		}
	}
	if r.literal {
		o["default"] = r.literalDefault()
	}
	return o
}

// literalDefault returns the default as JSON has it.
func (r *Row) literalDefault() any {
	switch r.Kind {
	case Bool:
		return r.Default == "true"
	case Number, Score:
		return number(r.Default)
	}
	return r.Default
}

// number is a number in JSON as it is written.
func number(s string) json.Number { return json.Number(s) }

func anyOf(words []string) []any {
	list := make([]any, 0, len(words)+1)
	for _, w := range words {
		list = append(list, w)
	}
	return list
}
