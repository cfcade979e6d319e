package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/internal/spelling"
	"github.com/voicegw/voicegw/transport"
)

// Limits of a file of rules.
const (
	rulesMax        = 1000
	rulesBytesMax   = 1 << 20
	ruleTextMax     = 32 << 10 // bytes of instructions
	ruleNameMax     = 64       // bytes
	patternMax      = 512      // bytes
	patternsMax     = 1000     // of one condition
	ruleToolsMax    = 128
	ruleLabelsMax   = 16
	refuseMax       = 120 // bytes: the reason of a close frame must be short
	ruleCallLongest = 24 * time.Hour
)

// Rule says what the calls of some clients get. A field without a value leaves it to the settings.
type Rule struct {
	Name   string
	When   Conditions
	Refuse string // refuses the calls; the client gets the text

	Instructions, Greeting, Voice, Language, Model string

	Temperature     *float32 // nil: as the settings say
	MaxOutputTokens *int32   // nil: as the settings say

	Tools   *[]string // the functions that the model may call; nil: all
	Clients *[]string // the settings that clients may choose: access.SessionSettings; nil: as the settings say
	Labels  map[string]string
	CallMax time.Duration // 0: as the settings say
	Limits  access.Limits // of all calls of the rule together

	line int // of the file
}

// Conditions say which calls a rule is for: those that fulfil all of them. A condition without patterns is fulfilled.
type Conditions struct {
	Tenant, Subject, Endpoint, From, To, Client Patterns
	Params                                      map[string]Patterns
}

// Patterns are the texts that a condition takes: any of them. In a pattern * stands for any characters, and for none.
// What a call lacks is taken by the empty pattern alone.
type Patterns []string

// take reports whether a text is one of those. No patterns take every text.
func (p Patterns) take(text string) bool {
	for _, one := range p {
		if one == text || text != "" && matches(one, text) {
			return true
		}
	}
	return p == nil
}

// matches reports whether a text is what a pattern with * stands for.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	if last == 0 {
		return pattern == text
	}
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	for _, part := range parts[1:last] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return strings.HasSuffix(text, parts[last])
}

// Take reports whether a call fulfils the conditions. tenant and subject are those of its token.
func (c *Conditions) Take(tenant, subject string, h *transport.Hello) bool {
	if !c.Tenant.take(tenant) || !c.Subject.take(subject) || !c.Endpoint.take(h.Endpoint) || !c.From.take(h.From) ||
		!c.To.take(h.To) || !c.Client.take(h.Client) {
		return false
	}
	for name, patterns := range c.Params {
		if !patterns.take(h.Params[name]) {
			return false
		}
	}
	return true
}

// any reports whether every call fulfils the conditions.
func (c *Conditions) any() bool {
	return c.Tenant == nil && c.Subject == nil && c.Endpoint == nil && c.From == nil && c.To == nil && c.Client == nil &&
		len(c.Params) == 0
}

// ParseRules reads the text of a file of rules. name names the file in errors. The error is an Error with every
// mistake.
func ParseRules(name string, text []byte) ([]Rule, error) {
	r := &rulesReader{name: name, first: map[string]int{}}
	root, err := oneDocument(text)
	switch {
	case err != nil:
		r.wrong = append(r.wrong, fmt.Errorf("%s: %w", name, err))
	case root == nil:
	case root.Kind != yaml.SequenceNode:
		r.refuse(root, "want a list of rules, each of which begins with `- name:`")
	case len(root.Content) > rulesMax:
		r.refuse(root, "there are %d rules; at most %d are possible", len(root.Content), rulesMax)
	default:
		for _, node := range root.Content {
			r.rule(node)
		}
	}
	if len(r.wrong) > 0 {
		return nil, Error(r.wrong)
	}
	return r.rules, nil
}

// oneDocument returns the root of a YAML text, nil if it is empty.
func oneDocument(text []byte) (*yaml.Node, error) {
	if len(text) > rulesBytesMax {
		return nil, fmt.Errorf("it has more than %d bytes", rulesBytesMax)
	}
	var doc, second yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, err
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, errors.New("it has more than one document; want one, without ---")
	}
	if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		return nil, nil
	}
	return doc.Content[0], nil
}

// rulesReader reads rules.
type rulesReader struct {
	name  string
	rules []Rule
	first map[string]int // the line of each rule's name
	wrong []error
}

// refuse notes a mistake in a line of the file.
func (r *rulesReader) refuse(n *yaml.Node, format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Errorf("%s:%d: %s", r.name, n.Line, fmt.Sprintf(format, args...)))
}

// rule reads one rule.
func (r *rulesReader) rule(node *yaml.Node) {
	rule := Rule{line: node.Line}
	before := len(r.wrong)
	if !r.fields(node, "a rule", ruleFields(), func(f *ruleField, n *yaml.Node) { f.read(r, n, &rule) }) {
		return
	}
	if len(r.wrong) == before {
		r.judge(node, &rule)
	}
	r.rules = append(r.rules, rule)
}

// judge refuses a rule whose fields contradict each other or another rule.
func (r *rulesReader) judge(node *yaml.Node, rule *Rule) {
	line, twice := r.first[rule.Name]
	r.first[rule.Name] = rule.line
	switch {
	case rule.Name == "":
		r.refuse(node, "a rule has no name; want a name that no other rule has, for the log")
	case twice:
		r.refuse(node, "the rule in line %d has the name %q too; want another name", line, rule.Name)
	case rule.Refuse != "" && rule.decides():
		r.refuse(node, "%s: refuse, and what the calls get; want one of both", rule.Name)
	}
	if n := len(r.rules); n > 0 && r.rules[n-1].When.any() {
		r.refuse(node, "%s: no call gets to this rule, because %s before it takes all calls; give that one a condition "+
			"(when), or put it last", rule.Name, r.rules[n-1].Name)
	}
}

// decides reports whether the rule says anything about calls that it does not refuse.
func (r *Rule) decides() bool {
	return r.Instructions != "" || r.Greeting != "" || r.Voice != "" || r.Language != "" || r.Model != "" ||
		r.Temperature != nil || r.MaxOutputTokens != nil ||
		r.Tools != nil || r.Clients != nil || r.Labels != nil || r.CallMax != 0 || r.Limits != access.Limits{}
}

// fields reads the fields of a mapping. It reports whether the node is one.
func (r *rulesReader) fields(node *yaml.Node, of string, known []ruleField, read func(*ruleField, *yaml.Node)) bool {
	if node = target(node); node.Kind != yaml.MappingNode {
		r.refuse(node, "%s is %s; want fields and values: %s", of, kindOf(node), strings.Join(namesOf(known), ", "))
		return false
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], target(node.Content[i+1])
		field := findField(known, key.Value)
		switch {
		case field == nil:
			r.refuse(key, "%q is no field of %s; %s", key.Value, of, didYouMean(key.Value, namesOf(known)))
		case seen[key.Value]:
			r.refuse(key, "%s is given twice; want it once", key.Value)
		case value.Tag == "!!null": // as if it were absent
		default:
			read(field, value)
		}
		seen[key.Value] = true
	}
	return true
}

// target follows an alias.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func kindOf(n *yaml.Node) string {
	if s := shape(n); s != "" {
		return s
	}
	return fmt.Sprintf("%.40q", n.Value)
}

// didYouMean advises somebody who wrote a name that there is not.
func didYouMean(wrong string, names []string) string {
	if near := spelling.Nearest(wrong, names); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return "there are " + strings.Join(names, ", ")
}

// readRules reads the file of rules.
func (r *reader) readRules() {
	if r.RulesFile == "" {
		return
	}
	text, err := readBounded(r.RulesFile, rulesBytesMax)
	if err != nil {
		r.refuse("rules", fmt.Sprintf("a file that can be read: %v", err))
		return
	}
	if r.Rules, err = ParseRules(path.Base(r.RulesFile), text); err != nil {
		list := Error{err}
		errors.As(err, &list)
		r.wrong = append(r.wrong, list...)
		return
	}
	r.checkRules()
}

// checkRules refuses rules that need what the other settings do not have.
func (r *reader) checkRules() {
	refuse := func(rule *Rule, format string, args ...any) {
		r.wrong = append(r.wrong, fmt.Errorf("%s:%d: %s: %s", path.Base(r.RulesFile), rule.line, rule.Name,
			fmt.Sprintf(format, args...)))
	}
	functions := r.functions()
	for i := range r.Rules {
		rule := &r.Rules[i]
		if (rule.When.Tenant != nil || rule.When.Subject != nil) && len(r.access.Secrets) == 0 && r.access.jwks == "" {
			refuse(rule, "when.tenant and when.subject need access.secret_file or access.jwks: without them no call has a token")
		}
		if rule.Greeting != "" && r.Greeting() == "" {
			refuse(rule, "greeting needs the setting greeting: without it calls begin with the caller")
		}
		if rule.Tools == nil || functions == nil || r.gateway.Session.Tools.All {
			continue
		}
		for _, name := range *rule.Tools {
			all := slices.Concat(functions, r.gateway.Session.Tools.List)
			if !slices.Contains(all, name) {
				refuse(rule, "tools: there is no function %q; %s", name, didYouMean(name, all))
			}
		}
	}
}

// functions returns the names of the functions of session.tools_file and the transfer; nil if the file cannot be read,
// which Gateway reports.
func (r *reader) functions() []string {
	names := []string{}
	if r.ToolsFile != "" {
		list, err := toolList(r.ToolsFile)
		if err != nil {
			return nil
		}
		for i := range list {
			names = append(names, list[i].Name)
		}
	}
	if r.HandOff.Tool {
		names = append(names, transferTool)
	}
	return names
}
