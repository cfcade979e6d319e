package settings

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/live"
)

// transferTool is the name of the function of handoff.tool.
const transferTool = voicegw.TransferToolName

// ruleField is a field of a rule.
type ruleField struct {
	name, doc string
	schema    object
	read      func(r *rulesReader, n *yaml.Node, rule *Rule)
}

// conditionField is a field of when.
type conditionField struct {
	name string
	to   func(*Conditions) *Patterns
}

// ruleFields are the fields of a rule.
func ruleFields() []ruleField {
	text := func(name, doc string, most int, to func(*Rule) *string, ok func(string) error) ruleField {
		return ruleField{name, doc, object{"type": "string", "minLength": 1, "maxLength": most},
			func(r *rulesReader, n *yaml.Node, rule *Rule) {
				if s, good := r.text(name, n, most); good {
					if err := ok(s); err != nil {
						r.refuse(n, "%s is %.60q; want %v", name, s, err)
					}
					*to(rule) = s
				}
			}}
	}
	anyText := func(string) error { return nil }
	fields := []ruleField{
		text("name", "names the rule in the log and in the label rule of its calls", ruleNameMax,
			func(r *Rule) *string { return &r.Name }, anyText),
		{"when", "which calls the rule is for; without it, all", conditionsSchema(), readConditions},
		text("refuse", "refuses the calls; the client gets the text", refuseMax,
			func(r *Rule) *string { return &r.Refuse }, anyText),
		text("instructions", "system instructions, in place of all others", ruleTextMax,
			func(r *Rule) *string { return &r.Instructions }, anyText),
		text("greeting", "in place of the setting greeting, which must be set", greetingBytesMax,
			func(r *Rule) *string { return &r.Greeting }, anyText),
		text("voice", "the voice of the model", 64, func(r *Rule) *string { return &r.Voice },
			func(s string) error { return setupWant(live.Setup{Voice: s}) }),
		text("language", "the language of a call whose client names none", 35,
			func(r *Rule) *string { return &r.Language },
			func(s string) error { return setupWant(live.Setup{Language: s}) }),
		text("model", "the model of the same service; a token that names one wins", 100,
			func(r *Rule) *string { return &r.Model },
			func(s string) error { return setupWant(live.Setup{Model: s}) }),
		{"temperature", "the temperature of the model", object{"type": "number", "minimum": 0, "maximum": 2},
			func(r *rulesReader, n *yaml.Node, rule *Rule) {
				if f, err := strconv.ParseFloat(n.Value, 32); err == nil && n.Kind == yaml.ScalarNode {
					t := float32(f)
					rule.Temperature = &t
				}
				if rule.Temperature == nil || setupWant(live.Setup{Temperature: rule.Temperature}) != nil {
					r.refuse(n, "temperature is %s; want a number from 0 to 2, such as 0.7", kindOf(n))
				}
			}},
		wholeNumber("max_output_tokens", "the longest reply of the model, in tokens", maxOutputTokens,
			func(rule *Rule, n int) {
				tokens := int32(n)
				rule.MaxOutputTokens = &tokens
			}),
		{"tools", "the functions that the model may call, of those that it could call without the rule",
			listSchema(ruleToolsMax, object{"type": "string", "maxLength": 128}),
			func(r *rulesReader, n *yaml.Node, rule *Rule) { rule.Tools = r.names("tools", n, ruleToolsMax, nil) }},
		{"client_may", "which settings clients may choose, of those that session.client_* allow",
			listSchema(len(access.SessionSettings), object{"enum": anyOf(access.SessionSettings)}),
			func(r *rulesReader, n *yaml.Node, rule *Rule) {
				rule.Clients = r.names("client_may", n, len(access.SessionSettings), access.SessionSettings)
			}},
		{"labels", "labels of the calls, in records and webhooks", object{"type": "object",
			"maxProperties": ruleLabelsMax, "additionalProperties": object{"type": "string", "maxLength": 256}}, readLabels},
		{"call_max", "the longest call; a token that names less wins", object{"type": "string", "pattern": timePattern},
			readCallMax},
	}
	return append(fields, limitFields()...)
}

// wholeNumber is a field with a whole number of 1 or more.
func wholeNumber(name, doc string, most int, set func(*Rule, int)) ruleField {
	return ruleField{name, doc, object{"type": "integer", "minimum": 1, "maximum": most},
		func(r *rulesReader, n *yaml.Node, rule *Rule) {
			i, err := strconv.Atoi(n.Value)
			if err != nil || i < 1 || i > most || n.Kind != yaml.ScalarNode {
				r.refuse(n, "%s is %s; want a whole number, 1 to %d", name, kindOf(n), most)
				return
			}
			set(rule, i)
		}}
}

// limitFields are those of the calls of a rule together.
func limitFields() []ruleField {
	return []ruleField{
		wholeNumber("calls", "calls of the rule at one time", 10_000, func(r *Rule, n int) { r.Limits.Calls = n }),
		wholeNumber("calls_per_minute", "calls of the rule that may begin a minute", 6_000,
			func(r *Rule, n int) { r.Limits.CallsPerMinute = n }),
	}
}

func conditionFields() []conditionField {
	return []conditionField{
		{"tenant", func(c *Conditions) *Patterns { return &c.Tenant }},
		{"subject", func(c *Conditions) *Patterns { return &c.Subject }},
		{"endpoint", func(c *Conditions) *Patterns { return &c.Endpoint }},
		{"from", func(c *Conditions) *Patterns { return &c.From }},
		{"to", func(c *Conditions) *Patterns { return &c.To }},
		{"client", func(c *Conditions) *Patterns { return &c.Client }},
	}
}

// readConditions reads when.
func readConditions(r *rulesReader, n *yaml.Node, rule *Rule) {
	known := []ruleField{{name: "params"}}
	for _, c := range conditionFields() {
		known = append(known, ruleField{name: c.name})
	}
	r.fields(n, "when", known, func(f *ruleField, n *yaml.Node) {
		if f.name == "params" {
			rule.When.Params = r.params(n)
			return
		}
		i := slices.IndexFunc(conditionFields(), func(c conditionField) bool { return c.name == f.name })
		*conditionFields()[i].to(&rule.When) = r.patterns("when."+f.name, n)
	})
}

// params reads the conditions about what the client says of the call.
func (r *rulesReader) params(n *yaml.Node) map[string]Patterns {
	if n.Kind != yaml.MappingNode || len(n.Content) > 2*ruleLabelsMax {
		r.refuse(n, "when.params is %s; want up to %d names and patterns", kindOf(n), ruleLabelsMax)
		return nil
	}
	all := map[string]Patterns{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i].Value
		if _, twice := all[name]; twice || name == "" {
			r.refuse(n.Content[i], "when.params: %.70q is empty or given twice; want it once", name)
		}
		all[name] = r.patterns("when.params."+name, target(n.Content[i+1]))
	}
	return all
}

// patterns reads a pattern, or a list of them.
func (r *rulesReader) patterns(field string, n *yaml.Node) Patterns {
	list := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		list = n.Content
	}
	texts, ok := scalars(list)
	if !ok || len(texts) == 0 || len(texts) > patternsMax {
		r.refuse(n, "%s is %s; want a text, or a list of 1 to %d texts, in which * stands for any characters", field,
			kindOf(n), patternsMax)
		return nil
	}
	for i, text := range texts {
		if len(text) > patternMax {
			r.refuse(list[i], "%s has a text of %d bytes; at most %d are possible", field, len(text), patternMax)
		}
	}
	return texts
}

// text reads a text that is not empty.
func (r *rulesReader) text(field string, n *yaml.Node, most int) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Value == "" || len(n.Value) > most || !utf8.ValidString(n.Value) {
		r.refuse(n, "%s is %s; want a text of 1 to %d bytes", field, kindOf(n), most)
		return "", false
	}
	return n.Value, true
}

// names reads a list of names, of those that are known if known is not nil.
func (r *rulesReader) names(field string, n *yaml.Node, most int, known []string) *[]string {
	list, ok := scalars(n.Content)
	if n.Kind != yaml.SequenceNode || !ok || len(list) > most {
		r.refuse(n, "%s is %s; want a list of at most %d names; [] is none", field, kindOf(n), most)
		return nil
	}
	for i, name := range list {
		switch {
		case known != nil && !slices.Contains(known, name):
			r.refuse(n.Content[i], "%s: there is no %q; %s", field, name, didYouMean(name, known))
		case name == "" || len(name) > 128:
			r.refuse(n.Content[i], "%s has a name of %d bytes; want 1 to 128", field, len(name))
		}
	}
	return &list
}

// ownLabels are the labels that the gateway sets.
func ownLabels() []string { return []string{"tenant", "subject", "rule"} }

func readLabels(r *rulesReader, n *yaml.Node, rule *Rule) {
	list, ok := scalars(n.Content)
	if n.Kind != yaml.MappingNode || !ok || len(list) > 2*ruleLabelsMax {
		r.refuse(n, "labels is %s; want up to %d names and texts", kindOf(n), ruleLabelsMax)
		return
	}
	rule.Labels = map[string]string{}
	for i := 0; i+1 < len(list); i += 2 {
		name, value := list[i], list[i+1]
		_, twice := rule.Labels[name]
		switch {
		case name == "" || len(name) > 64 || len(value) > 256 || twice:
			r.refuse(n.Content[i], "labels: %.70q is given twice, or too long; want names of 1 to 64 bytes, and texts of at "+
				"most 256", name)
		case slices.Contains(ownLabels(), name):
			r.refuse(n.Content[i], "labels: the gateway sets %s itself; want another name", name)
		}
		rule.Labels[name] = value
	}
}

func readCallMax(r *rulesReader, n *yaml.Node, rule *Rule) {
	d, err := time.ParseDuration(n.Value)
	if err != nil || d < time.Second || d > ruleCallLongest {
		r.refuse(n, "call_max is %s; want a length of time from 1s to 24h, such as 10m", kindOf(n))
		return
	}
	rule.CallMax = d
}

// setupWant returns what a setup should have in place of what it has, nil if it may be sent to a model.
func setupWant(s live.Setup) error {
	err := s.Check()
	if wrong := (*live.SetupError)(nil); errors.As(err, &wrong) {
		return errors.New(wrong.Want)
	}
	return err
}

func findField(list []ruleField, name string) *ruleField {
	for i := range list {
		if list[i].name == name {
			return &list[i]
		}
	}
	return nil
}

func namesOf(list []ruleField) (names []string) {
	for _, f := range list {
		names = append(names, f.name)
	}
	return names
}

func listSchema(most int, item object) object {
	return object{"type": "array", "maxItems": most, "items": item}
}

func conditionsSchema() object {
	text := object{"type": "string", "maxLength": patternMax}
	patterns := object{"anyOf": []object{text, {"type": "array", "minItems": 1, "maxItems": patternsMax, "items": text}}}
	params := object{"type": "object", "maxProperties": ruleLabelsMax, "additionalProperties": patterns}
	properties := object{"params": params}
	for _, c := range conditionFields() {
		properties[c.name] = patterns
	}
	return object{"type": "object", "properties": properties, "additionalProperties": false}
}

// RulesSchema returns the JSON Schema of a file of rules.
func RulesSchema() []byte {
	properties := object{}
	for _, f := range ruleFields() {
		f.schema["description"] = f.doc
		properties[f.name] = f.schema
	}
	root := object{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Rules of voicegw serve",
		"type": "array", "maxItems": rulesMax, "items": object{"type": "object", "properties": properties,
			"required": []string{"name"}, "additionalProperties": false}}
	b, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err) // it holds maps, texts and numbers
	}
	return append(b, '\n')
}
