package managed

import (
	"strings"
	"testing"
)

func TestParseDefinition(t *testing.T) {
	d, err := ParseDefinition([]byte("name: desk\nmodel: parrot\nsystem: |\n  You are a desk.\ntools:\n" +
		"- type: custom\n  name: deploy\n  description: deploys\n  timeout: 5m\n  input_schema: {type: object}\n"))
	if err != nil || d.Model.ID != "parrot" || d.Tools[0].Name != "deploy" || d.Tools[0].Timeout == 0 {
		t.Fatalf("%+v, %v", d, err)
	}
	for text, part := range map[string]string{
		"name: x\nmodel: parrot\nmodle: y": "modle",
		"name: x":                          "model: it is missing",
		"model: parrot":                    "name",
		"name: x\nmodel: {id: parrot, speed: fast}":                  "model.speed",
		"name: x\nmodel: parrot\ntools: [{type: magic}]":             "tools[0].type",
		"name: x\nmodel: parrot\ntools: [{type: custom, name: a b}]": "tools[0].name",
		"a: [": "line 1",
		"name: x\nmodel: parrot\nmcp_servers: [{name: x}]":                    "mcp_servers",
		"name: x\nmodel: parrot\nsystem: " + strings.Repeat("x", systemMax+1): "system",
		strings.Repeat("#", definitionMax+1):                                  "bytes",
		"{1: 2}":                                                              "the key 1 is no text",
		"text":                                                                "no definition",

		"name: x\nmodel: {idd: parrot}": `model.idd: there is no such field; did you mean "id"?`,

		"name: x\nmodel: [parrot]":                                       "model: it must be the name of a model",
		"name: x\nmodel: parrot\ntools: [{type: custom, timeout: soon}]": "soon",
	} {
		if _, err := ParseDefinition([]byte(text)); CodeOf(err) != Invalid || !strings.Contains(err.Error(), part) {
			t.Errorf("%.60q: %v, want %q", text, err, part)
		}
	}
	for text, part := range map[string]string{ // behind a name and a model
		"sytem: x": `sytem: there is no such field; did you mean "system"?`,
		"tools: [{type: custom}, {type: custom, input_schma: {}}]": `tools[1].input_schma: there is no such field; did you ` +
			`mean "input_schema"?`,
		"tools: [{type: custom, name: x, description: x, input_schema: {type: 3}}]": `tools[0].input_schema.type: it must`,

		"tools: [{type: custom, name: x, configs: []}]": `tools[0].configs: "custom" does not have`,
		"tools: [{type: agent_toolset_20260401, configs: [{name: a, permission_policy: {type: b}}]}]": `tools[0].configs[0]` +
			`.permission_policy.type: "b" is none of`,
		"tools: [{type: agent_toolset_20260401, default_config: {name: a}}]": `tools[0].default_config.name: it is for`,
		"metadata: {a: .inf}": "metadata.a: +Inf is no number",
		"metadata: {a: 1}":    "metadata.a: it is a whole number",
		"tools: [{type: custom, input_schema: {properties: {1: 2}}}]": "tools[0].input_schema.properties: the key 1",
	} {
		text = "name: x\nmodel: parrot\n" + text
		if _, err := ParseDefinition([]byte(text)); CodeOf(err) != Invalid || !strings.Contains(err.Error(), part) {
			t.Errorf("%.60q: %v, want %q", text, err, part)
		}
	}
}

func FuzzParseDefinition(f *testing.F) {
	f.Add([]byte("name: desk\nmodel: parrot\ntools: [{type: custom, name: a, description: b}]"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := ParseDefinition(text)
		if err == nil && (d.Name == "" || d.Model.ID == "") {
			t.Errorf("accepted %+v", d)
		}
	})
}
